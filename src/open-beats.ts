// For the heartbeat thread: of a table only what it calls, for the thread has a heap of its own.
import type { OpenTableOptions } from './compose/open-table.ts'
import type { JobStore } from './store/job-store.ts'
import { deferNeo4jStore, isNeo4jUrl } from './store/neo4j/deferred-store.ts'
import { createCallQuery } from './store/postgres/call-query.ts'
import { openConnectionPool } from './store/postgres/connection-pool.ts'
import { PostgresBeats } from './store/postgres/postgres-beats.ts'

export interface OpenBeats {
  store: Pick<JobStore, 'heartbeatJobs' | 'readPolicy'>
  close: () => Promise<void>
}

/** One table over connections of its own. */
export function openBeats({ schema, table, ...options }: OpenTableOptions): OpenBeats {
  if (typeof options.databaseUrl === 'string' && isNeo4jUrl(options.databaseUrl))
    return deferNeo4jStore(options.databaseUrl, table.policy)
  const { client, close } = openConnectionPool(options)
  return { store: new PostgresBeats(createCallQuery(client, { schema, table }), table), close }
}
