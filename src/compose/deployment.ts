// Opens the stores of a deployment.
import { type Config, profileOf } from '../config/index.ts'
import { UnstuckError } from '../errors/index.ts'
import type { TableProfile } from '../profile/profile.ts'
import type { GoneWorkers } from '../runtime/services/reaper.ts'
import { deferNeo4jStore, isNeo4jUrl } from '../store/neo4j/deferred-store.ts'
import type { NodeNotice } from '../store/neo4j/state/node-notice.ts'
import { requireSameDatabase } from '../store/postgres/connection/connection-identity.ts'
import { openConnectionPool } from '../store/postgres/connection/connection-pool.ts'
import type { SqlClient } from '../store/postgres/connection/executor.ts'
import { createPostgresAccess } from '../store/postgres/ports/access.ts'
import { createPostgresStore } from '../store/postgres/postgres-store.ts'
import type { Deployment, DeploymentTable } from './deployment-table.ts'
import { countWatchers } from './presence/count-watchers.ts'
import { watchGoneWorkers } from './presence/gone-workers.ts'
import { requireUrl } from './require-url.ts'
import { openShardDeployment } from './shards/shard-deployment.ts'

/**
 * Opens the tables of the configured profile over one connection pool. `onNotice` receives what the profile does not explain,
 * from stores that look for it.
 */
export function openDeployment(
  config: Config,
  url?: string,
  onNotice?: (notice: NodeNotice) => void,
): Deployment {
  if (config.shards !== null) return openShardDeployment(config, config.shards)
  const databaseUrl = url ?? requireUrl(config.databaseUrl)
  if (isNeo4jUrl(databaseUrl)) return openNeo4j(config, databaseUrl, onNotice)
  const { client, reader, close } = openConnectionPool({ databaseUrl, connections: config.connections })
  const { schema, directUrl, readUrl } = config
  const watches: { stop(): Promise<void> }[] = []
  const watchOf = (table: TableProfile) => {
    const watch = watchGoneWorkers({ server: directUrl ?? databaseUrl, schema, table })
    watches.push(watch)
    return watch
  }
  const standby =
    readUrl === null || readUrl === config.databaseUrl ? null : openConnectionPool({ databaseUrl: readUrl })
  const live = openTables(config, reader)
  const own = openTables(config, client, watchOf)
  return {
    ...own,
    parts: own.tables,
    live,
    reading: standby === null ? live : openTables(config, standby.reader),
    async close() {
      await Promise.all(watches.map((watch) => watch.stop()))
      await Promise.all([close(), standby?.close()])
    },
  }
}

function openNeo4j(config: Config, databaseUrl: string, onNotice?: (notice: NodeNotice) => void): Deployment {
  if (config.readUrl !== null && config.readUrl !== config.databaseUrl)
    throw new UnstuckError(
      'INVALID_CONFIG',
      'UNSTUCK_READ_URL: takes a standby of PostgreSQL; the jobs are in Neo4j',
    )
  const [table] = profileOf(config).tables
  const { name, store, access, close } = deferNeo4jStore(databaseUrl, table, onNotice)
  const tables: Deployment['tables'] = [{ name, table, store }]
  return { tables, parts: tables, access, reading: { tables, access }, live: { tables, access }, close }
}

function openTables(
  config: Config,
  client: SqlClient,
  watchOf?: (table: TableProfile) => GoneWorkers,
): Pick<Deployment, 'tables' | 'access'> {
  const { schema } = config
  const [first, ...others] = profileOf(config).tables
  const open = (table: TableProfile): DeploymentTable => ({
    name: table.table,
    table,
    store: createPostgresStore({ client, table, schema }),
    ...(watchOf === undefined
      ? {}
      : { presence: watchOf(table), countWatchers: () => countWatchers(client, schema, table) }),
  })
  const access = createPostgresAccess({ client, table: first, schema })
  return { tables: [open(first), ...others.map(open)], access }
}

/** The URL for heartbeats and notifications. */
export async function findDirectUrl({ directUrl }: Config, databaseUrl: string): Promise<string> {
  if (directUrl === null || directUrl === databaseUrl || isNeo4jUrl(databaseUrl)) return databaseUrl
  await requireSameDatabase(databaseUrl, directUrl)
  return directUrl
}
