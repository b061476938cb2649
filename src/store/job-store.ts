// The store port: every verb is one atomic step. Finishing verbs take the lease and answer a lost one as a value.
// Memory, PostgreSQL (native and every profile) and later stores pass the one suite in ./conformance.

import type { JobEvent } from '../job/event.ts'
import type { ErrorCategory, Job, JsonValue, NewJob } from '../job/job.ts'
import type { ClaimedJob, HeartbeatAnswer, Lease } from '../job/lease.ts'
import type {
  CancelOutcome,
  CompleteOutcome,
  EnqueueOutcome,
  FailOutcome,
  ReapAction,
  ReleaseOutcome,
  RetryOutcome,
  StageOutcome,
} from '../job/outcome.ts'
import type { Policy, PolicyOverride } from '../policy/policy.ts'
import type { StoreCapability } from './capability.ts'
import type { ActorOption, ManualOptions, PolicyOption, Settled, TxOption } from './ports/call-options.ts'
import type { DependencyStore } from './ports/dependency-store.ts'
import type { DispatchStore } from './ports/dispatch-store.ts'
import type { ModeStore } from './ports/mode-store.ts'
import type { OperationStore } from './ports/operation-store.ts'
import type { OperatorStore } from './ports/operator-store.ts'
import type { HoldReason, RescueStore } from './ports/rescue-store.ts'
import type { ScheduleStore } from './ports/schedule-store.ts'
import type { WebhookStore } from './ports/webhook-store.ts'
import type { WorkerStore } from './ports/worker-store.ts'

export type {
  BreakerMode,
  BreakerSettings,
  BreakerState,
  DependencyCall,
} from '../policy/breaker.ts'
export type { RateLimit, TokenGrant } from '../policy/rate-limit.ts'
export type { StoreCapability } from './capability.ts'
export type * from './ports/call-options.ts'
export type * from './ports/dependency-store.ts'
export type * from './ports/dispatch-store.ts'
export type * from './ports/mode-store.ts'
export type * from './ports/operation-store.ts'
export type * from './ports/operator-store.ts'
export type * from './ports/rescue-store.ts'
export type * from './ports/schedule-store.ts'
export type * from './ports/webhook-store.ts'
export type * from './ports/worker-store.ts'

/** `Tx` is what the store joins a caller's transaction with; stores that cannot take `never`. */
export interface JobStore<Tx = never>
  extends DependencyStore,
    ScheduleStore,
    DispatchStore,
    ModeStore,
    WorkerStore,
    WebhookStore,
    RescueStore,
    OperationStore,
    OperatorStore<Tx> {
  /** What this store cannot do: its verbs throw NOT_SUPPORTED. It can do everything where absent. */
  readonly lacks?: ReadonlySet<StoreCapability>

  /** Writes all jobs or none. A job whose dedupe key is taken answers the id of the job that has it. */
  enqueueJobs(jobs: NewJob[], options?: TxOption<Tx> & PolicyOption): Promise<EnqueuedJob[]>

  /** Takes up to `limit` due jobs by priority, then due time, then id. Never looks at lease fields. */
  claimJobs(request: ClaimRequest): Promise<ClaimedJob[]>
  /** Takes one job by id, if it is waiting and due. */
  claimJob(jobId: string, request: ClaimOneRequest): Promise<ClaimedJob | 'not-claimable'>

  /** Extends all leases of a worker at once. A locked row delays nobody: its answer is `busy`. */
  heartbeatJobs(leases: Lease[], options?: HeartbeatOptions): Promise<HeartbeatReport>

  /** Moves a running job into another stage: its lease and its deadline are that stage's, from now. Not past a deadline. */
  enterStage(lease: Lease, stage: string, options?: PolicyOption): Promise<EnteredStage>

  completeJobs(
    completions: Completion[],
    options?: TxOption<Tx> & ActorOption,
  ): Promise<Settled<CompleteOutcome>[]>
  /** Decides between another try and the end; a cancelled job ends as cancelled. */
  failJobs(failures: Failure[], options?: TxOption<Tx> & PolicyOption & ActorOption): Promise<FailedJob[]>
  /** Gives jobs back without spending an attempt. */
  releaseJobs(leases: Lease[], options?: ReleaseOptions<Tx>): Promise<ReleasedJob[]>

  /** A waiting job ends at once; a running one is told through its next heartbeat. */
  cancelJobs(jobIds: string[], options?: ManualOptions<Tx>): Promise<Settled<CancelOutcome>[]>
  /** Brings dead jobs back with a new generation. */
  retryJobs(jobIds: string[], options?: RetryOptions<Tx>): Promise<Settled<RetryOutcome>[]>

  /** One bounded step of a sweep: brakes, reap, events. Continue with `next` until it is null. */
  sweepJobs(request?: SweepRequest): Promise<SweepStep>
  /** What a sweep would do now. Changes nothing. */
  previewSweep(options?: PolicyOption & { limit?: number }): Promise<ReapedJob[]>

  /** One bounded step of retention. Continue with `next` until it is null. Only ended jobs are ever deleted. */
  pruneJobs(request?: PruneRequest): Promise<PruneStep>

  /** Keeps what a worker found out after it had lost its lease, as an event. False where the job is gone. */
  recordLateResult(lease: Lease, details: { [key: string]: JsonValue }): Promise<boolean>

  getJob(jobId: string, options?: TxOption<Tx>): Promise<Job | null>
  listEvents(jobId: string): Promise<JobEvent[]>
  readHealth(options?: PolicyOption): Promise<Health>
  /** The `hidden` of `readHealth` alone, without counting jobs. */
  readHidden(): Promise<HiddenJobs | null>
  readPolicy(): Promise<Policy>
  /** Changes the stored policy; takes effect with the next call of anyone. */
  writePolicy(change: PolicyOverride): Promise<Policy>
}

