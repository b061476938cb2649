// Everything an attempt needs from its worker.
import type { ClaimedJob, Lease } from '../../job/lease.ts'
import type { CompleteOutcome } from '../../job/outcome.ts'
import type { Tracing } from '../../observe/tracing.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type {
  Completion,
  FailedJob,
  Failure,
  JobOutcome,
  JobStore,
  ProgressReport,
  ReleasedJob,
} from '../../store/job-store.ts'
import type { Batcher } from '../calls/batcher.ts'
import type { Heartbeat } from '../heartbeat/heartbeat.ts'
import type { JobGatewayDependencies } from '../limits/job-gateway.ts'
import type { ClockWatch, Watched } from './clock-watch.ts'
import type { AbortCause } from './handler.ts'

export interface AttemptDependencies<Tx = unknown> extends JobGatewayDependencies {
  store: JobStore<Tx>
  heartbeat: Heartbeat
  completions: Batcher<Completion, JobOutcome<CompleteOutcome>>
  failures: Batcher<Failure, FailedJob>
  releases: Batcher<Lease, ReleasedJob>
  progress: Batcher<ProgressReport, boolean>
  policy: PolicyOverride
  tracing: Tracing | null
  workerId: string
  /** How long a handler may run on after its abort signal before it loses its slot. */
  hangGraceMs: number
  /** Limit of a `tx`, from begin to commit. */
  txTimeoutMs: number
  /** Rejects with POOL_EXHAUSTED if no connection became free in time, with DATABASE_CONFLICT if it can be repeated. */
  transaction: <T>(
    work: (client: Tx) => Promise<T>,
    options: { beginWithinMs: number; jobId: string },
  ) => Promise<T>
  slots: Slots
  clockWatch: ClockWatch
}

/** An attempt as its worker sees it. */
export interface RunningAttempt extends Watched {
  readonly job: ClaimedJob
  /** Its handler occupies a slot. */
  isHandling: boolean
  abort(cause: AbortCause): void
  /** Stops waiting for a handler that ignores its abort signal, and for an unreachable database. */
  giveUp(): void
}

/** Notifications of an attempt to its worker. */
export interface Slots {
  /** The handler has returned; its outcome is yet to be written. */
  onReturned(attempt: RunningAttempt): void
  onEnded(attempt: RunningAttempt, ended: AttemptEnded): void
}

export interface AttemptEnded {
  /** A hung handler that still runs: its slot is free again, its memory is not. */
  leftBehind: Promise<unknown> | null
  isCritical: boolean
}
