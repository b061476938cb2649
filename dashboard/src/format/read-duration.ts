// Parses durations like the command line: 30s, 10m, 2h, 1d.
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Null if invalid. */
export function readDuration(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})\s*([smhd])$/.exec(text.trim().toLowerCase()) ?? []
  const ms = Number(count) * (UNITS_MS[unit] ?? 0)
  return ms > 0 ? ms : null
}
