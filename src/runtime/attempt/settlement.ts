// What an attempt came to, for the worker that made it.
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import type { JsonValue } from '../../job/job.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { AttemptEnd } from '../../observe/events.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import type { Completion, Failure } from '../../store/job-store.ts'
import type { AbortCause } from './handler.ts'

export interface Settlement {
  end: AttemptEnd
  code?: string
  /** Why nothing could be written, or what gave the job back. */
  reason?: string
  retryInMs?: number | null
  /** The service that the job calls asked for a pause. */
  limitedMs?: number
  isCritical?: boolean
}

/** Nothing could be written, for a reason that no retry mends: the lease runs out and the reaper takes the job. */
export function unsettled(error: unknown): Settlement {
  const code = isUnstuckError(error) ? error.code : 'INTERNAL'
  return { end: 'lost', code, reason: classifyError(error).reason }
}

export function completionOf({ jobId, leaseId }: ClaimedJob, result: unknown): Completion {
  if (result === undefined) return { jobId, leaseId }
  // Checked here: a batch with a bad result would have to be sent again in parts.
  jsonText('result', result)
  return { jobId, leaseId, result: result as JsonValue }
}

/** A handler that was too slow is tried again, whatever it threw when it was told to stop. */
export function failureOf(
  { jobId, leaseId }: ClaimedJob,
  error: unknown,
  abortCause: AbortCause | null,
): { failure: Failure; isCritical: boolean } {
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
    cause: isTimeout ? 'timeout' : 'failure',
  }
  return { failure, isCritical: !isTimeout && classified.category === 'CRITICAL' }
}

export function leaseLost(job: ClaimedJob): UnstuckError {
  return new UnstuckError('LEASE_LOST', `job ${job.jobId}: the lease is lost, nothing was written`)
}
