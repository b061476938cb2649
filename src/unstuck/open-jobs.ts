import { type Database, type OpenTable, openDatabase, openStore, openTable } from '../compose/index.ts'
import type { Config } from '../config/index.ts'
import type { TableProfile } from '../profile/profile.ts'
import type { UnstuckOptions } from './options.ts'

export interface OpenJobs {
  open: OpenTable
  /** Its URL is empty with a store inside the process. */
  database: Database
}

const noDatabase: Database = { url: async () => '', close: async () => {} }

/** Opens the application's own store, or its table. */
export function openJobs(
  options: UnstuckOptions,
  config: Config,
  table: TableProfile,
  warn: (warning: string) => void,
): OpenJobs {
  if (options.store !== undefined) return { open: openStore(options.store), database: noDatabase }
  const database = openDatabase(config, warn)
  const open = openTable({
    databaseUrl: config.databaseUrl ?? (() => database.url()),
    schema: config.schema,
    table,
    connections: options.connections ?? config.connections,
    ...(options.txTimeoutMs === undefined ? {} : { txTimeoutMs: options.txTimeoutMs }),
    ...(options.txConnections === undefined ? {} : { transactionConnections: options.txConnections }),
  })
  return { open, database }
}