export interface EnqueuedJob {
  jobId: string
  outcome: EnqueueOutcome
}

export interface ClaimOneRequest extends PolicyOption {
  workerId: string
  /** Instead of the stage's lease. */
  leaseMs?: number
}

export interface ClaimRequest extends ClaimOneRequest, ActorOption {
  queues: string[]
  limit: number
  /** Only these types; all types of the queues where absent. */
  types?: string[]
  /** Jobs that were due before these times may be passed over: where the last claims of the caller got to. */
  marks?: ClaimMarks
}

/** A time for each queue and priority. */
export type ClaimMarks = ReadonlyMap<string, ReadonlyMap<number, Date>>

export interface HeartbeatOptions extends PolicyOption {
  /** Instead of each job's stage lease. */
  leaseMs?: number
}

export interface HeartbeatReport {
  answers: (Lease & { answer: HeartbeatAnswer })[]
  /** How long ago anybody swept; null before the first sweep. */
  reaperAgeMs: number | null
}

export interface EnteredStage {
  outcome: StageOutcome
  leaseMs: number | null
  deadlineMs: number | null
}

export interface Completion extends Lease {
  result?: JsonValue
}

export interface Failure extends Lease {
  code?: string
  reason?: string
  category?: ErrorCategory
  stack?: string
  /** False ends the job whatever its budget, as do the categories PERMANENT and CRITICAL. */
  isRetryable?: boolean
  /** Instead of the backoff. */
  retryInMs?: number
  /** A timeout is counted apart from failures. */
  cause?: 'failure' | 'timeout'
}

export interface FailedJob extends Settled<FailOutcome> {
  /** Until the next try; null where there is none. */
  retryInMs: number | null
}

export interface ReleaseOptions<Tx> extends TxOption<Tx>, ActorOption {
  /** Not claimable before; at once where absent. */
  delayMs?: number
  /** Each lease of the call waits this much longer than the one before it. */
  spreadMs?: number
  /** `interruption` counts a deploy apart from a release. */
  cause?: 'release' | 'interruption'
  /**
   * What sends it back, in one line: kept as an event. Of a job that was released 20 times, or over a day, each such wait is
   * twice the last, up to an hour.
   */
  reason?: string
}

export interface ReleasedJob extends Settled<ReleaseOutcome> {
  /** Until it may run again; null where this call did not release it. */
  retryInMs: number | null
}

export interface RetryOptions<Tx> extends ManualOptions<Tx> {
  /** Keep the counts and raise the maximum instead, so that the job can be claimed. */
  keepAttempts?: boolean
}

/** What a reaper knows of its own past: it lets the sweep tell an outage of the database from dead workers (C9). */
export interface ReaperFacts {
  reaperId: string
  /** `sweptAt` of this reaper's last step. */
  lastSweptAt?: string
  /** Monotonic time since then. */
  elapsedMs?: number
  /** How long this reaper's own sweeps have been failing. */
  failingForMs?: number
}

export interface SweepRequest extends PolicyOption {
  /** Absent: called by hand, never held back. */
  reaper?: ReaperFacts
  /** Who asked for a sweep by hand, and why: kept with its last step. */
  actor?: string
  reason?: string
  limit?: number
  cursor?: SweepCursor
}

/** Opaque: pass it on. */
export type SweepCursor = string & { readonly brand?: 'sweep-cursor' }

export interface SweepStep {
  reaped: ReapedJob[]
  /** Leases that ran out during an outage of the database and may still be renewed. */
  held: number
  holdReason: HoldReason | null
  sweptAt: string
  next: SweepCursor | null
}

export interface ReapedJob {
  jobId: string
  action: ReapAction
  reason: string
  stage: string | null
  attempt: number
  /** The worker that had it. */
  workerId: string | null
  /** Until it may run again; null where it will not. */
  retryInMs: number | null
}

export interface PruneRequest {
  /** Instead of the policy's retention. */
  retentionDays?: number
  limit?: number
  cursor?: PruneCursor
}

/** Opaque: pass it on. */
export type PruneCursor = string & { readonly brand?: 'prune-cursor' }

export interface PruneStep {
  deleted: number
  next: PruneCursor | null
}

/** Computed from the rows, never from a reaper's word. */
export interface Health {
  waiting: number
  due: number
  running: number
  /** Running and past its lease: what a sweep will take. */
  overdue: number
  oldestOverdueMs: number | null
  oldestDueMs: number | null
  /** Running rows with no lease and no time to judge them by. */
  unjudged: number
  reaperAgeMs: number | null
  holdReason: HoldReason | null
  /** Waiting jobs that were released 20 times, or over a day: something keeps sending them back. */
  releasedOften: number
  /** Set: row security may hide jobs from the role of this connection, and the counts are too low. */
  hidden: HiddenJobs | null
}

export interface HiddenJobs {
  role: string
  /** With its schema. */
  table: string
  /** The role sees no job at all; otherwise policies with a condition decide. */
  isAll: boolean
  /** The statement that lets the role see them. */
  fix: string
}
