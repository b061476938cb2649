// For the heartbeat thread: of a table only what it calls, for the thread has a heap of its own.
import type { OpenTableOptions } from './open-table.ts'
import type { JobStore } from './store/job-store.ts'
import { deferNeo4jStore, isNeo4jUrl } from './store/neo4j/deferred-store.ts'
import { createCallQuery } from './store/postgres/connection/call-query.ts'
import { openConnectionPool } from './store/postgres/connection/connection-pool.ts'
import { PostgresHeartbeatStore } from './store/postgres/ports/heartbeat-store.ts'

export interface OpenHeartbeatStore {
  store: Pick<JobStore, 'heartbeatJobs' | 'readPolicy'>
  close: () => Promise<void>
}

/** One table over connections of its own. */
export function openHeartbeatStore({ schema, table, ...options }: OpenTableOptions): OpenHeartbeatStore {
  if (typeof options.databaseUrl === 'string' && isNeo4jUrl(options.databaseUrl))
    return deferNeo4jStore(options.databaseUrl, table.policy)
  const { client, close } = openConnectionPool(options)
  return { store: new PostgresHeartbeatStore(createCallQuery(client, { schema, table }), table), close }
}
