// What an attempt needs of its worker.
import type { ClaimedJob, Lease } from '../job/lease.ts'
import type { CompleteOutcome } from '../job/outcome.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { Completion, FailedJob, Failure, JobOutcome, JobStore, ReleasedJob } from '../store/job-store.ts'
import type { Batcher } from './batcher.ts'
import type { AbortCause } from './handler.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { JobGatewayTools } from './job-gateway.ts'

export interface RunnerTools<Tx = unknown> extends JobGatewayTools {
  store: JobStore<Tx>
  heartbeat: Heartbeat
  completions: Batcher<Completion, JobOutcome<CompleteOutcome>>
  failures: Batcher<Failure, FailedJob>
  releases: Batcher<Lease, ReleasedJob>
  policy: PolicyOverride
  tracing: Tracing | null
  workerId: string
  /** How long a handler may go on after its signal before its slot is taken from it. */
  hangGraceMs: number
  /** From begin to commit of a `tx`. */
  txTimeoutMs: number
  /** Rejects with POOL_EXHAUSTED if no connection became free in time, with DATABASE_CONFLICT if it can be run again. */
  transaction: <T>(work: (client: Tx) => Promise<T>, options: { beginWithinMs: number }) => Promise<T>
  slots: Slots
}

/** An attempt as its worker sees it. */
export interface RunningAttempt {
  readonly job: ClaimedJob
  /** Its handler has a slot. */
  isHandling: boolean
  /** Called now and then: finds out that the lease may be over (C6), or the deadline near. */
  lookAtClocks(nowMs: number): void
  abort(cause: AbortCause): void
  /** Waits no longer for a handler that was told to stop and did not, nor for a database that is gone. */
  giveUp(): void
}

/** Of the worker: what it hears of its attempts. */
export interface Slots {
  /** The handler has returned; the outcome is written after that. */
  onReturned(attempt: RunningAttempt): void
  onEnded(attempt: RunningAttempt, ended: AttemptEnded): void
}

export interface AttemptEnded {
  /** The handler that still runs, until it ends after all: its slot is back, its memory is not. */
  leftBehind: Promise<unknown> | null
  isCritical: boolean
}
