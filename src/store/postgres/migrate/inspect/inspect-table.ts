// Inspects a team's table before anything is written, and reports the first problem.
import { UnstuckError } from '../../../../errors/index.ts'
import { missingColumns, wantedColumns } from '../../../../profile/features.ts'
import { refusalOf } from '../../../../profile/infer/known-queues/refusal.ts'
import {
  columnName,
  type Feature,
  type LogicalColumn,
  logicalColumns,
  stateTimes,
  type TableProfile,
} from '../../../../profile/profile.ts'
import { isTimeType, type TimeTypes } from '../../../../profile/time-type.ts'
import type { Row } from '../../connection/executor.ts'
import type { StatusKind } from '../../render/pinned-operators.ts'
import { type Partition, type RenderOptions, render } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'
import type { MigrationSession } from '../session/migration-session.ts'
import { columnStatements } from '../statements/column-statements.ts'
import { withLiterals } from '../statements/statement-text.ts'
import type { IndexFacts } from './index-forms.ts'
import { assertTeamEvents } from './inspect-events.ts'
import { assertTimes, readTimeTypes } from './inspect-times.ts'
import { unsupported } from './unsupported.ts'

export interface TableFacts extends IndexFacts {
  columns: Record<string, ColumnFacts>
  /** Type to cast status words to, if the column is an enum. */
  statusType?: string
  statusKind?: StatusKind
  timeTypes: TimeTypes
  /** Set for a partitioned table. */
  partitions?: Partition[]
}

interface ColumnFacts {
  type: string
  /** Qualified, so that casts do not depend on the search_path. */
  enum_name: string | null
  /** Base type of a domain, or the type itself. */
  base_type: string
  /** Digits of a second, of a timestamp. */
  precision: number
  is_generated: boolean
  is_nullable: boolean
}

/** Facts about a table, whether it can be attached or not. */
export async function readTable(
  session: Pick<MigrationSession, 'query'>,
  options: RenderOptions,
): Promise<TableFacts> {
  return factsOf(options.table, await readRow(session, options))
}

/** Facts that rendering needs. With `features`, as they are once attach has added their columns. */
export function renderFacts(
  table: TableProfile,
  { columns, statusType, statusKind, timeTypes, partitions }: TableFacts,
  features?: readonly Feature[],
): Partial<RenderOptions> {
  const missing = missingColumns(table, columns)
  const added = features === undefined ? null : wantedColumns(table, features)
  return {
    timeTypes,
    absent: new Set(missing.filter((column) => added?.has(column) !== true)),
    ...(statusType === undefined ? {} : { statusType }),
    ...(statusKind === undefined ? {} : { statusKind }),
    ...(partitions === undefined ? {} : { partitions }),
  }
}

/** Facts about a table that can be attached; throws otherwise. */
export async function inspectTable(
  session: MigrationSession,
  options: RenderOptions,
  { isAttached }: { isAttached: boolean },
): Promise<TableFacts> {
  const { table } = options
  const row = await readRow(session, options)
  const facts = factsOf(table, row)
  const refusal = refusalOf({ ...table, columns: facts.columns }, { isAttached })
  if (refusal !== null) throw refusal
  assertKind(table, row)
  assertPrimaryKey(options, row, facts.columns)
  if (table.stateColumns === undefined) assertStatusColumn(table, facts.columns)
  else assertStateColumns(table, facts.columns)
  assertColumnTypes(table, facts.columns)
  assertNeverNull(table, facts.columns)
  assertLastError(table, facts.columns)
  assertPayload(table, facts.columns)
  await assertTimes(session, options, facts)
  if (table.stateColumns === undefined) await assertStatusWords(session, options)
  await assertTeamEvents(session, options)
  return facts
}

async function readRow(session: Pick<MigrationSession, 'query'>, options: RenderOptions): Promise<Row> {
  const { table } = options
  const [row] = await session.query('inspect_table', options, [
    table.schema,
    table.table,
    columnName(table, 'id'),
  ])
  if (row !== undefined) return row
  throw new UnstuckError(
    'TABLE_NOT_FOUND',
    `table ${table.schema}.${table.table}: not found in this database`,
    { hint: 'Check the schema and the name in the profile, and that DATABASE_URL is the database you mean.' },
  )
}

