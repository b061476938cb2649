import type { Command } from 'commander'
import { listQueues, pauseQueue, resumeQueue } from '../../commands/queue-control-commands.ts'
import type { QueueStatus } from '../../store/ports/dependency-store.ts'
import { type CliContext, valueOf, withCommands, withTableNames } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { readDuration, showDuration, showTime } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

const whichTable = 'table of the profile; default: the one that has the queue, else the first'

interface PauseFlags extends TableFlags {
  reason: string
  for?: number
}

export function addQueues(program: Command): void {
  const queues = program.command('queues').description('lists, pauses and resumes queues')
  withConnection(queues.command('list'))
    .description('lists queues with unfinished jobs, a pause or a dependency')
    .option('--table <name>', 'one table of the profile; default: all')
    .addHelpText('after', example('unstuck queues list'))
    .action(listCommand)
  withConnection(queues.command('pause'))
    .description('stops claims from the queue; running jobs continue')
    .argument('<queue>', 'queue name')
    .requiredOption('--reason <text>', 'reason, stored with the pause')
    .option('--for <duration>', 'end automatically after 30s, 10m, 2h, 1d', readDuration)
    .option('--table <name>', whichTable)
    .addHelpText('after', example('unstuck queues pause asr --reason "new model" --for 10m'))
    .action(pauseCommand)
  withConnection(queues.command('resume'))
    .description('ends the pause of a queue')
    .argument('<queue>', 'queue name')
    .option('--table <name>', whichTable)
    .addHelpText('after', example('unstuck queues resume asr'))
    .action(resumeCommand)
}

async function listCommand(flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const queues = withTableNames(valueOf(await listQueues(context, {})))
    if (flags.json === true) return printJson({ queues })
    if (queues.length === 0) return printLine('no queue has unfinished jobs, a pause or a dependency')
    printTable([
      ['TABLE', 'QUEUE', 'WAITING', 'DUE', 'RUNNING', 'PAUSED', 'DEPENDENCY'],
      ...queues.map((queue) => [
        queue.table,
        queue.queue,
        String(queue.waiting),
        String(queue.due),
        String(queue.running),
        queue.isPaused ? (queue.pauseReason ?? 'yes') : '–',
        queue.dependency === null ? '–' : `${queue.dependency} (${queue.breakerState ?? ''})`,
      ]),
    ])
  })
}

async function pauseCommand(queue: string, flags: PauseFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { reason, for: durationMs } = flags
    const paused = valueOf(await pauseQueue(context, { name: queue, reason, durationMs }))
    const { table, isChanged: wasRunning } = paused
    const queues = valueOf(await listQueues(context, { table }))
    const found = queues.map(({ value }) => value).find((status) => status.queue === queue)
    if (flags.json === true) return printJson({ table, changed: wasRunning, queue: found ?? null })
    const what = found === undefined ? `queue ${queue} is no longer paused` : describePause(found)
    printLine(`${whereOf(context, table)}${what}`)
    if (!wasRunning) printLine('It was already paused: reason and end were updated.')
    printLine(`Next:  unstuck queues resume ${queue}`)
  })
}

async function resumeCommand(queue: string, flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { table, isChanged: wasPaused } = valueOf(await resumeQueue(context, { name: queue }))
    if (flags.json === true) return printJson({ table, queue, changed: wasPaused })
    const what = wasPaused ? `queue ${queue} is resumed` : `queue ${queue} was not paused`
    printLine(`${whereOf(context, table)}${what}`)
  })
}

const whereOf = ({ tables }: CliContext, table: string) => (tables.length > 1 ? `${table}: ` : '')

/** `queue asr PAUSED since … by ana — new model; 12 due; for another 10 min` */
export function describePause(queue: QueueStatus): string {
  const since = queue.pausedAt === null ? '' : ` since ${showTime(queue.pausedAt)}`
  const end =
    queue.pausedForMs === null ? 'until it is resumed' : `for another ${showDuration(queue.pausedForMs)}`
  const why = `by ${queue.pausedBy ?? 'someone'} — ${queue.pauseReason ?? 'no reason given'}`
  return `queue ${queue.queue} PAUSED${since} ${why}; ${queue.due} due; ${end}`
}
