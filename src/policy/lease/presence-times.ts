/** Interval between two looks for workers whose process has ended (LEASE-10). */
export const LOOK_MS = 1_000
/** Time that a worker without its session has to come back, on a fast network. */
export const LEAST_GRACE_MS = 2_000
