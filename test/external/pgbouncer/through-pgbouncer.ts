import pg from 'pg'
import { inject } from 'vitest'

/** The same database behind PgBouncer. */
export function throughPgBouncer(databaseUrl: string, port = inject('pgBouncerPort')): string {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.href
}

/** More clients than PgBouncer has server connections. */
export function openPoolThrough(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: throughPgBouncer(databaseUrl), max: 8 })
  pool.on('error', () => {})
  return pool
}
