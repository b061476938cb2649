// The one place that names a concrete store: configuration in, a working deployment out.
import type * as Embedded from '@unstuck/embedded'
import pg from 'pg'
import type { Config } from './config/index.ts'
import { UnstuckError } from './errors/index.ts'
import type { TableProfile } from './profile/profile.ts'
import { shippedProfile } from './profile/shipped.ts'
import type { JobStore } from './store/job-store.ts'
import {
  createPostgresStore,
  inTransaction,
  type MigrationStatus,
  migrateDown,
  migrateStatus,
  migrateUp,
  migrationSql,
  type SqlClient,
} from './store/postgres/index.ts'

export type { SqlClient } from './store/postgres/index.ts'

export interface DeploymentTable {
  name: string
  table: TableProfile
  store: JobStore<SqlClient>
}

export interface Deployment {
  tables: [DeploymentTable, ...DeploymentTable[]]
  close(): Promise<void>
}

export interface OpenTableOptions {
  databaseUrl: string
  schema: string
  table: TableProfile
  applicationName?: string
  connections?: number
  /** A statement that takes longer is given up, and its connection with it: for sockets that hang. */
  queryTimeoutMs?: number
}

export interface OpenTable {
  store: JobStore<SqlClient>
  transaction: <T>(work: (client: SqlClient) => Promise<T>) => Promise<T>
  close(): Promise<void>
}

/** One table over connections of its own. */
export function openTable(options: OpenTableOptions): OpenTable {
  const { schema, table } = options
  const pool = openPool(options)
  return {
    store: createPostgresStore({ client: pool, table, schema }),
    transaction: (work) => inTransaction(pool, work),
    close: () => pool.end(),
  }
}

function openPool({
  databaseUrl,
  applicationName,
  connections,
  queryTimeoutMs,
}: Omit<OpenTableOptions, 'schema' | 'table'>): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: applicationName ?? 'unstuck',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    ...(connections === undefined ? {} : { max: connections }),
    ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }),
  })
  // An idle connection that breaks is replaced by the pool; the next query tells whether the database is there.
  pool.on('error', () => {})
  return pool
}

/** The tables of the configured profile over one pool of connections. */
export function openDeployment(config: Config, databaseUrl = requireUrl(config.databaseUrl)): Deployment {
  const pool = openPool({ databaseUrl })
  const [first, ...others] = shippedProfile(config.profile, config.schema).tables
  const open = (table: TableProfile): DeploymentTable => ({
    name: table.table,
    table,
    store: createPostgresStore({ client: pool, table, schema: config.schema }),
  })
  return { tables: [open(first), ...others.map(open)], close: () => pool.end() }
}

export interface Installer {
  up(onStep?: (step: string) => void): Promise<void>
  /** Answers false where there was nothing to take out. */
  down(options: { isPurge: boolean; onStep?: (step: string) => void }): Promise<boolean>
  status(): Promise<MigrationStatus>
  /** What `up` would run on an empty database; needs no connection. */
  sql(): string
}

export function createInstaller(config: Config, url?: string): Installer {
  const { schema } = config
  const profile = shippedProfile(config.profile, schema)
  const target = () => ({ databaseUrl: url ?? requireUrl(config.migrateUrl), schema, profile })
  return {
    up: (onStep) => migrateUp({ ...target(), ...(onStep === undefined ? {} : { onStep }) }),
    down: ({ isPurge, onStep }) =>
      migrateDown({ ...target(), isPurge, ...(onStep === undefined ? {} : { onStep }) }),
    status: () => migrateStatus(target()),
    sql: () => migrationSql(schema, profile),
  }
}

export interface DevelopmentDatabase {
  url: string
  /** What it is, for people. */
  description: string
  stop(): Promise<void>
}

/** The configured database, else an embedded PostgreSQL that goes away at stop: for demos and development. */
export async function openDevelopmentDatabase(config: Config): Promise<DevelopmentDatabase> {
  if (config.databaseUrl !== null) {
    return { url: config.databaseUrl, description: 'the database of DATABASE_URL', stop: async () => {} }
  }
  const { startPostgres } = await importEmbedded()
  const server = await startPostgres({ persistent: false })
  return { url: server.url, description: `embedded PostgreSQL ${server.version}`, stop: () => server.stop() }
}

async function importEmbedded(): Promise<Pick<typeof Embedded, 'startPostgres'>> {
  try {
    return await import('@unstuck/embedded')
  } catch (cause) {
    throw new UnstuckError(
      'INVALID_CONFIG',
      'no database: DATABASE_URL is not set and @unstuck/embedded is not installed',
      {
        hint: 'Set DATABASE_URL, or: npm install --save-dev @unstuck/embedded',
        cause,
      },
    )
  }
}

/** The address of the database, or one clear error. */
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
