// Reads and writes a team's time columns that are not plain `timestamptz` (OPS-13): columns without a zone, integer epochs,
// and columns of a lower precision. Every expression is immutable, so that indexes can use it, and leaves no operator to the
// search_path (C28).
import { columnName, type LogicalColumn, type TableProfile, timeColumns } from '../../../profile/profile.ts'
import { isFixedZone, type TimeType, type TimeTypes } from '../../../profile/time-type.ts'
import type { ColumnAccess } from './column-access.ts'
import { quoteLiteral } from './identifiers.ts'

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

/** The value of a column for a time. Rounded up unless `isDown`. */
export function writeTime(expression: string, type: TimeType | undefined, isDown = false): string {
  if (type === undefined || expression.trim() === 'null') return expression
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

/** The columns whose type is listed. */
export function timeAccess(table: TableProfile, timeTypes: TimeTypes): [LogicalColumn, ColumnAccess][] {
  return timeColumns.flatMap((column) => {
    const type = timeTypes[columnName(table, column)]
    if (type === undefined) return []
    const write = (expression: string) => writeTime(expression, type, roundedDown.has(column))
    const access: ColumnAccess = {
      read: (reference) => readTime(reference, type),
      assign: (expression) => `"${column}" = ${write(expression)}`,
      assignNew: (expression) => `new."${column}" := ${write(expression)}`,
      insert: write,
    }
    return [[column, access]]
  })
}
