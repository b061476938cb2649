// Changes that people make to jobs, causes and the policy.
import type { CancelOutcome, DiscardOutcome, RetryOutcome, RunNowOutcome } from '../../job/outcome.ts'
import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import type { ActorOptions, JobOutcome, ManualOptions } from './call-options.ts'
import type { CauseState } from './reading-store.ts'

export interface OperatingStore<Tx = never> {
  /** Ends a waiting job at once; a running one learns of it from its next heartbeat. */
  cancelJobs(jobIds: string[], options?: ManualOptions<Tx>): Promise<JobOutcome<CancelOutcome>[]>
  /** Requeues dead jobs with a new generation. */
  retryJobs(jobIds: string[], options?: RetryOptions<Tx>): Promise<JobOutcome<RetryOutcome>[]>
  /** Makes jobs in backoff or with a later start due now. Pauses and breakers still hold them back. */
  runJobsNow(jobIds: string[], options?: ManualOptions<Tx>): Promise<JobOutcome<RunNowOutcome>[]>
  /** Deletes waiting or ended jobs, never a running one. An event records who did it and why. */
  discardJobs(jobIds: string[], options?: ManualOptions<Tx>): Promise<JobOutcome<DiscardOutcome>[]>

  /** Sets the state of a cause of dead letters; `new` clears it. */
  markCause(causeId: string, mark: CauseMark): Promise<void>

  /** Changes the stored policy. Every later call uses it. */
  writePolicy(change: PolicyOverride): Promise<Policy>
}

export interface RetryOptions<Tx> extends ManualOptions<Tx> {
  /** Keeps the counts and raises the maximum instead. */
  keepAttempts?: boolean
}

export interface CauseMark extends ActorOptions {
  state: CauseState
}
