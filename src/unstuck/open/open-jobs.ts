import {
  type Database,
  type OpenShards,
  type OpenTable,
  openDatabase,
  openShards,
  openStore,
  openTable,
} from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { UnstuckOptions } from '../options.ts'

export interface OpenJobs {
  open: OpenTable
  /** Its URL is empty with a store inside the process, or a pool of the application. */
  database: Database
  /** Undefined for a single database. */
  shards: OpenShards | undefined
}

const noDatabase: Database = { url: async () => '', close: async () => {} }

/** Opens the application's own store, its shards, or its table. */
export function openJobs(
  options: UnstuckOptions,
  config: Config,
  table: TableProfile,
  events: RuntimeEventEmitter,
): OpenJobs {
  if (options.store !== undefined)
    return { open: openStore(options.store), database: noDatabase, shards: undefined }
  const warn = (warning: string) => events.emit('config:warned', { warning })
  const database = options.pool === undefined ? openDatabase(config, warn) : noDatabase
  const limits = {
    connections: options.connections ?? config.connections,
    ...(options.txTimeoutMs === undefined ? {} : { txTimeoutMs: options.txTimeoutMs }),
    ...(options.txConnections === undefined ? {} : { transactionConnections: options.txConnections }),
  }
  if (config.shards !== null) {
    const shards = openShards({
      ...limits,
      shards: config.shards,
      route: config.shardRoute,
      onReach: (shard, error) => {
        if (error === null) events.emit('shard:answered', { shard })
        else events.emit('shard:silent', { shard, error })
      },
    })
    return { open: shards, database, shards }
  }
  const open = openTable({
    pool: options.pool,
    databaseUrl: config.databaseUrl ?? (() => database.url()),
    schema: config.schema,
    table,
    onNotice: (notice) => events.emit('jobs:not-understood', notice),
    ...limits,
  })
  return { open, database, shards: undefined }
}
