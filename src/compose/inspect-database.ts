// Read-only views of the configured database, for attach, scan and doctor.
import { type Config, profileOf } from '../config/index.ts'
import type { DoctorFacts } from '../doctor/facts.ts'
import { shippedProfile, shippedProfileNames } from '../profile/shipped.ts'
import { isNeo4jUrl, readNeo4jFacts } from '../store/neo4j/deferred-store.ts'
import type { GraphFacts } from '../store/ports/graph-facts.ts'
import type { ShapedTable } from '../store/postgres/migrate/inspect/table-shapes.ts'
import type { ScanReport } from '../store/postgres/scan/scan-database.ts'
import { createInstaller } from './installer.ts'
import { loadPostgres } from './load-postgres.ts'
import { requirePostgres, requireUrl } from './require-url.ts'

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
export async function examine(config: Config): Promise<DoctorFacts | GraphFacts> {
  const { schema, policy } = config
  const { tables } = profileOf(config)
  if (isNeo4jUrl(config.databaseUrl)) return readNeo4jFacts(config.databaseUrl, tables[0], policy)
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
      connections: config.connections,
      isOwnProfile: config.ownProfile !== null,
      route: () => readRoute(databaseUrl, config.directUrl ?? databaseUrl),
    }),
  )
}
