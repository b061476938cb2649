// Key actions of `unstuck top` on jobs and workers, through the shared commands.
import type { CommandContext } from '../../commands/command.ts'
import { explainJob, readEvents, retryJob } from '../../commands/jobs/job-commands.ts'
import { drainWorker } from '../../commands/worker-commands.ts'
import type { JobStatus } from '../../job/job.ts'
import { showProgress } from '../../job/show-progress.ts'
import { redactJson, redactText } from '../../observe/redact.ts'
import { valueOf } from '../connection/with-commands.ts'
import type { Line } from '../terminal/line.ts'
import type { TopRow } from './top-rows.ts'
import type { TopAction, TopView } from './top-view.ts'

const REASON = 'unstuck top'

/** Changes of the view after the action. */
export async function perform(
  context: CommandContext,
  action: Exclude<TopAction, { kind: 'quit' }>,
): Promise<Partial<TopView>> {
  const { kind, row } = action
  if (kind === 'show') return { panel: await jobPanel(context, row) }
  if (kind === 'why') return { panel: await whyPanel(context, row) }
  if (kind === 'drain') {
    const { outcome } = valueOf(
      await drainWorker(context, { workerId: row.workerId ?? '', table: row.table, reason: REASON }),
    )
    return {
      message: `worker ${row.workerId ?? ''}: ${outcome === 'asked' ? 'draining' : 'already draining'}`,
    }
  }
  valueOf(await retryJob(context, { ...refOf(row), reason: REASON }))
  return { message: `job ${row.jobId ?? ''} retried: waiting for a worker` }
}

const refOf = ({ jobId, table }: TopRow) => ({ id: jobId ?? '', table })

async function jobPanel(context: CommandContext, row: TopRow): Promise<Line[]> {
  const { table, job, events } = valueOf(await readEvents(context, refOf(row)))
  const { id, type, queue, status, stage, attempt, maxAttempts, workerId, fence, error, progress } = job
  const fields: [string, string | null][] = [
    ['job', `${id} in ${table.name}`],
    ['type', queue === type ? type : `${type}, queue ${queue}`],
    [
      'status',
      `${status}, attempt ${attempt}${maxAttempts === null ? '' : ` of ${maxAttempts}`}, fence ${fence}`,
    ],
    ['stage', stage],
    ['worker', workerId],
    ['progress', progress === null ? null : redactText(showProgress(progress))],
    [
      'error',
      error === null
        ? null
        : redactText([error.code, error.reason].filter((part) => part !== null).join(': ')),
    ],
  ]
  const facts = fields.flatMap(([name, value]): Line[] =>
    value === null ? [] : [[`${name.padEnd(9)}${value}`]],
  )
  const story = events.map(({ at, type: happened, data }): Line => {
    const { lease_id: _credential, stack: _stack, ...details } = data.details
    return [`${at.toISOString()}  ${happened}  ${JSON.stringify(redactJson(details))}`]
  })
  return [...facts, [], ...story]
}

const whyTitles: Record<JobStatus, string> = {
  waiting: 'why it is not running',
  running: 'it is running',
  succeeded: 'it has succeeded',
  dead: 'why it is dead',
  cancelled: 'it was cancelled',
}

async function whyPanel(context: CommandContext, row: TopRow): Promise<Line[]> {
  const { id, facts, reasons, sentence } = valueOf(await explainJob(context, refOf(row)))
  const offered = reasons.flatMap(({ remedies = [] }) => remedies)
  const remedies = new Map(offered.map(({ command, effect }) => [command, effect]))
  return [
    [[`job ${id}: ${whyTitles[facts.status]}`, 'bold']],
    [],
    ...reasons.map(
      ({ code, isBlocking, message }): Line => [
        [`${isBlocking ? '✗' : '·'} ${code}  `, isBlocking ? 'yellow' : 'dim'],
        message,
      ],
    ),
    [],
    [sentence],
    // Too wide for two columns in most terminals.
    ...[...remedies].flatMap(([command, effect]): Line[] => [
      [],
      [`Next:  ${command}`],
      [`       ${effect}`],
    ]),
  ]
}
