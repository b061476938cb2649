// Opens only the verbs that the heartbeat thread calls: it has a heap of its own.

import type { HeartbeatStore } from '../store/job-store.ts'
import { deferNeo4jStore, isNeo4jUrl } from '../store/neo4j/deferred-store.ts'
import { createCallQuery } from '../store/postgres/connection/call-query.ts'
import { openConnectionPool } from '../store/postgres/connection/connection-pool.ts'
import { createPostgresHeartbeatStore } from '../store/postgres/ports/heartbeat.ts'
import type { OpenTableOptions } from './open-table.ts'

export interface OpenHeartbeatStore {
  store: HeartbeatStore
  close: () => Promise<void>
}

/** One table over connections of its own. */
export function openHeartbeatStore({ schema, table, ...options }: OpenTableOptions): OpenHeartbeatStore {
  if (typeof options.databaseUrl === 'string' && isNeo4jUrl(options.databaseUrl))
    return deferNeo4jStore(options.databaseUrl, table)
  const { client, close } = openConnectionPool(options)
  return { store: createPostgresHeartbeatStore(createCallQuery(client, { schema, table }), table), close }
}