function factsOf(table: TableProfile, row: Row): TableFacts {
  const columns = row['columns'] as Record<string, ColumnFacts>
  const status = table.stateColumns === undefined ? columns[columnName(table, 'status')] : undefined
  const enumName = status?.enum_name ?? null
  const isText = status?.base_type === 'text' || status?.base_type === 'character varying'
  return {
    columns,
    indexes: row['indexes'] as Record<string, boolean>,
    indexForms: row['index_forms'] as IndexFacts['indexForms'],
    timeTypes: readTimeTypes(table, columns),
    ...(enumName === null ? {} : { statusType: enumName, statusKind: 'enum' as const }),
    ...(isText && status?.type !== 'text' ? { statusKind: 'text' as const } : {}),
    ...(row['kind'] === 'p' ? { partitions: (row['partitions'] ?? []) as Partition[] } : {}),
  }
}

const kinds: Record<string, string> = {
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
  S: 'a sequence',
}

function assertKind(table: TableProfile, row: Row): void {
  const kind = kinds[String(row['kind'])]
  if (kind !== undefined) throw unsupported(table, `it is ${kind}`, 'Attach the table behind it.')
  assertPartitions(table, row)
  if (row['is_in_hierarchy'] === true) {
    throw unsupported(
      table,
      'it is a partition, or inherits from a table or is inherited from',
      'Attach the partitioned table as a whole. Inheritance is not supported: attach a plain table.',
    )
  }
  if (row['is_unlogged'] === true) {
    const hint = `A crash of the server would empty it. ${String(row['set_logged'])}`
    throw unsupported(table, 'it is unlogged', hint)
  }
}

/** Columns that a job never changes. */
const keptColumns = new Set<LogicalColumn>([
  'id',
  'type',
  'queue',
  'payload',
  'owner',
  'created_at',
  'expected_duration_ms',
])

function assertPartitions(table: TableProfile, row: Row): void {
  const keys = (row['partition_columns'] ?? []) as string[]
  const written = logicalColumns.find(
    (column) => !keptColumns.has(column) && keys.includes(columnName(table, column)),
  )
  if (written !== undefined) {
    const hint = `A job changes its ${columnName(table, written)}: partition by another column.`
    throw unsupported(table, `it is partitioned by ${String(row['partition_key'])}`, hint)
  }
  const odd = ((row['partitions'] ?? []) as { table: string; kind: string }[]).find(
    ({ kind }) => kind !== 'r',
  )
  if (odd === undefined) return
  const what = odd.kind === 'p' ? 'partitioned itself' : 'a foreign table'
  throw unsupported(table, `its partition ${odd.table} is ${what}`, 'Partitions have to be plain tables.')
}

const idTypes = {
  uuid: ['uuid'],
  bigint: ['bigint', 'integer', 'smallint'],
  text: ['text', 'character varying', 'character'],
}

function assertPrimaryKey(options: RenderOptions, row: Row, columns: Record<string, ColumnFacts>): void {
  const { table } = options
  const key = row['primary_key'] as string[] | null
  const id = columnName(table, 'id')
  if (key === null) {
    const statement = render(readSql('attach/table', 'add_primary_key'), options).trim()
    throw unsupported(table, 'it has no primary key', `Add one: ${statement}`)
  }
  if (!key.includes(id)) {
    const problem = `its primary key is (${key.join(', ')}), not ${id}`
    throw unsupported(table, problem, 'Name its key column as id in the profile.')
  }
  const partitionColumns = (row['partition_columns'] ?? []) as string[]
  // PostgreSQL requires the partition columns in the key. They must follow the id, or no index finds a job by its id.
  const isComposite = key.some((column) => column !== id && !partitionColumns.includes(column))
  if (isComposite || key[0] !== id) {
    const problem = `its primary key is (${key.join(', ')}), more than ${id}`
    const hint = isComposite
      ? 'A job id is a single column: make it the primary key.'
      : `A job is found by its id: put ${id} first in the key.`
    throw unsupported(table, problem, hint)
  }
  const type = columns[id]?.type
  if (type !== undefined && !idTypes[table.idType].includes(type)) {
    const problem = `its column ${id} is ${type}, not ${table.idType}`
    throw unsupported(table, problem, 'Correct idType in the profile.')
  }
  if (table.idType === 'bigint' && row['id_sequence'] === null) {
    const hint = `Let it number itself: ${String(row['add_identity'])}`
    throw unsupported(table, `its column ${id} has no sequence of its own to take new ids from`, hint)
  }
}

