// One table with all its verbs, for a worker and for tools.
import type { TableProfile } from './profile/profile.ts'
import type { JobStore } from './store/job-store.ts'
import { deferNeo4jStore, isNeo4jUrl } from './store/neo4j/deferred-store.ts'
import {
  type ConnectionPool,
  type ConnectionPoolOptions,
  openConnectionPool,
} from './store/postgres/connection-pool.ts'
import type { SqlClient } from './store/postgres/executor.ts'
import { createPostgresStore } from './store/postgres/postgres-store.ts'

export interface OpenTableOptions extends ConnectionPoolOptions {
  schema: string
  table: TableProfile
}

export interface OpenTable extends Pick<ConnectionPool, 'transaction' | 'close'> {
  store: JobStore<SqlClient>
}

/** One table over connections of its own. */
export function openTable({ schema, table, ...options }: OpenTableOptions): OpenTable {
  if (typeof options.databaseUrl === 'string' && isNeo4jUrl(options.databaseUrl))
    return deferNeo4jStore(options.databaseUrl, table.policy)
  const { client, transaction, close } = openConnectionPool(options)
  return { store: createPostgresStore({ client, table, schema }), transaction, close }
}
