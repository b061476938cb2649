// Time in a run. The model's clock stands but for `elapse`; PostgreSQL's also goes on by itself while the test runs. So
// that this never decides anything, every duration of a policy or call is whole hours, and every elapse is whole hours
// and one step: after n of them, no time of the past plus whole hours is nearer to now than a step, for n under 120. Before each
// command, PostgreSQL's times move forward if its clock is ahead, so one command may take most of a step, however long the run is.
export const HOUR = 3_600_000
export const STEP = HOUR / 120
/** PostgreSQL's clock may be ahead by so much: on a busy machine a run takes longer than a step. */
export const MOST_AHEAD = STEP / 4

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
