import { InvalidArgumentError } from 'commander'
import { showDuration } from '../../policy/explain/show-duration.ts'

export { showBound, showDuration } from '../../policy/explain/show-duration.ts'

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `30s`, `10m`, `2h`, `1d`. */
export function readDuration(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const durationMs = Number(digits) * (UNITS_MS[unit] ?? Number.NaN)
  if (durationMs > 0) return durationMs
  throw new InvalidArgumentError('Must be a duration such as 30s, 10m, 2h or 1d.')
}

/** `12 min ago`, `in 5 h`; `now` is the database's. `--json` has the exact time. */
export function showAgo(time: Date, now: Date): string {
  const agoMs = now.getTime() - time.getTime()
  if (Math.abs(agoMs) < 1_000) return 'now'
  return agoMs < 0 ? `in ${showDuration(-agoMs)}` : `${showDuration(agoMs)} ago`
}

/** Without fractions of a second. */
export function showTime(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}
