// Looks at a team's table before anything is written, and says in one error what stands in the way.
import { UnstuckError } from '../../../errors/index.ts'
import { columnName, type TableProfile } from '../../../profile/profile.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql } from '../sql-files.ts'
import { columnStatements } from './column-statements.ts'
import type { MigrationSession } from './migration-session.ts'

export interface TableFacts {
  columns: Record<string, ColumnFacts>
  /** Whether each index of the table is valid. */
  indexes: Record<string, boolean>
  /** The type to cast status words to, where the column is an enum. */
  statusType?: string
}

interface ColumnFacts {
  type: string
  /** Qualified, so that a cast does not depend on anyone's search_path. */
  enum_name: string | null
  is_generated: boolean
}

const kinds: Record<string, string> = {
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
  S: 'a sequence',
}

export async function inspectTable(session: MigrationSession, options: RenderOptions): Promise<TableFacts> {
  const { table } = options
  const name = `${table.schema}.${table.table}`
  const [row] = await session.query('inspect_table', options, [table.schema, table.table])
  if (row === undefined) {
    throw new UnstuckError('TABLE_NOT_FOUND', `table ${name}: not found in this database`, {
      hint: 'Check the schema and the name in the profile, and that DATABASE_URL is the database you mean.',
    })
  }
  const kind = kinds[String(row['kind'])]
  if (kind !== undefined) throw unsupported(table, `it is ${kind}`, 'Attach the table behind it.')
  const columns = row['columns'] as Record<string, ColumnFacts>
  assertPrimaryKey(options, row['primary_key'] as string[] | null, columns)
  assertPartitioning(table, row['partition_key'] as string | null)
  const status = columns[columnName(table, 'status')]
  if (status === undefined) {
    throw unsupported(
      table,
      `it has no column ${columnName(table, 'status')}`,
      'Name its status column in the profile.',
    )
  }
  assertColumnTypes(table, columns)
  return {
    columns,
    indexes: row['indexes'] as Record<string, boolean>,
    ...(status.enum_name === null ? {} : { statusType: status.enum_name }),
  }
}

/** Inside the transaction of the install, where the function that asks the constraints is already there. */
export async function assertStatusWords(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { waiting, running, succeeded, dead, cancelled } = options.table.statuses
  const words = [waiting, ...running, succeeded, dead, ...(cancelled === null ? [] : [cancelled])]
  const rows = await session.query('refused_status_words', options, [
    words,
    columnName(options.table, 'status'),
  ])
  if (rows.length === 0) return
  const refused = rows.map((row) => `'${String(row['word'])}'`).join(', ')
  const hint = 'Correct the words in the profile, or let the table’s CHECK constraint or enum type take them.'
  throw unsupported(options.table, `its status column does not take ${refused}`, hint)
}

function assertPrimaryKey(
  options: RenderOptions,
  key: string[] | null,
  columns: Record<string, ColumnFacts>,
): void {
  const { table } = options
  const id = columnName(table, 'id')
  if (key === null) {
    throw unsupported(
      table,
      'it has no primary key',
      `Add one: ${render(readSql('attach', 'add_primary_key'), options).trim()}`,
    )
  }
  if (!key.includes(id)) {
    throw unsupported(
      table,
      `its primary key is (${key.join(', ')}), not ${id}`,
      'Name its key column as id in the profile.',
    )
  }
  const type = columns[id]?.type
  if (type !== undefined && !idTypes[table.idType].includes(type)) {
    throw unsupported(
      table,
      `its column ${id} is ${type}, not ${table.idType}`,
      'Correct idType in the profile.',
    )
  }
}

const idTypes = {
  uuid: ['uuid'],
  bigint: ['bigint', 'integer', 'smallint'],
  text: ['text', 'character varying', 'character'],
}

function assertPartitioning(table: TableProfile, partitionKey: string | null): void {
  const status = columnName(table, 'status')
  if (partitionKey?.includes(status)) {
    throw unsupported(
      table,
      `it is partitioned by ${partitionKey}`,
      'A job changes its status: partition by another column.',
    )
  }
}

/** A column that is there must be able to hold what the engine writes. */
function assertColumnTypes(table: TableProfile, columns: Record<string, ColumnFacts>): void {
  for (const { column, type } of columnStatements()) {
    const found = columns[columnName(table, column)]
    if (found === undefined) continue
    if (found.is_generated || !compatible(type).includes(found.type)) {
      const what = found.is_generated ? 'generated' : found.type
      const problem = `its column ${columnName(table, column)} is ${what}, and the engine writes ${type}`
      throw unsupported(table, problem, `Map ${column} to another column in the profile: it will be added.`)
    }
  }
}

function compatible(type: string): string[] {
  if (type === 'int' || type === 'bigint')
    return ['smallint', 'integer', 'bigint'].slice(type === 'bigint' ? 2 : 0)
  if (type === 'timestamptz') return ['timestamp with time zone']
  if (type === 'jsonb') return ['json', 'jsonb']
  if (type === 'uuid') return ['uuid']
  return ['text', 'character varying']
}

function unsupported(table: TableProfile, problem: string, hint: string): UnstuckError {
  return new UnstuckError('TABLE_UNSUPPORTED', `table ${table.schema}.${table.table}: ${problem}`, { hint })
}
