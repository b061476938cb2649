// A job from enqueue to outcome, as applications and workers drive it.
import type { ErrorCategory, JobProgress, JsonValue, NewJob } from '../../job/job.ts'
import type { ClaimedJob, HeartbeatAnswer, Lease } from '../../job/lease.ts'
import type {
  CompleteOutcome,
  EnqueueOutcome,
  FailOutcome,
  ReleaseOutcome,
  StageOutcome,
} from '../../job/outcome.ts'
import type { ActorOption, JobOutcome, PolicyOption, TxOption } from './call-options.ts'

export interface LifecycleStore<Tx = never> {
  /** Writes all jobs or none. If a dedupe key is taken, returns the id of the job that holds it. */
  enqueueJobs(jobs: NewJob[], options?: TxOption<Tx> & PolicyOption): Promise<EnqueuedJob[]>

  /** Claims up to `limit` due jobs by priority, then due time, then id. Ignores lease fields. */
  claimJobs(request: ClaimRequest): Promise<ClaimedJob[]>
  /** Whether a job of these queues may be claimed now. Cheaper than an empty claim; needs `notify`. */
  hasDueJobs(queues: string[]): Promise<boolean>
  /** Claims one job by id, if it is waiting and due. */
  claimJob(jobId: string, request: ClaimOneRequest): Promise<ClaimedJob | 'not-claimable'>

  /** Extends all given leases at once. A locked row answers `busy` instead of delaying the others. */
  heartbeatJobs(leases: Lease[], options?: HeartbeatOptions): Promise<HeartbeatReport>

  /** Moves a running job to another stage, with that stage's lease and deadline from now. Refused past a deadline. */
  enterStage(lease: Lease, stage: string, options?: PolicyOption): Promise<EnteredStage>

  /** Keeps the progress of running jobs. False for each that was not written: its lease is lost, or its row locked. */
  reportProgress(reports: ProgressReport[]): Promise<boolean[]>

  /** `keepCompleted` and `typeKeepCompleted` are the only settings of the policy that count here. */
  completeJobs(
    completions: Completion[],
    options?: TxOption<Tx> & PolicyOption & ActorOption,
  ): Promise<JobOutcome<CompleteOutcome>[]>
  /** Retries the job or ends it; a job with a pending cancellation ends as cancelled. */
  failJobs(failures: Failure[], options?: TxOption<Tx> & PolicyOption & ActorOption): Promise<FailedJob[]>
  /** Returns jobs to the queue without spending an attempt. */
  releaseJobs(leases: Lease[], options?: ReleaseOptions<Tx>): Promise<ReleasedJob[]>

  /** Records the result of a worker that had already lost its lease, as an event. False if the job is gone. */
  recordLateResult(lease: Lease, details: { [key: string]: JsonValue }): Promise<boolean>
}

export interface EnqueuedJob {
  /** Id of the new job, or of the unfinished one that has the dedupe key. */
  jobId: string
  /** `created`, or `duplicate` if an unfinished job of the type has the dedupe key. */
  outcome: EnqueueOutcome
}

export interface ClaimOneRequest extends PolicyOption {
  workerId: string
  /** Default: the lease of the stage. */
  leaseMs?: number
}

export interface ClaimRequest extends ClaimOneRequest, ActorOption {
  queues: string[]
  limit: number
  /** Most jobs of a shard, by its number. Default: `limit`. */
  limitOfShard?: ((shard: number) => number) | undefined
  /** Default: all types of the queues. */
  types?: string[]
  /** Where the caller's last claims stopped. Jobs that were due earlier may be skipped. */
  cursors?: ClaimCursors
  /**
   * Called before the claim is answered, if it got less than it asked for and a limit of a queue, or of its groups, is reached:
   * the end of a job of these queues may let another one start.
   */
  onHeldBack?: (queues: string[]) => void
}

/** Due times by queue and priority. */
export type ClaimCursors = ReadonlyMap<string, ReadonlyMap<number, Date>>

export interface HeartbeatOptions extends PolicyOption {
  /** Default: the lease of each job's stage. */
  leaseMs?: number
}

export interface HeartbeatReport {
  answers: (Lease & { answer: HeartbeatAnswer })[]
  /** Time since the last sweep by any reaper; null before the first one. */
  reaperAgeMs: number | null
}

export interface EnteredStage {
  outcome: StageOutcome
  leaseMs: number | null
  deadlineMs: number | null
}

/** `value` is from 0 to 1; `text` has 1 to 200 characters or is null. */
export interface ProgressReport extends Lease, JobProgress {}

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
  /** Default: the backoff of the job, else `backoffStepsMs`, else the policy's. */
  retryInMs?: number
  /** Waits of the handler, for a job that has none of its own. */
  backoffStepsMs?: number[]
  /** Maximum of the handler, for a job that was enqueued with the policy's. */
  maxAttempts?: number
  /** Timeouts have a count of their own. */
  cause?: 'failure' | 'timeout'
}

export interface FailedJob extends JobOutcome<FailOutcome> {
  /** Until the next attempt; null if there is none. */
  retryInMs: number | null
}

export interface ReleaseOptions<Tx> extends TxOption<Tx>, ActorOption {
  /** Delay before the job may be claimed again. Default: 0. */
  delayMs?: number
  /** Extra delay of each lease of the call over the one before it. */
  spreadMs?: number
  /** `interruption` counts a deploy apart from a release. */
  cause?: 'release' | 'interruption'
  /**
   * Why, in one line, recorded as an event. Once a job was released 20 times, or over a day, each delay with a reason is twice
   * the last one, up to an hour.
   */
  reason?: string
}

export interface ReleasedJob extends JobOutcome<ReleaseOutcome> {
  /** Until it may run again; null if this call did not release it. */
  retryInMs: number | null
}
