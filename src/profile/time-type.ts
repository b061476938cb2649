// How a team's column holds a time (OPS-13). The engine's own columns are `timestamptz`.
import { showDuration } from '../policy/explain/show-duration.ts'
import { type TableProfile, timeZoneOf } from './profile.ts'

export type TimeType =
  | { kind: 'zoned'; precision: number }
  | { kind: 'zoneless'; precision: number; zone: string }
  | { kind: 'epoch'; unit: EpochUnit }

/** Since 1970 in UTC. */
export type EpochUnit = 's' | 'ms'

/** By the table's own column names. A plain `timestamptz` is not listed. */
export type TimeTypes = Readonly<Record<string, TimeType>>

const ZONED = 'timestamp with time zone'
const ZONELESS = 'timestamp without time zone'

export const isZoneless = (type: string): boolean => type === ZONELESS
export const isEpoch = (type: string): boolean => type === 'integer' || type === 'bigint'

/** Types of columns that can hold a time. */
export const isTimeType = (type: string): boolean => type === ZONED || isZoneless(type) || isEpoch(type)

/** Offsets and UTC never change, so that every time is written and read as the same instant. */
export const isFixedZone = (zone: string): boolean => /^(UTC|[+-]\d\d:\d\d)$/.test(zone)

/** A column with times that cannot be in the future, and are: its zone is another. */
export interface TimeAhead {
  table: string
  column: string
  zone: string
  aheadMs: number
}

export const describeAhead = ({ table, column, zone, aheadMs }: TimeAhead): string =>
  `${table}: read as ${zone}, ${column} is up to ${showDuration(aheadMs)} in the future: the zone is another`

/** Undefined for a plain `timestamptz`, and for an integer whose unit is not known. */
function timeTypeOf(
  table: Pick<TableProfile, 'timeZone' | 'epochUnit'>,
  column: { type: string; precision?: number } | undefined,
): TimeType | undefined {
  if (column === undefined) return undefined
  const { type, precision = 6 } = column
  if (isZoneless(type)) return { kind: 'zoneless', precision, zone: timeZoneOf(table) }
  if (isEpoch(type) && table.epochUnit !== undefined) return { kind: 'epoch', unit: table.epochUnit }
  return type === ZONED && precision < 6 ? { kind: 'zoned', precision } : undefined
}

/** `timeTypeOf` for each of these columns. */
export function timeTypesOf(
  table: Pick<TableProfile, 'timeZone' | 'epochUnit'>,
  names: string[],
  columns: Record<string, { type: string; precision?: number }>,
): TimeTypes {
  const types = names.map((name) => [name, timeTypeOf(table, columns[name])] as const)
  return Object.fromEntries(types.flatMap(([name, type]) => (type === undefined ? [] : [[name, type]])))
}
