// Expected outcomes are values; broken promises throw.

/** What any finishing verb answers to a lease that is not, or no longer, the current one. */
export type RefusedOutcome = 'already-done' | 'lease-lost' | 'not-found'

export type StageOutcome = 'entered' | 'past-deadline' | RefusedOutcome
export type CompleteOutcome = 'completed' | RefusedOutcome
/** `released` where a half-open breaker had let the job through, and its call failed: no attempt is spent. */
export type FailOutcome = 'retried' | 'dead' | 'cancelled' | 'released' | RefusedOutcome
export type ReleaseOutcome = 'released' | 'cancelled' | RefusedOutcome
export type CancelOutcome =
  | 'cancelled'
  | 'cancel-requested'
  | 'already-ended'
  | 'generation-changed'
  | 'not-found'
export type RetryOutcome = 'retried' | 'not-dead' | 'generation-changed' | 'duplicate' | 'not-found'
export type RunNowOutcome = 'due' | 'already-due' | 'not-waiting' | 'generation-changed' | 'not-found'
export type DiscardOutcome = 'discarded' | 'running' | 'generation-changed' | 'not-found'
export type EnqueueOutcome = 'created' | 'duplicate'

/** What a sweep did, or would do, with one job. */
export type ReapAction = 'requeued' | 'dead' | 'cancelled' | 'held' | 'reported'
