// The PostgreSQL store: every verb is one call of a function in sql/functions. Nothing is decided here.
import type { TableProfile } from '../../profile/profile.ts'
import type { JobStore } from '../job-store.ts'
import { createCallQuery } from './connection/call-query.ts'
import type { SqlClient } from './connection/executor.ts'
import { bindDependencyVerbs } from './ports/dependencies.ts'
import { bindDispatchVerbs } from './ports/dispatches.ts'
import { createPostgresHeartbeatStore } from './ports/heartbeat.ts'
import { bindLifecycleVerbs } from './ports/lifecycle.ts'
import { bindModeVerbs } from './ports/modes.ts'
import { bindOperatingVerbs } from './ports/operating.ts'
import { bindOperationVerbs } from './ports/operations.ts'
import { bindReadingVerbs } from './ports/reading.ts'
import { bindReapingVerbs } from './ports/reaping.ts'
import { bindScheduleVerbs } from './ports/schedules.ts'
import { bindTrendVerbs } from './ports/trends.ts'
import { bindWaitVerbs } from './ports/waits.ts'
import { bindWebhookVerbs } from './ports/webhooks.ts'
import { bindWorkerVerbs } from './ports/workers.ts'

export interface PostgresStoreOptions {
  /** A pg pool or client, postgres.js, or anything with `query(text, params)`. */
  client: SqlClient
  table: TableProfile
  /** Default: `unstuck`. */
  schema?: string
}

export function createPostgresStore({
  client,
  table,
  schema = 'unstuck',
}: PostgresStoreOptions): JobStore<SqlClient> {
  const call = createCallQuery(client, { schema, table })
  return {
    ...createPostgresHeartbeatStore(call, table),
    ...bindLifecycleVerbs(call, table),
    ...bindReapingVerbs(call),
    ...bindReadingVerbs(call, table),
    ...bindOperatingVerbs(call),
    ...bindDependencyVerbs(call),
    ...bindScheduleVerbs(call),
    ...bindWorkerVerbs(call),
    ...bindModeVerbs(call, table),
    ...bindDispatchVerbs(call),
    ...bindOperationVerbs(call),
    ...bindTrendVerbs(call),
    ...bindWebhookVerbs(call),
    ...bindWaitVerbs(call, table),
  }
}
