import type { Command } from 'commander'
import {
  holdBreaker,
  listBreakers,
  readBreaker,
  resumeBreaker,
} from '../../commands/queue-control-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import { isUnheard } from '../../policy/dependency/breaker.ts'
import { unheardText } from '../../policy/explain/explain-waiting.ts'
import type { Breaker } from '../../store/ports/dependency-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { databaseNow, valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { readDuration, showAgo, showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface ChangeFlags extends ConnectionFlags {
  reason: string
  for?: number
}

export function defineBreaker(breaker: Command): void {
  withConnection(breaker.command('status').alias('list'))
    .description('lists breakers; exit code 1 if a breaker is not closed')
    .argument('[name]', 'only this breaker')
    .addHelpText('after', example('unstuck breaker status'))
    .action(statusCommand)
  withConnection(breaker.command('hold'))
    .description('stops claims for the dependency; running jobs continue')
    .argument('<name>', 'breaker name')
    .requiredOption('--reason <text>', 'reason, stored with the state')
    .option('--for <duration>', 'end automatically after 30s, 10m, 2h, 1d', readDuration)
    .addHelpText('after', example('unstuck breaker hold gateway --reason "INC-431" --for 10m'))
    .action(holdCommand)
  withConnection(breaker.command('resume'))
    .description('ends a hold and closes the breaker')
    .argument('<name>', 'breaker name')
    .requiredOption('--reason <text>', 'reason, stored with the state')
    .addHelpText('after', example('unstuck breaker resume gateway --reason "gateway is back"'))
    .action(resumeCommand)
}

async function statusCommand(name: string | undefined, flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const breakers =
      name === undefined
        ? valueOf(await listBreakers(context, undefined))
        : [valueOf(await readBreaker(context, name))]
    if (breakers.some(({ state }) => state !== 'closed')) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ breakers })
    if (breakers.length === 0) return printLine('no breakers yet')
    const now = await databaseNow(context)
    const rows = [
      ['BREAKER', 'STATE', 'SINCE', 'BY', 'REASON', 'FAILED CALLS', 'QUEUES'],
      ...breakers.map((breaker) => [
        breaker.name,
        breaker.state,
        showAgo(breaker.since, now),
        breaker.changedBy ?? 'unstuck',
        breaker.reason ?? '–',
        `${breaker.failures} of ${breaker.calls}`,
        breaker.queues.map(({ attachment, queue }) => `${attachment}/${queue}`).join(', ') || '–',
      ]),
    ]
    printTable(rows, { whole: ['BREAKER', 'STATE'], spare: ['BY', 'REASON', 'SINCE'] })
  })
}

async function holdCommand(name: string, flags: ChangeFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { reason, for: durationMs } = flags
    const breaker = valueOf(await holdBreaker(context, { name, reason, durationMs }))
    if (flags.json === true) return printJson({ breaker })
    printLine(describeBreaker(breaker, await databaseNow(context)))
    printLine(`Next:  unstuck breaker resume ${name} --reason …`)
  })
}

async function resumeCommand(name: string, flags: ChangeFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const breaker = valueOf(await resumeBreaker(context, { name, reason: flags.reason }))
    if (flags.json === true) return printJson({ breaker })
    printLine(describeBreaker(breaker, await databaseNow(context)))
  })
}

/** `breaker gateway OPEN for 3 min — 11 of the last 20 calls failed; next probe in 9 s` */
export function describeBreaker(breaker: Breaker, now: Date): string {
  const { name, state, since, changedBy, reason, calls, failures, nextProbeInMs, heldForMs } = breaker
  const { unheard, settings } = breaker
  const head = `breaker ${name} ${state.toUpperCase()} for ${showDuration(now.getTime() - since.getTime())}`
  if (state === 'held') {
    const end = heldForMs === null ? 'until it is resumed' : `for another ${showDuration(heldForMs)}`
    return `${head} by ${changedBy ?? 'someone'} — ${reason ?? 'no reason given'}; ${end}`
  }
  if (state === 'closed') return head
  if (isUnheard({ state, unheard, closeAfter: settings.closeAfter }))
    return `${head} — ${unheardText(unheard)}`
  const next = nextProbeInMs === null ? '' : `; next probe ${describeProbe(nextProbeInMs)}`
  return `${head} — ${failures} of the last ${calls} calls failed${next}`
}

const describeProbe = (inMs: number) => (inMs <= 0 ? 'with the next job' : `in ${showDuration(inMs)}`)
