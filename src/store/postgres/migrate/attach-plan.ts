// The statements that an attach would run on this database, without those already applied. Read-only: they come from the
// same files as those of `migrate up`.

import { nativeProfile } from '../../../profile/native.ts'
import type { Feature, Profile, TableProfile } from '../../../profile/profile.ts'
import { describeAhead } from '../../../profile/time-type.ts'
import type { Row } from '../connection/executor.ts'
import { replacedIndexes } from '../render/index-names.ts'
import type { RenderOptions } from '../render/render.ts'
import { readSql } from '../sql-files.ts'
import { assertProfile } from './inspect/check-profile.ts'
import { usableIndexes } from './inspect/index-forms.ts'
import { inspectTable, readTable, renderFacts, type TableFacts } from './inspect/inspect-table.ts'
import { timesAhead } from './inspect/inspect-times.ts'
import { assertKnownWords } from './inspect/inspect-words.ts'
import { type PolicyDrift, readPolicyDrift } from './inspect/policy-drift.ts'
import { areThere, engineStatus } from './migrate-status.ts'
import { assertNotTaken, assertSchemaIsFree } from './migrate-up.ts'
import { newerSchema } from './newer-schema.ts'
import type { MigrationSession } from './session/migration-session.ts'
import { withReadingSession } from './session/reading-session.ts'
import { withShard } from './shard-number.ts'
import { columnsSql, functionsSql, migrationsSql, nativeSql } from './statements/migration-sql.ts'
import {
  attachmentFunctions,
  dropStatement,
  functionsDigest,
  type IndexStatement,
  indexStatements,
  migrations,
  wantedIndexes,
} from './statements/plan.ts'
import { stateNotes, timeNotes } from './statements/plan-notes.ts'
import { type PlannedTable, plannedColumns } from './statements/planned-columns.ts'

export interface PlanStep {
  title: string
  /** Run in one transaction; otherwise statements that cannot run in any. */
  isTransaction: boolean
  statements: string[]
}

export interface AttachPlan {
  database: string
  /** Lock timeout, sent first on every connection. */
  limitLocks: string
  /** The same for concurrent builds, which wait for old transactions and block nobody. */
  limitWaits: string
  /** Empty if nothing is missing. */
  steps: PlanStep[]
  /** Tables to be attached. They start in mode observe. */
  newTables: string[]
  /** Attached tables whose stored policy differs from the profile. No step changes it. */
  policyDrift: PolicyDrift[]
  /** The columns that are added to each table, and their purpose. */
  tables: PlannedTable[]
  /** How the times of the tables are used, if they are no `timestamptz`. */
  notes: string[]
}

export interface AttachPlanOptions {
  databaseUrl: string
  schema: string
  profile: Profile
  hasDocumentIndexes?: boolean
  /** Features whose columns are added, beside those that the profile uses. */
  features?: readonly Feature[]
  /** Default: true. False for tools that run everything in a transaction. */
  isConcurrent?: boolean
}

export async function planAttach(options: AttachPlanOptions): Promise<AttachPlan> {
  const { databaseUrl, schema, profile } = options
  assertProfile(schema, profile)
  const unnumbered: RenderOptions = { schema, table: nativeProfile(schema).tables[0], profile: 'native' }
  return withReadingSession(databaseUrl, async (session) => {
    const [server] = await session.run(readSql('scan', 'server'))
    const [facts = {}] = await session.query('server_facts', unnumbered)
    const base = await withShard(session, unnumbered, facts)
    const isInstalled = facts['is_installed'] === true
    const attached = isInstalled ? await session.query('list_attachments', base) : []
    const steps: PlanStep[] = []
    const tables: PlannedTable[] = []
    const policyDrift: PolicyDrift[] = []
    const newTables: string[] = []
    const notes: string[] = []
    for (const table of profile.name === 'native' ? [] : profile.tables) {
      const planned = await tableSteps(session, options, table, attached)
      steps.push(...planned.steps)
      tables.push(planned.added)
      notes.push(...planned.notes)
      if (isNew(attached.find(({ name }) => name === table.attachment)))
        newTables.push(`${table.schema}.${table.table}`)
      if (attached.some(({ name }) => name === table.attachment))
        policyDrift.push(...(await readPolicyDrift(session, { schema, table, profile: profile.name })))
    }
    if (!isInstalled) await assertSchemaIsFree(session, base, facts)
    const engine = isInstalled
      ? await upgradeSteps(session, base, attached)
      : await engineSteps(session, base, facts)
    return {
      database: String(server?.['database']),
      limitLocks: readSql('attach/session', 'limit_locks').trim(),
      limitWaits: readSql('attach/session', 'limit_waits').trim(),
      steps: [...engine, ...steps].filter(({ statements }) => statements.length > 0),
      newTables,
      policyDrift,
      tables,
      notes,
    }
  })
}

/** Not attached, or only partly. */
const isNew = (attached: Row | undefined) => (attached?.['functions_digest'] ?? null) === null

