// What an attempt came to, for the worker that made it.
import { isUnstuckError, UnstuckError } from '../errors/index.ts'
import type { JsonValue } from '../job/job.ts'
import { jsonText } from '../job/json-text.ts'
import type { ClaimedJob } from '../job/lease.ts'
import type { AttemptEnd } from '../observe/events.ts'
import type { Completion } from '../store/job-store.ts'

export interface Settlement {
  end: AttemptEnd
  code?: string
  retryInMs?: number | null
  isCritical?: boolean
}

/** Nothing could be written, for a reason that no retry mends: the lease runs out and the reaper takes the job. */
export function unsettled(error: unknown): Settlement {
  return { end: 'lost', code: isUnstuckError(error) ? error.code : 'INTERNAL' }
}

export function completionOf({ jobId, leaseId }: ClaimedJob, result: unknown): Completion {
  if (result === undefined) return { jobId, leaseId }
  // Checked here, so that one bad result does not spoil the batch of the others.
  jsonText('result', result)
  return { jobId, leaseId, result: result as JsonValue }
}

export function leaseLost(job: ClaimedJob): UnstuckError {
  return new UnstuckError('LEASE_LOST', `job ${job.jobId}: the lease is lost, nothing was written`)
}
