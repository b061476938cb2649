import type { Command } from 'commander'
import { listRateLimits } from '../../commands/queue-control-commands.ts'
import type { RateLimitStatus } from '../../store/job-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { databaseNow, valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { readCount } from '../jobs/job-flags.ts'
import { showAgo, showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface LimitsFlags extends ConnectionFlags {
  prefix?: string
  limit: number
}

export function defineLimits(command: Command): void {
  withConnection(command)
    .option('--prefix <text>', 'only keys with this prefix, such as gateway:')
    .option('--limit <count>', 'maximum number', readCount, 100)
    .addHelpText('after', example('unstuck limits --prefix gateway:'))
    .action(limitsCommand)
}

async function limitsCommand(flags: LimitsFlags): Promise<void> {
  const { prefix, limit } = flags
  await withCommands(flags, async (context) => {
    const limits = valueOf(await listRateLimits(context, { prefix, limit }))
    if (flags.json === true) return printJson({ limits })
    if (limits.length === 0) return printLine('no rate limit was used in the last hour')
    const now = await databaseNow(context)
    printTable([
      ['KEY', 'TOKENS', 'RATE', 'NEXT TOKEN', 'FULL', 'USED'],
      ...limits.map((limit) => showLimit(limit, now)),
    ])
  })
}

function showLimit(limit: RateLimitStatus, now: Date): string[] {
  const { key, ratePerS, burst, tokens, nextTokenInMs, fullInMs, usedAt } = limit
  return [
    key,
    tokens === null ? '–' : `${tokens} of ${burst ?? '–'}`,
    ratePerS === null ? '–' : `${ratePerS}/s`,
    nextTokenInMs === null || nextTokenInMs === 0 ? '–' : `in ${showDuration(nextTokenInMs)}`,
    fullInMs === 0 ? 'yes' : `in ${showDuration(fullInMs)}`,
    usedAt === null ? '–' : showAgo(usedAt, now),
  ]
}
