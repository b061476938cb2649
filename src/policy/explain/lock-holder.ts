import { showDuration } from './show-duration.ts'

/** The session that holds the lock on a job's row. */
export interface LockHolder {
  pid: number
  application: string | null
  state: string | null
  openMs: number | null
}

/** `pid 8123 (psql, idle in transaction, open for 14 m)` */
export function describeHolder({ pid, application, state, openMs }: LockHolder): string {
  const session = [application, state, openMs === null ? null : `open for ${showDuration(openMs)}`]
    .filter((part) => part !== null)
    .join(', ')
  return `pid ${pid}${session === '' ? '' : ` (${session})`}`
}
