// The outcome of an attempt, and the writes that follow from it.
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import { showValue } from '../../errors/show-value.ts'
import type { JsonValue } from '../../job/job.ts'
import { backoffSteps } from '../../job/job-rules.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { AttemptEnd, AttemptFailure } from '../../observe/events.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import type { Completion, Failure } from '../../store/job-store.ts'
import type { AbortCause, HandlerRetry } from './handler.ts'

/** The database refuses a longer one. */
const LONGEST_WAIT_MS = 365 * 24 * 3_600_000

export interface AttemptOutcome {
  end: AttemptEnd
  code?: string
  /** Why nothing could be written, or why the job was released. */
  reason?: string
  retryInMs?: number | null
  /** Pause that the called service asked for. */
  limitedMs?: number
  isCritical?: boolean
  failure?: AttemptFailure
}

export const COMPLETED: AttemptOutcome = { end: 'completed' }
export const UNKNOWN: AttemptOutcome = {
  end: 'unknown',
  reason: 'the answer to the completion was lost, and the row is gone: completed, or deleted by someone else',
}

/** Nothing could be written, for a reason that no retry fixes: the lease expires and the reaper requeues the job. */
export function lostOutcome(error: unknown): AttemptOutcome {
  const code = isUnstuckError(error) ? error.code : 'INTERNAL'
  const failure = describeFailure(error)
  return { end: 'lost', code, reason: failure.message, failure }
}

export function describeFailure(error: unknown): AttemptFailure {
  const { reason: message, stack } = classifyError(error)
  return { error, message, ...(stack === undefined ? {} : { stack }) }
}

export function completionOf({ jobId, leaseId }: ClaimedJob, result: unknown): Completion {
  if (result === undefined) return { jobId, leaseId }
  // Checked before batching: one bad result would make the whole batch fail and be sent again in parts.
  jsonText('result', result)
  return { jobId, leaseId, result: result as JsonValue }
}

/** A timeout is retryable, whatever the handler threw when it was aborted. */
export function failureOf(
  job: ClaimedJob,
  error: unknown,
  abortCause: AbortCause | null,
  retry: HandlerRetry = {},
  warn: (warning: string) => void = () => {},
): { failure: Failure; isCritical: boolean } {
  const { jobId, leaseId } = job
  const stepsMs = retry.backoff === undefined ? undefined : handlerSteps(retry.backoff, job, error, warn)
  const classified = classifyError(error)
  const isTimeout = abortCause === 'deadline' || abortCause === 'no-progress'
  const failure: Failure = {
    jobId,
    leaseId,
    code: isTimeout ? 'timeout' : classified.code,
    reason: isTimeout ? `aborted: ${abortCause}` : classified.reason,
    category: classified.category,
    ...(classified.stack === null ? {} : { stack: classified.stack }),
    isRetryable: isTimeout || classified.isRetryable,
    ...(classified.retryInMs === undefined ? {} : { retryInMs: classified.retryInMs }),
    ...(stepsMs === undefined ? {} : { backoffStepsMs: stepsMs }),
    ...(retry.attempts === undefined ? {} : { maxAttempts: retry.attempts }),
    cause: isTimeout ? 'timeout' : 'failure',
  }
  return { failure, isCritical: !isTimeout && classified.category === 'CRITICAL' }
}

/** A function's answer is a step that repeats. */
function handlerSteps(
  backoff: NonNullable<HandlerRetry['backoff']>,
  job: ClaimedJob,
  error: unknown,
  warn: (warning: string) => void,
): number[] | undefined {
  if (typeof backoff !== 'function') return backoffSteps(backoff)
  try {
    const waitMs: unknown = backoff({ failures: job.failures + job.timeouts + 1, error, job })
    if (typeof waitMs === 'number' && waitMs >= 0 && waitMs <= LONGEST_WAIT_MS) return [Math.round(waitMs)]
    // Nobody waits for a promise: its rejection would end the process.
    if (waitMs instanceof Promise) waitMs.catch(() => {})
    const got = waitMs instanceof Promise ? 'a promise' : showValue(waitMs)
    warn(`retry.backoff of ${job.type}: got ${got}, takes milliseconds up to one year; the policy decided`)
  } catch (thrown) {
    // An error about an error would leave the job without an outcome.
    warn(`retry.backoff of ${job.type} threw; the policy decided: ${classifyError(thrown).reason}`)
  }
  return undefined
}

/** The failure as it was written, with the thrown value. */
export function thrownFailure(error: unknown, { reason, stack }: Failure): AttemptFailure {
  return { error, message: reason ?? 'UNKNOWN', ...(stack === undefined || stack === null ? {} : { stack }) }
}

export function leaseLost(job: ClaimedJob): UnstuckError {
  return new UnstuckError('LEASE_LOST', `job ${job.jobId}: the lease is lost, nothing was written`)
}
