// Facts about a job that a store reads, on its own clock.
import type { ErrorCategory, JobProgress, JobStatus, JsonValue } from '../../job/job.ts'
import type { BreakerState } from '../dependency/breaker.ts'
import type { WorkerFacts } from './explain-workers.ts'
import type { LockHolder } from './lock-holder.ts'

/** Durations count from the read; past ones are negative. */
export interface JobFacts {
  jobId: string
  type: string
  queue: string
  stage: string
  status: JobStatus
  attempt: number
  failures: number
  crashes: number
  timeouts: number
  releases: number
  /** It is released again and again, without an attempt spent. */
  isReleasedOften: boolean
  /** It waits, and its next crash would end it: it has to run alone. */
  isLastChance: boolean
  /** The worker that claims no other jobs until it can run this one. */
  keptWorkerId: string | null
  maxAttempts: number
  /** It may be claimed once more. */
  hasBudget: boolean
  /** As its last attempt has reported it. */
  progress: JobProgress | null
  /** Time until it expires, after which it is not started; null if it does not. */
  expiresInMs: number | null
  error: { code: string | null; reason: string | null; category: ErrorCategory | null } | null
  isCancelAsked: boolean
  /** The newest request to cancel it by a person; null if there is none. */
  cancel: CancelFacts | null
  /** Time until a waiting job is due; null if it does not wait. */
  runInMs: number | null
  /** Due jobs ahead of it in its queue, up to 1000; null if it does not wait. */
  ahead: number | null
  pause: PauseFacts | null
  breaker: HoldingBreaker | null
  /** Limits of its queue and group; null if it does not wait, or there are none. */
  limit: LimitFacts | null
  /** Null if it does not wait, or no worker ever reported. */
  workers: WorkerFacts | null
  workerId: string | null
  /** Null if a running job has no lease and no age rule applies. */
  leaseLeftMs: number | null
  /** Time since the last heartbeat of a running job. */
  silentMs: number | null
  deadlineLeftMs: number | null
  /** For how long no reaper takes a job whose lease expired during an outage; null if it may be taken. */
  heldForMs: number | null
  /** The absence of the worker of a running job; null while it is present, or if presence does not judge it. */
  absence: AbsenceFacts | null
  /** Null if it was not checked, or this role may not. */
  isLocked: boolean | null
  /** Null if it is not certain who holds the lock. */
  lockedBy: LockHolder | null
  endedAgoMs: number | null
  reaperAgeMs: number | null
  sweepIntervalMs: number
  /** The table is in observe mode: unstuck neither claims nor requeues the job. */
  isObserved: boolean
  lastEvent: { type: string; agoMs: number; details: { [key: string]: JsonValue } } | null
}

export interface AbsenceFacts {
  /** Since the first look without its lock. */
  sinceMs: number
  /** Time in which it may still return; null once it is gone. */
  graceLeftMs: number | null
}

export interface CancelFacts {
  by: string
  reason: string | null
  agoMs: number
}

export interface PauseFacts {
  by: string | null
  reason: string | null
  sinceMs: number
  /** Null: until an operator resumes it. */
  leftMs: number | null
}

export interface HoldingBreaker {
  name: string
  state: BreakerState
  by: string | null
  reason: string | null
  sinceMs: number
  nextProbeInMs: number | null
  heldForMs: number | null
  probing: number
  probeSlots: number
  /** Jobs let through in a row that reported no call, and how many successes would close it. */
  unheard: number
  closeAfter: number
}

/** How many jobs may run at once, and run. */
export interface LimitFacts {
  concurrency: number | null
  running: number | null
  group: string | null
  groupConcurrency: number | null
  groupRunning: number | null
  /** The job that its group in order starts next. */
  headId: string | null
}
