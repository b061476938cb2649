// Expected outcomes are values; errors throw.

/** Answer of every finishing verb to a lease that is not the current one. */
export type RefusedOutcome = 'already-done' | 'lease-lost' | 'not-found'

export type StageOutcome = 'entered' | 'past-deadline' | RefusedOutcome
export type CompleteOutcome = 'completed' | RefusedOutcome
/** `released`: a half-open breaker let the job through and its call failed. No attempt is spent. */
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
/** `replaced`: a waiting job with the key got the fields of the new one. */
export type EnqueueOutcome = 'created' | 'duplicate' | 'replaced'

/** Result of a sweep for one job; in observe mode, what it would be. */
export type ReapAction = 'requeued' | 'dead' | 'cancelled' | 'held' | 'reported'
