// Jobs that a handler or an external limit releases again and again (RATE-6). The database decides the same in
// sql/functions/jobs/finish/releases.sql.

/** From here on operators are warned and the delays double. */
const MANY_RELEASES = 20
const LONG_RELEASED_MS = 24 * 3_600_000
const LEAST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 3_600_000

/** `startedAgoMs` counts from the first claim. */
export function isReleasedOften(releases: number, startedAgoMs: number | null): boolean {
  return releases >= MANY_RELEASES || (releases > 0 && (startedAgoMs ?? 0) >= LONG_RELEASED_MS)
}

/** `lastMs` is the delay of the previous release; null if the last attempt ended otherwise. */
export function releaseDelayMs(askedMs: number, lastMs: number | null, isOften: boolean): number {
  if (!isOften) return askedMs
  return Math.max(askedMs, Math.min(Math.max(2 * (lastMs ?? 0), LEAST_WAIT_MS), LONGEST_WAIT_MS))
}
