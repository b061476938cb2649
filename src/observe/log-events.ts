// One structured line for everything that matters to an operator, with the same field names everywhere (SEE-1).
import type { ClaimedJob } from '../job/lease.ts'
import type { AttemptEnd, RuntimeEventEmitter } from './events.ts'

/** The shape of pino, and of most loggers: an object of fields, then a message. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What the row says after each end, in the words of a job's status. */
const statusAfter: Record<AttemptEnd, string> = {
  completed: 'succeeded',
  retried: 'waiting',
  released: 'waiting',
  dead: 'dead',
  cancelled: 'cancelled',
  lost: 'unknown',
}

/** Payloads, results and stacks never reach a log. */
export function logEvents(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('worker:started', (fields) =>
    logger.info({ event: 'worker:started', ...snake(fields) }, 'worker started'),
  )
  events.on('worker:draining', (fields) =>
    logger.info({ event: 'worker:draining', ...snake(fields) }, 'worker draining'),
  )
  events.on('worker:stopped', (fields) =>
    logger.info({ event: 'worker:stopped', ...snake(fields) }, 'worker stopped'),
  )
  events.on('job:started', ({ job }) => {
    logger.info(
      { event: 'job:started', ...jobFields(job), status: 'running', is_rescue: job.isRescue },
      'job started',
    )
  })
  events.on('job:ended', ({ job, end, durationMs, code, retryInMs }) => {
    const fields = {
      event: 'job:ended',
      ...jobFields(job),
      status: statusAfter[end],
      end,
      duration_ms: durationMs,
      error_code: code ?? null,
      retry_in_ms: retryInMs ?? null,
    }
    if (end === 'dead' || end === 'lost') logger.error(fields, `job ${end}`)
    else if (end === 'retried') logger.warn(fields, 'job failed and will be retried')
    else logger.info(fields, `job ${end}`)
  })
  events.on('job:aborted', ({ job, reason }) => {
    logger.warn({ event: 'job:aborted', ...jobFields(job), reason }, `job aborted: ${reason}`)
  })
  events.on('job:hung', ({ job, leaked, leakBudget }) => {
    logger.error({ event: 'job:hung', ...jobFields(job), leaked, leak_budget: leakBudget }, 'handler hangs')
  })
  logTrouble(events, logger)
}

function logTrouble(events: RuntimeEventEmitter, logger: Logger): void {
  events.on('sweep:done', ({ table, requeued, dead, held, durationMs }) => {
    const fields = { event: 'sweep:done', table, requeued, dead, held, duration_ms: durationMs }
    if (requeued + dead + held > 0)
      logger.warn(fields, `sweep: ${requeued} requeued, ${dead} dead, ${held} held`)
  })
  events.on('sweep:failed', ({ table, error }) => {
    logger.error({ event: 'sweep:failed', table, reason: reasonOf(error) }, 'sweep failed')
  })
  events.on('claim:failed', ({ error }) => {
    logger.error({ event: 'claim:failed', reason: reasonOf(error) }, 'claim failed')
  })
  events.on('heartbeat:failed', ({ error, failingForMs }) => {
    const fields = {
      event: 'heartbeat:failed',
      reason: reasonOf(error),
      failing_for_ms: Math.round(failingForMs),
    }
    logger.error(fields, 'heartbeat failed: no more jobs are claimed until it works again')
  })
  events.on('heartbeat:recovered', ({ failedForMs }) => {
    logger.info(
      { event: 'heartbeat:recovered', failed_for_ms: Math.round(failedForMs) },
      'heartbeat works again',
    )
  })
}

function jobFields({ jobId, type, queue, stage, attempt, fence }: ClaimedJob) {
  return { job_id: jobId, type, queue, stage, attempt, fence }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function snake(fields: object): object {
  const name = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [name(key), value as unknown]))
}