async function engineSteps(session: MigrationSession, base: RenderOptions, facts: Row): Promise<PlanStep[]> {
  const hasJobs = facts['has_jobs'] === true
  const engine = transaction(`the engine, in schema ${base.schema}`, [
    ...migrationsSql(base, migrations()),
    ...nativeSql(base, !hasJobs),
  ])
  if (!hasJobs) return [engine]
  const { indexes } = await readTable(session, base)
  const concurrent = { ...base, isConcurrent: true }
  return [engine, indexStep(concurrent, indexStatements(concurrent), indexes)]
}

async function upgradeSteps(
  session: MigrationSession,
  base: RenderOptions,
  attached: Row[],
): Promise<PlanStep[]> {
  const applied = new Set((await session.query('list_migrations', base)).map(({ name }) => String(name)))
  const known = migrations()
  const stranger = [...applied].find((name) => !known.some((migration) => migration.name === name))
  if (stranger !== undefined) throw newerSchema(stranger)
  const pending = known.filter(({ name }) => !applied.has(name))
  const isCurrent = (await engineStatus(session, base, attached)) === 'current'
  return [
    transaction(`the engine, in schema ${base.schema}`, [
      ...(pending.length === 0 ? [] : migrationsSql(base, pending)),
      ...(isCurrent && pending.length === 0 ? [] : nativeSql(base, false)),
    ]),
  ]
}

async function tableSteps(
  session: MigrationSession,
  { schema, profile, hasDocumentIndexes, features = [], isConcurrent = true }: AttachPlanOptions,
  table: TableProfile,
  attached: Row[],
): Promise<{ steps: PlanStep[]; added: PlannedTable; notes: string[] }> {
  const plain: RenderOptions = { schema, table, profile: profile.name, isConcurrent }
  const row = attached.find(({ name }) => name === table.attachment)
  const facts = await inspectTable(session, plain, { isAttached: row !== undefined })
  const options: RenderOptions = { ...plain, ...renderFacts(table, facts, features) }
  assertNotTaken(options, attached)
  if (isNew(row)) await assertKnownWords(session, options)
  const indexes = wantedIndexes(options, hasDocumentIndexes)
  const usable = usableIndexes(facts, indexes)
  const name = `${table.schema}.${table.table}`
  const steps = [
    transaction(
      `the columns of ${name}`,
      columnsStatements(options, indexes, { ...facts, indexes: usable }, row),
    ),
    { ...indexStep(options, indexes, usable), isTransaction: !isConcurrent },
    transaction(
      `the functions of ${name}`,
      (await hasFunctions(session, options, row)) ? [] : functionsSql(options, isNew(row)),
    ),
    { ...replacedStep(options, facts.indexes), isTransaction: !isConcurrent },
  ]
  return {
    steps,
    added: plannedColumns(options, facts.columns),
    notes: [...stateNotes(options), ...timeNotes(options), ...(await aheadNotes(session, options))],
  }
}

async function aheadNotes(session: MigrationSession, options: RenderOptions): Promise<string[]> {
  return (await timesAhead(session, options)).map((time) => `! ${describeAhead(time)}`)
}

/** Includes the registration if anything is added, because a removal must know it. */
function columnsStatements(
  options: RenderOptions,
  indexes: IndexStatement[],
  facts: TableFacts,
  row: Row | undefined,
): string[] {
  const statements = columnsSql(options, indexes, (column) => column in facts.columns)
  const records = columnsSql(options, indexes, () => true)
  const areIndexesThere = indexes.every(({ name }) => facts.indexes[name] === true)
  const isDone = row !== undefined && statements.length === records.length && areIndexesThere
  return isDone ? [] : statements
}

/** `if not exists` would accept the invalid index that a failed build leaves, and one of a former profile. */
function indexStep(options: RenderOptions, wanted: IndexStatement[], found: TableFacts['indexes']): PlanStep {
  const missing = wanted.filter(({ name }) => found[name] !== true)
  const isFirst = ({ name }: IndexStatement, place: number) => missing[place - 1]?.name !== name
  const statements = missing.flatMap((index, place) =>
    found[index.name] === false && isFirst(index, place)
      ? [dropStatement(options, index.name), index.sql]
      : [index.sql],
  )
  const { schema, table } = options.table
  return { title: `the indexes of ${schema}.${table}`, isTransaction: false, statements }
}

/** After the functions, because those of the former profile used it. */
function replacedStep(options: RenderOptions, found: TableFacts['indexes']): PlanStep {
  const { schema, table } = options.table
  const title = `the indexes of ${schema}.${table} that were replaced`
  const statements = replacedIndexes(options)
    .filter((index) => index in found)
    .map((index) => dropStatement(options, index))
  return { title, isTransaction: false, statements }
}

async function hasFunctions(
  session: MigrationSession,
  options: RenderOptions,
  row: Row | undefined,
): Promise<boolean> {
  const functions = attachmentFunctions(options)
  return row?.['functions_digest'] === functionsDigest(functions) && areThere(session, options, functions)
}

function transaction(title: string, statements: string[]): PlanStep {
  const all = statements.length === 0 ? [] : [readSql('attach/session', 'without_jit'), ...statements]
  return { title, isTransaction: true, statements: all.map((statement) => statement.trim()) }
}
