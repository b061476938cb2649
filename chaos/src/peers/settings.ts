// The times of a run against the peers. Ten seconds is the shortest liveness check that pg-boss accepts; everybody who has one
// gets the same, so that every fault crosses the same line.

export const EXPIRY_MS = 10_000
/** How often whoever looks for lost jobs looks. */
export const SWEEP_MS = 1_000
export const WORKERS = 4
export const CONCURRENCY = 5
/** What a deploy gives a process before it kills it, and what a worker that can be told takes of it. */
export const DEPLOY_GRACE_MS = 5_000
export const WORKER_GRACE_MS = 4_000
/** Everything is healed, and no job has finished, for this long before one counts as stuck: four times the expiry. */
export const SETTLE_MS = 4 * EXPIRY_MS
/** Of retries, stalls and lost leases: wide, for a job may meet many faults. */
export const BUDGET = 20
