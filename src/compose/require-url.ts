import { UnstuckError } from '../errors/index.ts'
import { isNeo4jUrl, noTables } from '../store/neo4j/deferred-store.ts'

/** For commands that inspect tables. */
export function requirePostgres(url: string | null): string {
  if (isNeo4jUrl(url)) throw noTables()
  return requireUrl(url)
}

/** The URL of the database, or a clear error. */
export function requireUrl(url: string | null): string {
  if (url !== null) return url
  throw new UnstuckError(
    'INVALID_CONFIG',
    'DATABASE_URL: not set, takes postgres://user:password@host:port/database',
    {
      hint: 'Set DATABASE_URL, or pass --database-url.',
    },
  )
}
