// Times of a run against the peers. Ten seconds is the shortest liveness check that pg-boss accepts; every contender that has
// one gets the same value.

export const EXPIRY_MS = 10_000
/** Interval of the checks for lost jobs. */
export const SWEEP_MS = 1_000
export const WORKERS = 4
export const CONCURRENCY = 5
/** Time a deploy gives a process before it kills it, and the part of it that a configurable worker uses. */
export const DEPLOY_GRACE_MS = 5_000
export const WORKER_GRACE_MS = 4_000
/** A job counts as stuck when no job has finished for this long after healing: four times the expiry. */
export const SETTLE_MS = 4 * EXPIRY_MS
/** Limit of retries, stalls and lost leases. Generous, because a job may meet many faults. */
export const BUDGET = 20
