// Reads and writes a team's time columns that are not plain `timestamptz` (OPS-13): columns without a zone, integer epochs,
// and columns of a lower precision. The files of sql/ know only `timestamptz`; this rewrites their references to the columns:
//   job."run_at"               a read
//   "run_at" = expression      an assignment of UPDATE; in a trigger new."run_at" := expression
//   insert into (…) select …   an assignment per column
//   coalesce("run_at", …)      a read, in an index
// Every expression is immutable, so that indexes can use it, and leaves no operator to the search_path (C28).
import { columnName, type LogicalColumn, type TableProfile, timeColumns } from '../../../profile/profile.ts'
import { isFixedZone, type TimeType, type TimeTypes } from '../../../profile/time-type.ts'
import { quoteLiteral } from './identifiers.ts'

interface TimeTable {
  table: TableProfile
  timeTypes?: TimeTypes
}

/**
 * The time as `timestamptz`. In a zone with transitions an hour of each year is ambiguous: the later end is assumed, so that
 * a job never looks older than it is.
 */
export function readTime(column: string, type: TimeType | undefined): string {
  if (type === undefined || type.kind === 'zoned') return column
  if (type.kind === 'epoch')
    return `pg_catalog.to_timestamp(${column}::float8${type.unit === 'ms' ? ' / 1000::float8' : ''})`
  const read = `(${column} at time zone ${zoneText(type.zone)})`
  return isFixedZone(type.zone) ? read : `(${read} + '1 hour'::interval)`
}

/**
 * Ends of leases and due times are rounded up: a lease is never shorter than promised, and no job starts early. So are
 * heartbeats, which must not look older than they are. The time of a lock must not be later than the heartbeat that was written
 * with it, and a new job is due at once.
 */
const roundedDown: ReadonlySet<LogicalColumn> = new Set(['created_at', 'last_attempt_at'])

function writeTime(expression: string, column: LogicalColumn, type: TimeType): string {
  if (expression.trim() === 'null') return expression
  const isDown = roundedDown.has(column)
  const inZone = (zone: string) => `((${expression})::timestamptz at time zone ${zoneText(zone)})`
  if (type.kind === 'epoch') {
    const epoch = `extract(epoch from ${inZone('UTC')})${type.unit === 'ms' ? ' * 1000::numeric' : ''}`
    return `pg_catalog.${isDown ? 'floor' : 'ceil'}(${epoch})::bigint`
  }
  const rounding = roundingText(type.precision, isDown)
  if (type.kind === 'zoneless') return `${inZone(type.zone)}${rounding}`
  return `((${inZone('UTC')}${rounding}) at time zone 'UTC')`
}

/** PostgreSQL rounds to the nearest value of the column's precision; a shift before it rounds up or down. */
function roundingText(precision: number, isDown: boolean): string {
  if (precision >= 6) return ''
  const half = 10 ** (6 - precision) / 2
  return isDown ? ` - '${half} microseconds'::interval` : ` + '${half - 1} microseconds'::interval`
}

/** As an interval an offset has the sign that people use; as a text it would have that of POSIX. */
const zoneText = (zone: string) =>
  /^[+-]/.test(zone) ? `${quoteLiteral(zone)}::interval` : quoteLiteral(zone)

/** Takes the text of a file, before its names are replaced. */
export function withTimeColumns(sql: string, { table, timeTypes = {} }: TimeTable): string {
  const types = new Map<string, { column: LogicalColumn; type: TimeType }>()
  for (const column of timeColumns) {
    const type = timeTypes[columnName(table, column)]
    if (type !== undefined) types.set(column, { column, type })
  }
  if (types.size === 0) return sql
  const names = [...types.keys()].join('|')
  const written = (expression: string, name: string) => {
    const found = types.get(name)
    return found === undefined ? expression : writeTime(expression, found.column, found.type)
  }
  const assigned = withAssignments(withInserts(sql, written), names, written)
  // In an index, columns have no alias.
  const isIndex = /^create [^\n]*\bindex\b/m.test(sql)
  const read = isIndex ? `(?<![.\\w])()"(${names})"` : `\\b(\\w+\\.)"(${names})"(?! :=)`
  return assigned.replaceAll(new RegExp(read, 'g'), (_, alias: string, name: string) =>
    readTime(`${alias}"${name}"`, types.get(name)?.type),
  )
}

type Write = (expression: string, column: string) => string

function withAssignments(sql: string, names: string, written: Write): string {
  const assignment = new RegExp(`(?<![.\\w])"(${names})" = |\\bnew\\."(${names})" := `, 'g')
  let out = ''
  let at = 0
  for (const found of sql.matchAll(assignment)) {
    const start = found.index + found[0].length
    const end = expressionEnd(sql, start)
    out += sql.slice(at, start) + written(sql.slice(start, end), found[1] ?? found[2] ?? '')
    at = end
  }
  return out + sql.slice(at)
}

/** `insert into "unstuck"."jobs" (columns) select expressions`, or `values (expressions)`. */
function withInserts(sql: string, written: Write): string {
  const insert =
    /insert into "unstuck"\."jobs"[^(]*\(([^)]*)\)\s+(?:overriding system value\s+)?(?:select |values \()/g
  let out = ''
  let at = 0
  for (const found of sql.matchAll(insert)) {
    const columns = [...(found[1] ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => String(name))
    let start = found.index + found[0].length
    out += sql.slice(at, start)
    for (const [index, column] of columns.entries()) {
      const end = expressionEnd(sql, start)
      const [lead] = /^(?:\s|--[^\n]*\n)*/.exec(sql.slice(start, end)) ?? ['']
      out += lead + written(sql.slice(start + lead.length, end), column)
      start = index === columns.length - 1 ? end : end + 1
      if (start > end) out += ','
    }
    at = start
  }
  return out + sql.slice(at)
}

/** Tokens within an expression. The keywords end it outside of parentheses; `extract(epoch from …)` is inside of them. */
const piece = /'(?:[^']|'')*'|--[^\n]*|\/\*\w+\*\/|\*\/|[(),;]|\b(?:where|from|returning)\b/g

/** The end of the expression at `start`, without the blanks after it. */
function expressionEnd(sql: string, start: number): number {
  let depth = 0
  piece.lastIndex = start
  for (let found = piece.exec(sql); found !== null; found = piece.exec(sql)) {
    const [token] = found
    if (token === '(') depth++
    else if (token === ')' && depth > 0) depth--
    else if (depth === 0 && /^(?:[),;]|\*\/|\w+)$/.test(token))
      return start + sql.slice(start, found.index).trimEnd().length
  }
  throw new Error('an expression in sql/ does not end')
}
