import { type Command, Option } from 'commander'
import {
  limitQueue,
  listQueues,
  listTrends,
  pauseQueue,
  resumeQueue,
} from '../../commands/queue-control-commands.ts'
import { showCount } from '../../policy/explain/show-count.ts'
import type { QueueStatus } from '../../store/ports/dependency-store.ts'
import {
  type CliContext,
  databaseNow,
  valueOf,
  withCommands,
  withTableNames,
} from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { readCount } from '../jobs/job-flags.ts'
import { readDuration, showAgo, showDuration, showTime } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

const whichTable = 'table of the profile; default: the one that has the queue, else the first'

interface TrendFlags extends TableFlags {
  since: number
  by: 'hour' | 'minute' | 'total'
  queue?: string
  type?: string
  limit: number
}

const DAY_MS = 86_400_000

interface LimitFlags extends TableFlags {
  concurrency?: number
  groupConcurrency?: number
  groupOrder?: 'fifo'
  reason?: string
}

interface PauseFlags extends TableFlags {
  reason: string
  for?: number
}

export function defineQueues(queues: Command): void {
  withConnection(queues.command('list'))
    .description('lists queues with unfinished jobs, a pause, a limit or a dependency')
    .option('--table <name>', 'one table of the profile; default: all')
    .addHelpText('after', example('unstuck queues list'))
    .action(listCommand)
  withConnection(queues.command('trends'))
    .description('shows what happened per hour or minute, by queue and type')
    .addOption(
      new Option('--since <duration>', 'how far back: 30m, 6h, 7d')
        .argParser(readDuration)
        .default(DAY_MS, '1d'),
    )
    .addOption(
      new Option('--by <span>', 'size of a row').choices(['hour', 'minute', 'total']).default('hour'),
    )
    .option('--queue <name>', 'one queue')
    .option('--type <type>', 'one type')
    .option('--limit <rows>', 'maximum per table, newest first', readCount, 100)
    .option('--table <name>', 'one table of the profile; default: all')
    .addHelpText('after', example('unstuck queues trends --since 1h --by minute --queue mail'))
    .action(trendsCommand)
  withConnection(queues.command('pause'))
    .description('stops claims from the queue; running jobs continue')
    .argument('<queue>', 'queue name')
    .requiredOption('--reason <text>', 'reason, stored with the pause')
    .option('--for <duration>', 'end automatically after 30s, 10m, 2h, 1d', readDuration)
    .option('--table <name>', whichTable)
    .addHelpText('after', example('unstuck queues pause asr --reason "new model" --for 10m'))
    .action(pauseCommand)
  withConnection(queues.command('limit'))
    .description(
      'limits how many jobs of the queue, and of each group, run at once; without options, removes the limits',
    )
    .argument('<queue>', 'queue name')
    .option('--concurrency <jobs>', 'maximum of running jobs', readCount)
    .option('--group-concurrency <jobs>', 'maximum of running jobs of each group', readCount)
    .addOption(
      new Option('--group-order <order>', 'run the jobs of a group one at a time, by id').choices(['fifo']),
    )
    .option('--reason <text>', 'reason, recorded in the audit log')
    .option('--table <name>', whichTable)
    .addHelpText('after', example('unstuck queues limit mail --concurrency 50 --group-concurrency 2'))
    .action(limitCommand)
  withConnection(queues.command('resume'))
    .description('ends the pause of a queue')
    .argument('<queue>', 'queue name')
    .option('--reason <text>', 'reason, recorded in the audit log')
    .option('--table <name>', whichTable)
    .addHelpText('after', example('unstuck queues resume asr --reason "deploy is done"'))
    .action(resumeCommand)
}

async function listCommand(flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { isComplete, ...found } = valueOf(await listQueues(context, {}))
    const queues = withTableNames(found.queues)
    if (flags.json === true) return printJson({ queues, isComplete })
    if (queues.length === 0) return printLine('no queue has unfinished jobs, a pause or a dependency')
    const rows = [
      ['TABLE', 'QUEUE', 'WAITING', 'DUE', 'OLDEST', 'RUNNING', 'LIMITS', 'PAUSED', 'DEPENDENCY'],
      ...queues.map((queue) => [
        queue.table,
        queue.queue,
        showCount(queue, 'waiting'),
        showCount(queue, 'due'),
        queue.oldestDueMs === null ? '–' : showDuration(queue.oldestDueMs),
        showCount(queue, 'running'),
        showLimits(queue),
        queue.isPaused ? (queue.pauseReason ?? 'yes') : '–',
        queue.dependency === null ? '–' : `${queue.dependency} (${queue.breakerState ?? ''})`,
      ]),
    ]
    printTable(rows, { whole: ['QUEUE'], spare: ['LIMITS', 'TABLE', 'OLDEST'] })
    if (!isComplete) printLine('More queues have waiting jobs: the first 1,000 of each table are listed.')
  })
}

