// Composes a deployment from a configuration. Only this folder names concrete stores.
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import type * as Embedded from '@unstuck/embedded'
import { type Config, profileOf } from '../config/index.ts'
import type { DoctorFacts } from '../doctor/facts.ts'
import { UnstuckError } from '../errors/index.ts'
import type { TableProfile } from '../profile/profile.ts'
import { shippedProfile, shippedProfileNames } from '../profile/shipped.ts'
import type { AccessStore } from '../store/access-store.ts'
import { notSupported } from '../store/capability.ts'
import type { JobStore } from '../store/job-store.ts'
import { deferNeo4jInstaller, deferNeo4jStore, isNeo4jUrl, noTables } from '../store/neo4j/deferred-store.ts'
import { requireSameDatabase } from '../store/postgres/connection/connection-identity.ts'
import { openConnectionPool } from '../store/postgres/connection/connection-pool.ts'
import type { SqlClient } from '../store/postgres/connection/executor.ts'
import type { AttachPlan } from '../store/postgres/migrate/attach-plan.ts'
import type { EngineUse } from '../store/postgres/migrate/inspect/engine-use.ts'
import type { ShapedTable } from '../store/postgres/migrate/inspect/table-shapes.ts'
import type { MigrateDownOptions } from '../store/postgres/migrate/migrate-down.ts'
import type { MigrationStatus } from '../store/postgres/migrate/migrate-status.ts'
import { migrationSql } from '../store/postgres/migrate/statements/migration-sql.ts'
import { rolesSql } from '../store/postgres/migrate/statements/roles-sql.ts'
import { createPostgresAccess } from '../store/postgres/ports/access.ts'
import { createPostgresStore } from '../store/postgres/postgres-store.ts'
import type { ScanReport } from '../store/postgres/scan/scan-database.ts'

export type { SqlClient } from '../store/postgres/connection/executor.ts'
export { listen } from '../store/postgres/connection/listen.ts'
export type { AttachPlan } from '../store/postgres/migrate/attach-plan.ts'
export type { EngineUse } from '../store/postgres/migrate/inspect/engine-use.ts'
export type { ShapedTable } from '../store/postgres/migrate/inspect/table-shapes.ts'
export { planText, statementsOf, withLimits } from '../store/postgres/migrate/statements/plan-text.ts'
export type { ScannedTable, ScanReport } from '../store/postgres/scan/scan-database.ts'
export { type OpenTable, openTable } from './open-table.ts'

export interface DeploymentTable {
  name: string
  table: TableProfile
  store: JobStore<SqlClient>
}

export interface Deployment {
  tables: [DeploymentTable, ...DeploymentTable[]]
  /** Access to the whole install, for the HTTP API. */
  access: AccessStore
  /** The same in read-only transactions of 2 s at most, for people who look. */
  reading: Pick<Deployment, 'tables' | 'access'>
  close(): Promise<void>
}

/** Opens the tables of the configured profile over one connection pool. */
export function openDeployment(config: Config, databaseUrl = requireUrl(config.databaseUrl)): Deployment {
  if (isNeo4jUrl(databaseUrl)) return openNeo4j(config, databaseUrl)
  const { client, reader, close } = openConnectionPool({ databaseUrl })
  return { ...openTables(config, client), reading: openTables(config, reader), close }
}

function openNeo4j(config: Config, databaseUrl: string): Deployment {
  const [table] = profileOf(config).tables
  const { name, store, access, close } = deferNeo4jStore(databaseUrl, table.policy)
  const tables: Deployment['tables'] = [{ name, table, store }]
  return { tables, access, reading: { tables, access }, close }
}

function openTables(config: Config, client: SqlClient): Pick<Deployment, 'tables' | 'access'> {
  const { schema } = config
  const [first, ...others] = profileOf(config).tables
  const open = (table: TableProfile): DeploymentTable => ({
    name: table.table,
    table,
    store: createPostgresStore({ client, table, schema }),
  })
  const access = createPostgresAccess({ client, table: first, schema })
  return { tables: [open(first), ...others.map(open)], access }
}

