// What is installed, and whether it is what this version would install. Changes nothing.

import { nativeProfile } from '../../../profile/native.ts'
import type { Profile } from '../../../profile/profile.ts'
import type { Row } from '../executor.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql } from '../sql-files.ts'
import { columnStatements } from './column-statements.ts'
import { inspectTable } from './inspect-table.ts'
import { type MigrationSession, withMigrationSession } from './migration-session.ts'
import { attachmentFunctions, coreFunctions, functionsDigest, indexStatements, migrations } from './plan.ts'

export interface MigrationStatus {
  isInstalled: boolean
  applied: string[]
  pending: string[]
  /** Applied by a version that knows more than this one. */
  unknown: string[]
  tables: TableStatus[]
  isCurrent: boolean
}

export interface TableStatus {
  attachment: string
  table: string
  /** `current`, or what `migrate up` would change. */
  state: 'current' | 'not attached' | 'functions differ' | 'indexes missing or invalid'
}

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
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0] }
  return withMigrationSession({ databaseUrl, lockTimeoutMs: 2_000 }, async (session) => {
    const [facts] = await session.query('server_facts', base)
    const isInstalled = facts?.['has_attachments'] === true
    const applied = isInstalled ? names(await session.query('list_migrations', base)) : []
    const known = migrations().map(({ name }) => name)
    const attached = isInstalled ? await session.query('list_attachments', base) : []
    const tables: TableStatus[] = []
    for (const table of profile.tables) tables.push(await tableStatus(session, { ...base, table }, attached))
    const pending = known.filter((name) => !applied.includes(name))
    const unknown = applied.filter((name) => !known.includes(name))
    const isCurrent =
      pending.length + unknown.length === 0 && tables.every(({ state }) => state === 'current')
    return { isInstalled, applied, pending, unknown, tables, isCurrent }
  })
}

const names = (rows: Row[]) => rows.map((row) => String(row['name']))

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
  const facts = await inspectTable(session, options)
  const statusType = facts.statusType === undefined ? {} : { statusType: facts.statusType }
  const digest = functionsDigest(attachmentFunctions({ ...options, ...statusType }))
  if (row['functions_digest'] !== digest) return status('functions differ')
  const hasIndexes = indexStatements(options).every(({ name }) => facts.indexes[name] === true)
  return status(hasIndexes ? 'current' : 'indexes missing or invalid')
}

/** Everything `migrate up` would run on an empty database, as one text for a review or another migration tool. */
export function migrationSql(schema: string, profile: Profile): string {
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0], profile: 'native' }
  const attached = profile.name === 'native' ? [] : profile.tables
  const parts = [
    render(readSql('attach', 'schema'), base),
    ...migrations().map(({ name, text }) => `-- migration ${name}\n${render(text, base)}`),
    ...coreFunctions(base).map(({ text }) => text),
    tableSql(base, false),
    ...attached.map((table) => tableSql({ schema, table, profile: profile.name, isConcurrent: true }, true)),
  ]
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`
}

function tableSql(options: RenderOptions, isAttached: boolean): string {
  const { table } = options
  const columns = isAttached ? columnStatements().map(({ sql }) => render(sql, options)) : []
  const indexes = indexStatements(options).map(({ sql }) => sql)
  return [
    `-- table ${table.schema}.${table.table}`,
    ...columns,
    render(readSql('attach', 'register'), options),
    ...attachmentFunctions(options).map(({ text }) => text),
    ...indexes,
  ].join('\n\n')
}
