import { shardTables } from '../../commands/shard-tables.ts'
import { invalidArgument } from '../../errors/index.ts'
import { withCommands } from '../connection/with-commands.ts'
import { type BulkFlags, type BulkRequest, runBulk } from '../jobs/run-bulk.ts'
import { filterOfCause, findGroups } from './find-groups.ts'

interface RedriveFlags extends BulkFlags {
  all?: boolean
  canary: number
  rate: number
  keepAttempts?: boolean
}

/** Exit code 1 if it stopped by itself, 130 after Ctrl-C. Retried jobs stay retried. */
export async function redriveCommand(cause: string | undefined, flags: RedriveFlags): Promise<void> {
  if ((cause === undefined) === (flags.all !== true))
    throw invalidArgument('cause', cause, 'a cause, or --all')
  await withCommands(flags, async (context) => {
    const { reason, canary, rate, keepAttempts = false } = flags
    const all = { action: 'redrive', reason, canary, ratePerS: rate, keepAttempts } as const
    const requests: BulkRequest[] =
      cause === undefined
        ? shardTables(context.tables).map(({ name }) => {
            return { ...all, table: name, filter: { status: 'dead' }, q: 'status:dead' }
          })
        : (await findGroups(context, cause)).flatMap(({ table, group }) =>
            shardTables(context.tables.filter(({ name }) => name === table)).map(({ name }) => {
              return { ...all, table: name, ...filterOfCause(group.causeId) }
            }),
          )
    await runBulk(context, requests, flags, {
      planOf: (count, { total }) => planOf(count, total, flags),
      done: 'retried',
      refused: 'were no longer dead',
      none: 'no dead job to retry',
    })
  })
}

function planOf(count: string, total: number, { canary, rate }: RedriveFlags): string {
  const first = canary > 0 ? `First ${canary}, then` : 'At'
  const seconds = Math.ceil(Math.max(0, total - canary) / rate)
  return (
    `${count} jobs match. ${first} ${rate}/s (about ${seconds} s); ` +
    'stops automatically if half of the first 20 fail or the breaker opens.'
  )
}