export interface Installer {
  /** Describes where it installs. */
  place: string
  /** Describes what remains of the jobs after `down`. */
  keptJobs: string
  /** `phases` are steps of the profile's own plan, if it has one. Default: all. */
  up(onStep?: (step: string) => void, phases?: number[], options?: UpOptions): Promise<void>
  /** The statements `up` would run on this database. Read-only. */
  plan(options?: IndexOption & { isConcurrent?: boolean }): Promise<AttachPlan>
  /** Returns false if nothing was installed. */
  down(options: Pick<MigrateDownOptions, 'isPurge' | 'only' | 'onStep'>): Promise<boolean>
  /** Who depends on the engine and would be affected by `down`. Read-only. */
  readUse(): Promise<EngineUse>
  status(): Promise<MigrationStatus>
  /** The statements `up` would run on an empty database. Needs no connection. */
  sql(): string
  /** The worker role and its grants, or the grants of another role. Needs no connection. */
  rolesSql(role?: string): string
}

export interface IndexOption {
  /** Also creates the indexes that the team's document names. */
  hasDocumentIndexes?: boolean
}

export interface UpOptions extends IndexOption {
  /** Tables attached by this run start in observe mode instead of reap. */
  startsObserved?: boolean
}

export function createInstaller(config: Config, url?: string, profile = profileOf(config)): Installer {
  const { schema } = config
  const address = () => url ?? requireUrl(config.migrateUrl)
  const target = () => ({ databaseUrl: address(), schema, profile })
  if (isNeo4jUrl(url ?? config.migrateUrl)) return deferNeo4jInstaller(address())
  return {
    place: `schema ${schema}`,
    keptJobs: 'Native jobs, if there are any, were kept: unstuck migrate down --purge drops them.',
    up: async (onStep, phases, options) =>
      (await loadPostgres()).migrateUp({
        ...target(),
        ...(onStep === undefined ? {} : { onStep }),
        ...(phases === undefined ? {} : { phases }),
        ...options,
      }),
    plan: async (options) => (await loadPostgres()).planAttach({ ...target(), ...options }),
    down: async (options) => (await loadPostgres()).migrateDown({ ...target(), ...options }),
    readUse: async () => (await loadPostgres()).readEngineUse(address(), schema),
    status: async () => (await loadPostgres()).migrateStatus(target()),
    sql: () => migrationSql(schema, profile),
    rolesSql: (role) => rolesSql(schema, profile, role),
  }
}

/** Finds the tables of this name in the configured database, to draft a profile from. Read-only. */
export async function findTables(
  config: Config,
  named: { schema: string | null; table: string },
): Promise<ShapedTable[]> {
  const databaseUrl = requirePostgres(config.migrateUrl)
  return (await loadPostgres()).readTableShapes(databaseUrl, named)
}

/** Short enough not to disturb a production database. */
const SCAN_TIMEOUT_MS = 2_000

export interface ScanFor {
  olderThanMs: number
  onTable?: (table: string, index: number, count: number) => void
}

/** Finds stuck jobs of any queue library in the configured database. Read-only. */
export async function scan(config: Config, options: ScanFor): Promise<ScanReport> {
  const shipped = shippedProfileNames.map((name) => shippedProfile(name, config.schema))
  const profiles = config.ownProfile === null ? shipped : [config.ownProfile, ...shipped]
  const databaseUrl = requirePostgres(config.databaseUrl)
  return (await loadPostgres()).scanDatabase({
    databaseUrl,
    profiles,
    timeoutMs: SCAN_TIMEOUT_MS,
    ...options,
  })
}

/** Longer than that of a scan: doctor runs on request, against one's own table. */
const DOCTOR_TIMEOUT_MS = 5_000

/** Reads the facts for `doctor`, in read-only transactions. */
export async function examine(config: Config): Promise<DoctorFacts> {
  const { schema, policy } = config
  const { tables } = profileOf(config)
  if (isNeo4jUrl(config.databaseUrl)) throw notSupported('Neo4j', 'doctor')
  const databaseUrl = requireUrl(config.databaseUrl)
  const options = { databaseUrl, schema, timeoutMs: DOCTOR_TIMEOUT_MS }
  const [{ readRoute, withDoctorReader }, { readFacts }] = await Promise.all([
    loadPostgres(),
    import('../doctor/read-facts.ts'),
  ])
  return withDoctorReader(options, (reader) =>
    readFacts({
      ...reader,
      migrations: () => createInstaller(config).status(),
      tables: tables.map((table) => ({ table, store: reader.storeOf(table) })),
      override: policy,
      isOwnProfile: config.ownProfile !== null,
      route: () => readRoute(databaseUrl, config.directUrl ?? databaseUrl),
    }),
  )
}

/** The URL for heartbeats and notifications. */
export async function findDirectUrl({ directUrl }: Config, databaseUrl: string): Promise<string> {
  if (directUrl === null || directUrl === databaseUrl || isNeo4jUrl(databaseUrl)) return databaseUrl
  await requireSameDatabase(databaseUrl, directUrl)
  return directUrl
}

