// What keys of `unstuck top` do to jobs and workers, through the same commands as everything else.
import type { CommandContext } from '../../commands/command.ts'
import { explainJob, readEvents, retryJob } from '../../commands/jobs/job-commands.ts'
import { drainWorker } from '../../commands/worker-commands.ts'
import { redactJson, redactText } from '../../observe/redact.ts'
import { valueOf } from '../connection/with-commands.ts'
import type { Line } from '../terminal/line.ts'
import type { TopRow } from './top-rows.ts'
import type { TopAct, TopView } from './top-view.ts'

const REASON = 'unstuck top'

/** What the view shows afterwards. */
export async function doAct(
  context: CommandContext,
  act: Exclude<TopAct, { kind: 'quit' }>,
): Promise<Partial<TopView>> {
  const { kind, row } = act
  if (kind === 'show') return { panel: await jobPanel(context, row) }
  if (kind === 'why') return { panel: await whyPanel(context, row) }
  if (kind === 'drain') {
    const { outcome } = valueOf(
      await drainWorker(context, { workerId: row.workerId ?? '', table: row.table, reason: REASON }),
    )
    return {
      message: `worker ${row.workerId ?? ''}: ${outcome === 'asked' ? 'asked to leave' : 'was asked before'}`,
    }
  }
  valueOf(await retryJob(context, { ...refOf(row), reason: REASON }))
  return { message: `job ${row.jobId ?? ''} waits for a worker` }
}

const refOf = ({ jobId, table }: TopRow) => ({ id: jobId ?? '', table })

async function jobPanel(context: CommandContext, row: TopRow): Promise<Line[]> {
  const { table, job, events } = valueOf(await readEvents(context, refOf(row)))
  const { id, type, queue, status, stage, attempt, maxAttempts, workerId, fence, error } = job
  const fields: [string, string | null][] = [
    ['job', `${id} in ${table.name}`],
    ['type', queue === type ? type : `${type}, queue ${queue}`],
    [
      'status',
      `${status}, attempt ${attempt}${maxAttempts === null ? '' : ` of ${maxAttempts}`}, fence ${fence}`,
    ],
    ['stage', stage],
    ['worker', workerId],
    [
      'error',
      error === null
        ? null
        : redactText([error.code, error.reason].filter((part) => part !== null).join(': ')),
    ],
  ]
  const told = fields.flatMap(([name, value]): Line[] =>
    value === null ? [] : [[`${name.padEnd(8)}${value}`]],
  )
  const story = events.map(({ at, type: happened, data }): Line => {
    const { lease_id: _credential, stack: _stack, ...details } = data.details
    return [`${at.toISOString()}  ${happened}  ${JSON.stringify(redactJson(details))}`]
  })
  return [...told, [], ...story]
}

async function whyPanel(context: CommandContext, row: TopRow): Promise<Line[]> {
  const { id, reasons, sentence } = valueOf(await explainJob(context, refOf(row)))
  return [
    [[`why job ${id} is not running`, 'bold']],
    [],
    ...reasons.map(
      ({ code, isBlocking, message }): Line => [
        [`${isBlocking ? '✗' : '·'} ${code}  `, isBlocking ? 'yellow' : 'dim'],
        message,
      ],
    ),
    [],
    [sentence],
  ]
}
