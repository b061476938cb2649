// Time in a run. The model's clock stands but for `elapse`; PostgreSQL's also goes on by itself while the test runs. So
// that this never decides anything, every duration of a policy or call is whole hours, and every elapse is whole hours
// and one step: after n of them, no time of the past plus whole hours is nearer to now than a step, for n under 120.
export const HOUR = 3_600_000
export const STEP = HOUR / 120
/** A difference in a run that took longer says nothing. */
export const LONGEST_RUN = STEP - 1_000

/** Each of them may be an elapse. */
export const maxCommands = 100

export function elapseOfHours(hours: number): number {
  return hours * HOUR + STEP
}

/** How many steps a time is away. What the calls took since it was written is less than one, and left out. */
export function stepsUntil(atMs: number, nowMs: number): number {
  const clockPrecisionMs = 5
  return Math.ceil((atMs - nowMs - clockPrecisionMs) / STEP) || 0
}

export function stepsOf(ageMs: number | null): number | null {
  return ageMs === null ? null : stepsUntil(0, ageMs)
}