export interface DevelopmentDatabase {
  url: string
  /** For display. */
  description: string
  stop(): Promise<void>
}

/** The configured database, else an embedded PostgreSQL that is deleted at stop, for demos. */
export async function openDevelopmentDatabase(config: Config): Promise<DevelopmentDatabase> {
  if (config.databaseUrl !== null) {
    return { url: config.databaseUrl, description: 'the database of DATABASE_URL', stop: async () => {} }
  }
  const { startPostgres } = await importEmbedded()
  const server = await startPostgres({ persistent: false })
  return { url: server.url, description: `embedded PostgreSQL ${server.version}`, stop: () => server.stop() }
}

export interface Database {
  /** URL of the database. An embedded one is started and installed at the first call. */
  url(): Promise<string>
  /** Stops an embedded database when its last user in this process has closed it. */
  close(): Promise<void>
}

/**
 * The configured database. If none is configured, an embedded PostgreSQL whose data stays in `.unstuck`, but never in
 * production: jobs would be stored inside a container. `print` gets one line when it has started.
 */
export function openDatabase(config: Config, print: (line: string) => void = () => {}): Database {
  const { databaseUrl } = config
  if (databaseUrl !== null) return { url: async () => databaseUrl, close: async () => {} }
  if (process.env['NODE_ENV'] === 'production') requireUrl(databaseUrl)
  if (!isEmbeddedInstalled()) throw noEmbedded()
  let starting: Promise<string> | undefined
  return {
    url() {
      starting ??= useEmbedded(config, print).catch((error: unknown) => {
        starting = undefined
        throw error
      })
      return starting
    },
    async close() {
      const wasUsed = starting
      starting = undefined
      if (wasUsed !== undefined && (await wasUsed.catch(() => null)) !== null) await embedded.letGo()
    },
  }
}

async function useEmbedded(config: Config, print: (line: string) => void): Promise<string> {
  const server = await embedded.hold()
  try {
    await createInstaller(config, server.url).up()
  } catch (error) {
    await embedded.letGo()
    throw error
  }
  const folder = relative(process.cwd(), server.dataDir)
  print(
    `DATABASE_URL is not set: an embedded PostgreSQL ${server.version} in ${folder} is used, for development only`,
  )
  return server.url
}

/** One server per process: a data directory allows only one. */
const embedded = {
  starting: undefined as Promise<Embedded.PostgresServer> | undefined,
  holders: 0,

  async hold(): Promise<Embedded.PostgresServer> {
    this.holders++
    this.starting ??= startEmbedded()
    try {
      return await this.starting
    } catch (error) {
      this.starting = undefined
      this.holders--
      throw error
    }
  },

  async letGo(): Promise<void> {
    if (--this.holders > 0) return
    const stopping = this.starting
    this.starting = undefined
    await (await stopping)?.stop()
  },
}

async function startEmbedded(): Promise<Embedded.PostgresServer> {
  const { startPostgres } = await importEmbedded()
  return startPostgres().catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new UnstuckError('INVALID_CONFIG', `no database: DATABASE_URL is not set, and ${message}`, {
      hint: 'Set DATABASE_URL: several processes cannot each start the embedded PostgreSQL of one folder.',
      cause,
    })
  })
}

function isEmbeddedInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('@unstuck/embedded')
    return true
  } catch {
    return false
  }
}

async function importEmbedded(): Promise<Pick<typeof Embedded, 'startPostgres'>> {
  try {
    return await import('@unstuck/embedded')
  } catch (cause) {
    throw noEmbedded(cause)
  }
}

function noEmbedded(cause?: unknown): UnstuckError {
  return new UnstuckError(
    'INVALID_CONFIG',
    'no database: DATABASE_URL is not set and @unstuck/embedded is not installed',
    {
      hint: 'Set DATABASE_URL, or: npm install --save-dev @unstuck/embedded',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

/** Loaded on demand: workers need neither the installer nor the scanners. */
const loadPostgres = () => import('../store/postgres/index.ts')

/** For commands that inspect tables. */
function requirePostgres(url: string | null): string {
  if (isNeo4jUrl(url)) throw noTables()
  return requireUrl(url)
}

/** The URL of the database, or a clear error. */
function requireUrl(url: string | null): string {
  if (url !== null) return url
  throw new UnstuckError(
    'INVALID_CONFIG',
    'DATABASE_URL: not set, takes postgres://user:password@host:port/database',
    {
      hint: 'Set DATABASE_URL, or pass --database-url.',
    },
  )
}