function assertStatusColumn(table: TableProfile, columns: Record<string, ColumnFacts>): void {
  const name = columnName(table, 'status')
  const status = columns[name]
  if (status === undefined) {
    throw unsupported(table, `it has no column ${name}`, 'Name its status column in the profile.')
  }
  if (status.type === 'character') {
    const problem = `its column ${name} is character(n), which pads its words with blanks`
    throw unsupported(table, problem, 'Change its type to text.')
  }
}

/** A state begins when its time is set, and ends when it is cleared. */
function assertStateColumns(table: TableProfile, columns: Record<string, ColumnFacts>): void {
  for (const [state, name] of stateTimes(table)) {
    const found = columns[name]
    const problem =
      found === undefined
        ? `it has no column ${name}`
        : !isTimeType(found.type) || found.is_generated || !found.is_nullable
          ? `its column ${name} is no time that may be NULL`
          : null
    if (problem !== null) throw unsupported(table, problem, `Correct stateColumns.${state} in the profile.`)
  }
}

/** Existing columns must accept the values that the engine writes. */
function assertColumnTypes(table: TableProfile, columns: Record<string, ColumnFacts>): void {
  for (const { column, type } of columnStatements()) {
    const found = columns[columnName(table, column)]
    if (found === undefined || (!found.is_generated && type === 'timestamptz' && isTimeType(found.type)))
      continue
    if (found.is_generated || !compatible(column, type).includes(found.type)) {
      const what = found.is_generated ? 'generated' : found.type
      const problem = `its column ${columnName(table, column)} is ${what}, and the engine writes ${type}`
      throw unsupported(table, problem, `Map ${column} to another column in the profile: it will be added.`)
    }
  }
}

/** Functions take counts as int, and PostgreSQL casts no bigint to int implicitly. */
const counts = new Set<LogicalColumn>(['attempt', 'failures', 'crashes', 'timeouts', 'max_attempts'])

function compatible(column: LogicalColumn, type: string): string[] {
  if (type === 'bigint' || type === 'bigint[]') return [type]
  if (type === 'int') return ['smallint', 'integer', ...(counts.has(column) ? [] : ['bigint'])]
  if (type === 'jsonb') return ['json', 'jsonb']
  if (type === 'uuid') return ['uuid']
  if (type === 'float8') return ['double precision', 'real', 'numeric']
  return ['text', 'character varying']
}

/** Claims compare these columns, and a comparison with NULL is never true. */
const neverNull: LogicalColumn[] = ['type', 'priority', 'created_at']

function assertNeverNull(table: TableProfile, columns: Record<string, ColumnFacts>): void {
  for (const column of neverNull) {
    const name = columnName(table, column)
    if (columns[name]?.is_nullable !== true) continue
    throw unsupported(
      table,
      `its column ${name} may be NULL, and no claim would ever take such a row`,
      `Give it a default and NOT NULL, or map ${column} to another column in the profile: it will be added.`,
    )
  }
}

/** Must exist: attach does not add it. */
function assertLastError(table: TableProfile, columns: Record<string, ColumnFacts>): void {
  if (table.lastError === undefined) return
  const { column } = table.lastError
  const type = columns[column]?.type
  if (type === 'text' || type === 'character varying') return
  const problem =
    type === undefined ? `it has no column ${column}` : `its column ${column} is ${type}, not text`
  throw unsupported(table, problem, 'Name its column for error texts in the profile.')
}

function assertPayload({ payload = {}, ...table }: TableProfile, columns: Record<string, ColumnFacts>): void {
  for (const [key, name] of Object.entries(payload)) {
    if (columns[name] === undefined)
      throw unsupported(table, `it has no column ${name}`, `Correct payload.${key} in the profile.`)
  }
}

async function assertStatusWords(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { waiting, running, succeeded, dead, cancelled } = options.table.statuses
  const words = [waiting, ...running, succeeded, dead, ...(cancelled === null ? [] : [cancelled])]
  const values = [columnName(options.table, 'status'), words]
  await session.run(withLiterals(render(readSql('attach/table', 'status_words'), options), values))
  const rows = await session.query('refused_status_words', options)
  if (rows.length === 0) return
  const refused = rows.map((row) => `'${String(row['word'])}'`).join(', ')
  const hint =
    'Correct the words in the profile, or let the column’s type, its CHECK constraint or its enum take them.'
  throw unsupported(options.table, `its status column does not take ${refused}`, hint)
}
