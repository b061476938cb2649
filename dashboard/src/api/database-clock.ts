// Database time in the browser: the last `db_now` plus the monotonic clock. The browser's wall clock is never compared with
// database times.
let known: { dbMs: number; atMs: number } | null = null

/** `ageMs`: time since the answer arrived. */
export function noteDatabaseTime(dbNow: string, ageMs = 0): void {
  const dbMs = Date.parse(dbNow)
  if (!Number.isNaN(dbMs)) known = { dbMs, atMs: performance.now() - ageMs }
}

/** Null before the first answer. */
export function databaseNowMs(): number | null {
  return known === null ? null : known.dbMs + (performance.now() - known.atMs)
}

/** Age of a database time; negative in the future. */
export function agoMs(time: string | null | undefined): number | null {
  const now = databaseNowMs()
  if (time === null || time === undefined || now === null) return null
  return now - Date.parse(time)
}
