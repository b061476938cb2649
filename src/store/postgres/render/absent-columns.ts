// Columns that a team's table does not have, because it does without their feature (ADR 0034). Reads get the value that the
// column would have in every row, and writes leave it out. Verbs that need the column refuse to run.
import { featureOf } from '../../../profile/features.ts'
import { type LogicalColumn, type TableProfile, timeColumns } from '../../../profile/profile.ts'
import { type ColumnAccess, expressionEnd } from './column-access.ts'
import { quoteLiteral } from './identifiers.ts'

const texts: ReadonlySet<LogicalColumn> = new Set([
  'queue',
  'owner',
  'dedupe_key',
  'stage',
  'error_category',
  'error_stack',
  'traceparent',
  'progress_text',
  'group_key',
])

function valueOf(table: TableProfile, column: LogicalColumn): string {
  if (column === 'type') return `${quoteLiteral(defaultTypeOf(table))}::text`
  if (column === 'priority') return '0::int'
  if (column === 'payload' || column === 'result') return 'null::jsonb'
  if (column === 'backoff_steps_ms') return 'null::bigint[]'
  if (column === 'progress_value') return 'null::float8'
  if (texts.has(column)) return 'null::text'
  return (timeColumns as readonly LogicalColumn[]).includes(column) ? 'null::timestamptz' : 'null::int'
}

/** The type of rows that were not enqueued through the engine, and of all if the table has no column for it. */
export const defaultTypeOf = ({ defaultType }: TableProfile): string => defaultType ?? 'job'

export function absentAccess(
  table: TableProfile,
  absent: ReadonlySet<LogicalColumn>,
): [LogicalColumn, ColumnAccess][] {
  return [...absent].map((column) => [
    column,
    { read: () => valueOf(table, column), assign: () => null, assignNew: () => null, insert: () => null },
  ])
}

/** The features of columns that the table lacks, by column, for the check of new jobs. */
export function absentFields(absent: ReadonlySet<LogicalColumn>): string {
  return JSON.stringify(Object.fromEntries([...absent].map((column) => [column, featureOf(column)])))
}

/** PostgreSQL orders nothing by an index whose first key is a constant. */
export function withoutAbsentKeys(sql: string, absent: ReadonlySet<LogicalColumn>): string {
  if (absent.size === 0) return sql
  let out = ''
  let at = 0
  for (const found of sql.matchAll(/\bon\s[^\n"]*"unstuck"\."jobs"\s+\(/g)) {
    const start = found.index + found[0].length
    const { keys, end } = keysAt(sql, start)
    const kept = keys.filter((key) => columnsIn(key).some((column) => !absent.has(column)))
    out += sql.slice(at, start) + kept.map((key) => key.trim()).join(', ')
    at = end
  }
  return out + sql.slice(at)
}

function keysAt(sql: string, start: number): { keys: string[]; end: number } {
  const keys: string[] = []
  let from = start
  for (;;) {
    const end = expressionEnd(sql, from)
    keys.push(sql.slice(from, end))
    if (sql[end] !== ',') return { keys, end }
    from = end + 1
  }
}

const columnsIn = (text: string) => [...text.matchAll(/"(\w+)"/g)].map(([, name]) => name as LogicalColumn)
