// A team's time columns: which types they have, and whether the engine can use them as the profile says (OPS-13).
import {
  ageColumnNames,
  columnName,
  type TableProfile,
  timeColumns,
  timeZoneOf,
} from '../../../../profile/profile.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { isFixedZone, type TimeType, type TimeTypes } from '../../render/time-columns.ts'
import { readSql } from '../../sql-files.ts'
import type { MigrationSession } from '../session/migration-session.ts'
import type { ColumnFacts, TableFacts } from './inspect-table.ts'
import { unsupported } from './inspect-table.ts'

const ZONED = 'timestamp with time zone'
const ZONELESS = 'timestamp without time zone'
const EPOCHS = ['integer', 'bigint']

/** Types of columns that can hold a time. */
export const isTimeType = (type: string): boolean => type === ZONED || type === ZONELESS || EPOCHS.includes(type)

export function timeTypesOf(table: TableProfile, columns: Record<string, ColumnFacts>): TimeTypes {
  const names = [...timeColumns.map((column) => columnName(table, column)), ...ageColumnNames(table)]
  const types = names.map((name) => [name, timeTypeOf(table, columns[name])] as const)
  return Object.fromEntries(types.flatMap(([name, type]) => (type === undefined ? [] : [[name, type]])))
}

function timeTypeOf(table: TableProfile, column: ColumnFacts | undefined): TimeType | undefined {
  if (column === undefined) return undefined
  const { type, precision } = column
  if (type === ZONELESS) return { kind: 'zoneless', precision, zone: timeZoneOf(table) }
  if (EPOCHS.includes(type) && table.epochUnit !== undefined) return { kind: 'epoch', unit: table.epochUnit }
  return type === ZONED && precision < 6 ? { kind: 'zoned', precision } : undefined
}

export async function assertTimes(
  session: MigrationSession,
  options: RenderOptions,
  { columns, timeTypes }: TableFacts,
): Promise<void> {
  const { table } = options
  for (const name of table.teamAgeColumns ?? []) assertAgeColumn(table, name, columns[name])
  for (const column of timeColumns) {
    const name = columnName(table, column)
    if (EPOCHS.includes(columns[name]?.type ?? '')) assertUnit(table, name, columns[name]?.type ?? '')
    assertWritable(table, column, timeTypes[name])
  }
  const zone = timeZoneOf(table)
  const isUsed = Object.values(timeTypes).some(({ kind }) => kind === 'zoneless')
  if (isUsed && !isFixedZone(zone)) await assertZone(session, options, zone)
  await assertEpochs(session, { ...options, timeTypes })
}

/** No job is older than its queue could be: seconds read as milliseconds are times of 1970, and the reverse is far ahead. */
const OLDEST = Date.UTC(2000, 0)
const LONGEST_AHEAD_MS = 50 * 365 * 86_400_000

async function assertEpochs(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { table, timeTypes = {} } = options
  for (const [name, { kind }] of Object.entries(timeTypes)) {
    if (kind !== 'epoch') continue
    const aheadMs = await newestTime(session, options, name)
    if (aheadMs === null || (aheadMs < LONGEST_AHEAD_MS && Date.now() + aheadMs > OLDEST)) continue
    const other = table.epochUnit === 's' ? 'ms' : 's'
    const hint = `Set epochUnit: '${other}', or map it to another column: it will be added.`
    throw unsupported(table, `its column ${name} does not count ${unitNames[table.epochUnit ?? 's']} since 1970`, hint)
  }
}

const unitNames = { s: 'seconds', ms: 'milliseconds' }

type TimeReader = Pick<MigrationSession, 'run'>

/** Milliseconds by which the newest time in a sample of rows is ahead of the clock. */
async function newestTime(session: TimeReader, options: RenderOptions, name: string): Promise<number | null> {
  const sql = render(readSql('attach/table', 'newest_time'), { ...options, sampledColumn: name })
  const [row] = await session.run(sql)
  return (row?.['ahead_ms'] ?? null) as number | null
}

function assertAgeColumn(table: TableProfile, name: string, column: ColumnFacts | undefined): void {
  if (column === undefined)
    throw unsupported(table, `it has no column ${name}`, 'Correct teamAgeColumns in the profile.')
  if (!isTimeType(column.type))
    throw unsupported(table, `its column ${name} is ${column.type}, not a time`, 'Correct teamAgeColumns.')
  if (EPOCHS.includes(column.type)) assertUnit(table, name, column.type)
}

function assertUnit(table: TableProfile, name: string, type: string): void {
  if (table.epochUnit === 's' || (table.epochUnit === 'ms' && type === 'bigint')) return
  const problem =
    table.epochUnit === undefined
      ? `its column ${name} is ${type}, and the profile does not say which unit of time it counts`
      : `its column ${name} is integer, too small for milliseconds since 1970`
  throw unsupported(table, problem, "Set epochUnit to 's' or 'ms', or map it to another column: it will be added.")
}

/** A time that is written must come back as the same instant. */
function assertWritable(table: TableProfile, column: string, type: TimeType | undefined): void {
  if (type?.kind !== 'zoneless' || isFixedZone(type.zone)) return
  const name = columnName(table, column as (typeof timeColumns)[number])
  throw unsupported(
    table,
    `its column ${name} has no time zone, and the offset of ${type.zone} changes: an hour of each year is ambiguous`,
    `Map ${column} to another column: it will be added. teamAgeColumns may name ${name}, which then tells an age.`,
  )
}

async function assertZone(session: MigrationSession, options: RenderOptions, zone: string): Promise<void> {
  const [row] = await session.query('knows_time_zone', options, [zone])
  if (row?.['is_known'] === true) return
  const hint = 'Set timeZone to UTC, an offset such as +02:00, or a name of pg_timezone_names.'
  throw unsupported(options.table, `this server knows no time zone ${zone}`, hint)
}
