// Log lines about single jobs, each with the fields of SEE-1 as far as they are known.
import type { ReapAction } from '../../job/outcome.ts'
import { describeFailure } from '../describe-failure.ts'
import type { AttemptEnd, RuntimeEventEmitter, RuntimeEvents } from '../events.ts'
import { jobFields } from './log-fields.ts'
import type { Logger } from './logger.ts'

/** Status of the row after each end. */
const statusAfter: Record<AttemptEnd, string> = {
  completed: 'succeeded',
  retried: 'waiting',
  released: 'waiting',
  dead: 'dead',
  cancelled: 'cancelled',
  lost: 'unknown',
  unknown: 'unknown',
}

const MAX_REMEMBERED = 10_000

interface ReapLine {
  /** The event that the sweep recorded for the job, if any. */
  event: string
  level: keyof Logger
  status: string
  message: string
}

const reapLines: Record<ReapAction, ReapLine> = {
  requeued: { event: 'reaper:requeued', level: 'warn', status: 'waiting', message: 'job requeued' },
  dead: {
    event: 'reaper:failed(timeout)',
    level: 'error',
    status: 'dead',
    message: 'job dead: no attempts left',
  },
  cancelled: {
    event: 'reaper:cancelled',
    level: 'info',
    status: 'cancelled',
    message: 'job cancelled after its lease expired',
  },
  held: {
    event: 'reaper:held',
    level: 'info',
    status: 'running',
    message: 'lease held: the database was unreachable',
  },
  reported: {
    event: 'reaper:reported',
    level: 'warn',
    status: 'running',
    // The reason says why: no rule applies, or the table is in observe mode.
    message: 'job not touched',
  },
}

export interface LogOptions {
  /** Logs stacks beside messages. Default: false. */
  withStacks?: boolean
  /** Ordinary events are not even listened to: building them costs time for each job. Default: false. */
  onlyWarnings?: boolean
}

export function logJobEvents(events: RuntimeEventEmitter, logger: Logger, options: LogOptions = {}): void {
  const { onlyWarnings = false, withStacks = false } = options
  if (onlyWarnings) events.on('job:failed', (failed) => logEnd(failed, logger, withStacks))
  else logOrdinaryLife(events, logger, withStacks)
  events.on('job:aborted', ({ job, reason }) => {
    const fields = { event: 'job:aborted', ...jobFields(job), status: 'running', reason }
    logger.warn(fields, `job aborted: ${reason}`)
  })
  events.on('job:at-risk', ({ job }) => {
    logger.warn({ event: 'job:at-risk', ...jobFields(job) }, 'no heartbeat was answered for a whole lease')
  })
  events.on('job:hung', ({ job, leaked, leakBudget }) => {
    logger.error({ event: 'job:hung', ...jobFields(job), leaked, leak_budget: leakBudget }, 'handler hangs')
  })
  events.on('gateway:called', (called) => logCall(called, logger))
  const reported = new Set<string>()
  events.on('job:reaped', (reaped) => {
    if (reaped.action === 'reported' && !isNew(reported, `${reaped.table} ${reaped.jobId}`)) return
    logReap(reaped, logger)
  })
}

function logOrdinaryLife(events: RuntimeEventEmitter, logger: Logger, withStacks: boolean): void {
  events.on('jobs:enqueued', ({ table, type, queue, created, duplicates }) => {
    const fields = { event: 'jobs:enqueued', status: 'waiting', table, type, queue, created, duplicates }
    logger.info(fields, `${created} enqueued`)
  })
  events.on('job:started', ({ job }) => {
    const fields = { event: 'job:started', ...jobFields(job), status: 'running', is_rescue: job.isRescue }
    logger.info(fields, 'job started')
  })
  events.on('job:ended', (ended) => logEnd(ended, logger, withStacks))
}

function logEnd(ended: RuntimeEvents['job:ended'], logger: Logger, withStack: boolean): void {
  const { job, end, durationMs, code, reason, retryInMs, gatewayStatus, breaker, failure } = ended
  const fields = {
    event: 'job:ended',
    ...jobFields(job),
    status: statusAfter[end],
    end,
    duration_ms: durationMs,
    gateway_status: gatewayStatus ?? null,
    error_code: code ?? null,
    breaker: breaker ?? null,
    retry_in_ms: retryInMs ?? null,
    ...(reason === undefined ? {} : { reason }),
    ...(failure === undefined ? {} : { err: describeFailure(failure, { withStack }) }),
  }
  if (end === 'dead' || end === 'lost') logger.error(fields, `job ${end}`)
  else if (end === 'retried') logger.warn(fields, 'job failed and will be retried')
  else if (end === 'unknown') logger.warn(fields, 'job outcome unknown')
  else logger.info(fields, `job ${end}`)
}

/** Every sweep reports the same rows again: they are remembered, up to a bound, and logged once. */
function isNew(reported: Set<string>, key: string): boolean {
  if (reported.has(key)) return false
  if (reported.size >= MAX_REMEMBERED) reported.clear()
  reported.add(key)
  return true
}

/** A successful call is covered by the line of its job, an aborted one by `job:aborted`. */
function logCall({ job, call }: RuntimeEvents['gateway:called'], logger: Logger): void {
  const { dependency, url, status, durationMs, outcome } = call
  if (outcome === 'ok' || outcome === 'aborted') return
  const fields = {
    event: 'gateway:called',
    ...jobFields(job),
    status: 'running',
    dependency,
    url,
    duration_ms: Math.round(durationMs),
    gateway_status: status,
    outcome,
  }
  logger.warn(fields, `call failed: ${outcome}`)
}

function logReap(reaped: RuntimeEvents['job:reaped'], logger: Logger): void {
  const { table, jobId, action, reason, stage, attempt, workerId, retryInMs } = reaped
  const { event, level, status, message } = reapLines[action]
  const fields = {
    event,
    table,
    job_id: jobId,
    status,
    stage,
    attempt,
    reason,
    error_code: action === 'dead' ? 'timeout' : null,
    worker_id: workerId,
    retry_in_ms: retryInMs,
  }
  logger[level](fields, message)
}
