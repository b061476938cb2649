// A lease is the right to run a job until a moment on the database's clock.
import type { JsonValue } from './job.ts'

/** The credential of one claim: every write of a worker carries it, and a stale one changes nothing. */
export interface Lease {
  jobId: string
  leaseId: string
}

/** One text for a lease: the lease and not the id alone, for a worker may hold a stale and a current one of a job. */
export function leaseKey({ jobId, leaseId }: Lease): string {
  return `${jobId} ${leaseId}`
}

/** What a worker is given for a job it claimed. Durations count from the moment of the claim. */
export interface ClaimedJob extends Lease {
  type: string
  queue: string
  payload: JsonValue
  priority: number
  stage: string
  owner: string | null
  fence: number
  attempt: number
  failures: number
  crashes: number
  timeouts: number
  maxAttempts: number
  generation: number
  createdAt: Date
  startedAt: Date
  expectedDurationMs: number | null
  leaseMs: number
  /** Until the hard deadline of its stage; null where the policy has none. */
  deadlineMs: number | null
  traceparent: string | null
  /** This is the first claim since a reap. */
  isRescue: boolean
  /** Its next crash would end it: it starts when nothing else runs in the process, and nothing starts beside it. */
  runsAlone: boolean
}

/**
 * - `kept`: extended
 * - `busy`: somebody has the row locked; the lease is still there
 * - `cancel-asked`: extended, and the handler should stop
 * - `past-deadline`: no longer extended
 * - `finished`: this lease ended the job itself
 * - `lost`: somebody else has the job, or nobody
 */
export type HeartbeatAnswer = 'kept' | 'busy' | 'cancel-asked' | 'past-deadline' | 'finished' | 'lost'
