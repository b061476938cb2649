// Opens one table with all its verbs, for workers and tools.

import type { JobDeclarations } from '../job/declared-jobs.ts'
import type { Policy } from '../policy/policy.ts'
import type { TableProfile } from '../profile/profile.ts'
import type { JobStore } from '../store/job-store.ts'
import { deferNeo4jStore, isNeo4jUrl } from '../store/neo4j/deferred-store.ts'
import type { NodeNotice } from '../store/neo4j/state/node-notice.ts'
import { createCallQuery } from '../store/postgres/connection/call-query.ts'
import { type CallersPool, useCallersPool } from '../store/postgres/connection/callers-pool.ts'
import {
  type ConnectionPool,
  type ConnectionPoolOptions,
  openConnectionPool,
} from '../store/postgres/connection/connection-pool.ts'
import type { PgClient, SqlClient } from '../store/postgres/connection/executor.ts'
import { createPostgresStore } from '../store/postgres/postgres-store.ts'
import { requireFeatures } from '../store/postgres/require-features.ts'
import { requireSchemaVersion } from '../store/postgres/schema-version.ts'

export interface OpenTableOptions extends ConnectionPoolOptions {
  schema: string
  table: TableProfile
  /** The application's own pool, in the place of `databaseUrl`. */
  pool?: CallersPool | undefined
  /** Receives what the profile does not explain, from stores that look for it. */
  onNotice?: (notice: NodeNotice) => void
}

export interface OpenTable extends Pick<ConnectionPool, 'close'> {
  store: JobStore<SqlClient>
  /** On the server of the job, if there are several. */
  transaction: <T>(
    work: (client: PgClient) => Promise<T>,
    options?: { beginWithinMs?: number; jobId?: string },
  ) => Promise<T>
  /** Notifies the listeners of the table. Absent for stores without `notify`. */
  sendHint?: (payload: string) => Promise<unknown>
  /** The same for processes that wait for the end of jobs. */
  sendWaitHint?: (payload: string) => Promise<unknown>
  /** Throws if the installed schema does not fit this version. Absent for stores without a schema. */
  checkSchema?: () => Promise<void>
  /** Throws if the table has no columns for what the policy or a declared job uses. Absent for stores without columns. */
  checkFeatures?: (policy: Policy, jobs?: JobDeclarations) => Promise<void>
}

/** Opens one table over its own connections. */
export function openTable({ schema, table, pool, onNotice, ...options }: OpenTableOptions): OpenTable {
  if (pool === undefined && typeof options.databaseUrl === 'string' && isNeo4jUrl(options.databaseUrl))
    return deferNeo4jStore(options.databaseUrl, table, onNotice)
  const { client, transaction, close } =
    pool === undefined ? openConnectionPool(options) : useCallersPool(pool, options)
  const call = createCallQuery(client, { schema, table })
  return {
    store: createPostgresStore({ client, table, schema }),
    sendHint: (payload) => call('test_hints', [payload]),
    sendWaitHint: (payload) => call('test_waits', [payload]),
    checkSchema: () => requireSchemaVersion(call, schema),
    checkFeatures: (policy, jobs) => requireFeatures(call, table, policy, jobs),
    transaction,
    close,
  }
}
