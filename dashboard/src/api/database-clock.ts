// The database's clock as the browser knows it: the last `db_now`, carried on by the monotonic clock. The browser's
// wall clock is never compared with a time of the database.
let known: { dbMs: number; atMs: number } | null = null

/** `ageMs` since the answer with it came. */
export function noteDatabaseTime(dbNow: string, ageMs = 0): void {
  const dbMs = Date.parse(dbNow)
  if (!Number.isNaN(dbMs)) known = { dbMs, atMs: performance.now() - ageMs }
}

/** Null before the first answer. */
export function databaseNowMs(): number | null {
  return known === null ? null : known.dbMs + (performance.now() - known.atMs)
}

/** How long ago a time of the database was; negative where it is to come. */
export function agoMs(time: string | null | undefined): number | null {
  const now = databaseNowMs()
  if (time === null || time === undefined || now === null) return null
  return now - Date.parse(time)
}
