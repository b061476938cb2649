// Compares the installed engine and tables with those of this version. Read-only.
import { missingColumns, wantedColumns } from '../../../profile/features.ts'
import { nativeProfile } from '../../../profile/native.ts'
import type { Profile } from '../../../profile/profile.ts'
import type { Row } from '../connection/executor.ts'
import { hasUniqueKeys, replacedDedupeIndex } from '../render/index-names.ts'
import type { RenderOptions } from '../render/render.ts'
import type { SqlFile } from '../sql-files.ts'
import { isDistributedSchema } from './distribution.ts'
import { usableIndexes } from './inspect/index-forms.ts'
import { readTable, renderFacts } from './inspect/inspect-table.ts'
import { listRoutines } from './install-functions.ts'
import type { MigrationSession } from './session/migration-session.ts'
import { withReadingSession } from './session/reading-session.ts'
import { withShard } from './shard-number.ts'
import {
  attachmentFunctions,
  bodyDigest,
  engineFunctions,
  functionsDigest,
  indexStatements,
  migrations,
} from './statements/plan.ts'

export interface MigrationStatus {
  isInstalled: boolean
  applied: string[]
  pending: string[]
  /** Applied by a newer version. */
  unknown: string[]
  /** Shared functions and those of the native table. */
  engine: 'current' | 'not installed' | 'functions differ'
  tables: TableStatus[]
  isCurrent: boolean
}

export interface TableStatus {
  attachment: string
  table: string
  /** `current`, or the reason why `migrate up` would change it. */
  state: 'current' | 'not attached' | 'columns missing' | 'functions differ' | IndexState
}

type IndexState = 'indexes missing or invalid' | 'dedupe index unique, which the profile does not say'

export interface MigrateStatusOptions {
  databaseUrl: string
  schema: string
  profile: Profile
}

export async function migrateStatus({
  databaseUrl,
  schema,
  profile,
}: MigrateStatusOptions): Promise<MigrationStatus> {
  const native: RenderOptions = { schema, table: nativeProfile(schema).tables[0] }
  return withReadingSession(databaseUrl, async (session) => {
    const [facts = {}] = await session.query('server_facts', native)
    const numbered = await withShard(session, native, facts)
    const base = { ...numbered, isDistributed: await isDistributedSchema(session, native, facts) }
    const isInstalled = facts['is_installed'] === true
    const applied = isInstalled ? names(await session.query('list_migrations', base)) : []
    const known = migrations().map(({ name }) => name)
    const attached = isInstalled ? await session.query('list_attachments', base) : []
    const engine = isInstalled ? await engineStatus(session, base, attached) : 'not installed'
    const tables: TableStatus[] = []
    for (const table of profile.tables) {
      tables.push(await tableStatus(session, { ...base, table }, attached))
    }
    const pending = known.filter((name) => !applied.includes(name))
    const unknown = applied.filter((name) => !known.includes(name))
    const isCurrent =
      pending.length + unknown.length === 0 &&
      engine === 'current' &&
      tables.every(({ state }) => state === 'current')
    return { isInstalled, applied, pending, unknown, engine, tables, isCurrent }
  })
}

const names = (rows: Row[]) => rows.map((row) => String(row['name']))

export async function engineStatus(
  session: MigrationSession,
  base: RenderOptions,
  attached: Row[],
): Promise<MigrationStatus['engine']> {
  const functions = engineFunctions(base)
  const row = attached.find(({ name }) => name === 'native')
  const isCurrent =
    row?.['functions_digest'] === functionsDigest(functions) && (await areThere(session, base, functions))
  return isCurrent ? 'current' : 'functions differ'
}

async function tableStatus(
  session: MigrationSession,
  options: RenderOptions,
  attached: Row[],
): Promise<TableStatus> {
  const { table } = options
  const row = attached.find(({ name }) => name === table.attachment)
  const status = (state: TableStatus['state']): TableStatus => ({
    attachment: table.attachment,
    table: `${table.schema}.${table.table}`,
    state,
  })
  if (row === undefined) return status('not attached')
  const facts = await readTable(session, options)
  const wanted = wantedColumns(table)
  if (missingColumns(table, facts.columns).some((column) => wanted.has(column)))
    return status('columns missing')
  const rendered: RenderOptions = { ...options, ...renderFacts(table, facts) }
  const replaced = replacedDedupeIndex(rendered)
  if (replaced !== null && replaced in facts.indexes && !hasUniqueKeys(rendered))
    return status('dedupe index unique, which the profile does not say')
  const functions = attachmentFunctions(rendered)
  // Functions of the native table are recorded together with the shared ones.
  const recorded = table.attachment === 'native' ? engineFunctions(options) : functions
  const isRecorded = row['functions_digest'] === functionsDigest(recorded)
  if (!(isRecorded && (await areThere(session, options, functions)))) return status('functions differ')
  const changed = await session.query('changed_team_objects', options)
  if (changed.length > 0) return status('functions differ')
  const indexes = indexStatements(rendered)
  const usable = usableIndexes(facts, indexes)
  const hasIndexes = indexes.every(({ name }) => usable[name] === true)
  return status(hasIndexes ? 'current' : 'indexes missing or invalid')
}

/** Each function exists once, with the body of this version. */
export async function areThere(
  session: MigrationSession,
  options: RenderOptions,
  functions: SqlFile[],
): Promise<boolean> {
  const found = await listRoutines(
    session,
    options,
    functions.map(({ name }) => name),
  )
  const bodies = new Map(found.map(({ name, body }) => [name, body]))
  return (
    found.length === functions.length && functions.every((file) => bodies.get(file.name) === bodyDigest(file))
  )
}
