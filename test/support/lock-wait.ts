// Waiting for PostgreSQL's own word that a backend waits for a lock, so that no race depends on how long anything takes.
import type pg from 'pg'

const PATIENCE_MS = 30_000

interface Activity {
  state: string
  query: string
  is_waiting: boolean
  blockers: number[]
}

/** Resolves with the backends that `pid` waits for as soon as it waits; rejects if it never does. */
export async function whenBlocked(pool: pg.Pool, pid: number): Promise<number[]> {
  const givenUpAt = performance.now() + PATIENCE_MS
  let activity: Activity | undefined
  while (performance.now() < givenUpAt) {
    const { rows } = await pool.query<Activity>(
      `select state, query, coalesce(wait_event_type = 'Lock', false) as is_waiting, pg_blocking_pids(pid) as blockers
         from pg_stat_activity where pid = $1`,
      [pid],
    )
    activity = rows[0]
    if (activity?.is_waiting === true && activity.blockers.length > 0) return activity.blockers
  }
  throw new Error(
    `backend ${pid} never waited for a lock: ${activity?.state ?? 'gone'}, ${activity?.query ?? ''}`,
  )
}