async function trendsCommand(flags: TrendFlags): Promise<void> {
  const { since: sinceMs, by, queue, type, limit } = flags
  await withCommands(flags, async (context) => {
    const input = { sinceMs, span: by, queue, type, limit }
    const trends = withTableNames(valueOf(await listTrends(context, input)))
    if (flags.json === true) return printJson({ trends })
    if (trends.length === 0) return printLine(`nothing happened in the last ${showDuration(sinceMs)}`)
    const now = process.stdout.isTTY ? await databaseNow(context) : null
    const rows = [
      [
        by === 'total' ? 'SINCE' : 'AT',
        'QUEUE',
        'TYPE',
        'ENQUEUED',
        'COMPLETED',
        'FAILED',
        'RESCUED',
        'WAIT P50/P95',
        'RUN P50/P95',
      ],
      ...trends.map((trend) => [
        now === null ? showTime(trend.at) : showAgo(trend.at, now),
        trend.queue,
        trend.type,
        ...[trend.enqueued, trend.completed, trend.failed].map(
          (count) => `${trend.isBounded && count > 0 ? '≥ ' : ''}${count}`,
        ),
        String(trend.rescued),
        showDurations(trend.waitP50Ms, trend.waitP95Ms),
        showDurations(trend.runP50Ms, trend.runP95Ms),
      ]),
    ]
    printTable(rows, {
      whole: ['AT', 'ENQUEUED', 'COMPLETED', 'FAILED', 'RESCUED'],
      spare: ['SINCE', 'RUN P50/P95', 'WAIT P50/P95'],
    })
  })
}

function showDurations(p50: number | null, p95: number | null): string {
  return p50 === null || p95 === null ? '–' : `< ${showDuration(p50)} / ${showDuration(p95)}`
}

async function pauseCommand(queue: string, flags: PauseFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { reason, for: durationMs } = flags
    const paused = valueOf(await pauseQueue(context, { name: queue, reason, durationMs }))
    const { table, isChanged: wasRunning } = paused
    const { queues } = valueOf(await listQueues(context, { table }))
    const found = queues.map(({ value }) => value).find((status) => status.queue === queue)
    if (flags.json === true) return printJson({ table, changed: wasRunning, queue: found ?? null })
    const now = await databaseNow(context)
    const what = found === undefined ? `queue ${queue} is no longer paused` : describePause(found, now)
    printLine(`${whereOf(context, table)}${what}`)
    if (!wasRunning) printLine('It was already paused: reason and end were updated.')
    printLine(`Next:  unstuck queues resume ${queue}`)
  })
}

async function limitCommand(queue: string, flags: LimitFlags): Promise<void> {
  const { concurrency, groupConcurrency, groupOrder, reason } = flags
  await withCommands(flags, async (context) => {
    const limits = { concurrency, groupConcurrency, groupOrder }
    const { table, isChanged } = valueOf(await limitQueue(context, { name: queue, limits, reason }))
    if (flags.json === true) return printJson({ table, queue, changed: isChanged })
    const found = valueOf(await listQueues(context, { table, queues: [queue] })).queues[0]?.value
    const what =
      found === undefined || showLimits(found) === '–' ? 'has no limits' : `runs ${showLimits(found)}`
    printLine(`${whereOf(context, table)}queue ${queue} ${what}`)
    if (!isChanged) printLine('Nothing changed.')
  })
}

/** `10 jobs, 1 of each group in order` */
function showLimits({ concurrency, groupConcurrency, groupOrder }: QueueStatus): string {
  const parts = [
    ...(concurrency === null ? [] : [`${concurrency} at once`]),
    ...(groupConcurrency === null
      ? []
      : [`${groupConcurrency} of each group${groupOrder === null ? '' : ', in order'}`]),
  ]
  return parts.length === 0 ? '–' : parts.join(', ')
}

async function resumeCommand(queue: string, flags: TableFlags & { reason?: string }): Promise<void> {
  await withCommands(flags, async (context) => {
    const { table, isChanged: wasPaused } = valueOf(
      await resumeQueue(context, { name: queue, reason: flags.reason }),
    )
    if (flags.json === true) return printJson({ table, queue, changed: wasPaused })
    const what = wasPaused ? `queue ${queue} is resumed` : `queue ${queue} was not paused`
    printLine(`${whereOf(context, table)}${what}`)
  })
}

const whereOf = ({ tables }: CliContext, table: string) => (tables.length > 1 ? `${table}: ` : '')

/** `queue asr PAUSED 3 min ago by ana — new model; 12 due; for another 10 min` */
export function describePause(queue: QueueStatus, now: Date): string {
  const { pausedAt } = queue
  const since = pausedAt === null ? '' : ` ${showAgo(pausedAt, now)}`
  const end =
    queue.pausedForMs === null ? 'until it is resumed' : `for another ${showDuration(queue.pausedForMs)}`
  const why = `by ${queue.pausedBy ?? 'someone'} — ${queue.pauseReason ?? 'no reason given'}`
  return `queue ${queue.queue} PAUSED${since} ${why}; ${showCount(queue, 'due')} due; ${end}`
}
