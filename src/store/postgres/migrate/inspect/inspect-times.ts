// A team's time columns: which types they have, and whether the engine can use them as the profile says (OPS-13).
import {
  ageColumnNames,
  columnName,
  stateTimes,
  type TableProfile,
  timeColumns,
  timeZoneOf,
} from '../../../../profile/profile.ts'
import {
  type EpochUnit,
  isEpoch,
  isFixedZone,
  isTimeType,
  type TimeAhead,
  type TimeType,
  type TimeTypes,
  timeTypesOf,
} from '../../../../profile/time-type.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'
import type { MigrationSession } from '../session/migration-session.ts'
import { unsupported } from './unsupported.ts'

type Columns = Record<string, { type: string; precision: number }>

export function readTimeTypes(table: TableProfile, columns: Columns): TimeTypes {
  const names = [
    ...timeColumns.map((column) => columnName(table, column)),
    ...ageColumnNames(table),
    ...stateTimes(table).map(([, name]) => name),
  ]
  return timeTypesOf(table, names, columns)
}

export async function assertTimes(
  session: MigrationSession,
  options: RenderOptions,
  { columns, timeTypes }: { columns: Columns; timeTypes: TimeTypes },
): Promise<void> {
  const { table } = options
  for (const name of table.teamAgeColumns ?? []) assertAgeColumn(table, name, columns[name])
  const written = [
    ...timeColumns.map((column) => [column, columnName(table, column)] as const),
    ...stateTimes(table),
  ]
  for (const [role, name] of written) {
    if (isEpoch(columns[name]?.type ?? '')) assertUnit(table, name, columns[name]?.type ?? '')
    assertWritable(table, role, name, timeTypes[name])
  }
  const zone = timeZoneOf(table)
  const isUsed = Object.values(timeTypes).some(({ kind }) => kind === 'zoneless')
  if (isUsed && !isFixedZone(zone)) await assertZone(session, options, zone)
  await assertEpochs(session, { ...options, timeTypes })
}

async function assertEpochs(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { table, timeTypes = {} } = options
  for (const [name, type] of Object.entries(timeTypes)) {
    if (type.kind !== 'epoch') continue
    const unit = await readEpochUnit(session, options, name)
    if (unit === undefined || unit === type.unit) continue
    const hint = `${unit === null ? 'Map' : `Set epochUnit: '${unit}', or map`} it to another column: it will be added.`
    throw unsupported(table, `its column ${name} does not count ${unitNames[type.unit]} since 1970`, hint)
  }
}

const unitNames: Record<EpochUnit, string> = { s: 'seconds', ms: 'milliseconds' }

/** Seconds that are read as milliseconds are times of 1970, and the reverse is far ahead. */
const OLDEST = Date.UTC(2000, 0)
const LATEST = Date.UTC(2100, 0)

/** The unit in which the newest value in a sample of rows is a time; null if there is none, undefined without any value. */
export async function readEpochUnit(
  session: TimeReader,
  options: RenderOptions,
  name: string,
): Promise<EpochUnit | null | undefined> {
  const timeTypes: TimeTypes = { [name]: { kind: 'epoch', unit: 'ms' } }
  const aheadMs = await readNewestTime(session, { ...options, timeTypes }, name)
  if (aheadMs === null) return undefined
  const newest = Date.now() + aheadMs
  const isTime = (ms: number) => ms > OLDEST && ms < LATEST
  if (isTime(newest)) return 'ms'
  return isTime(newest * 1000) ? 's' : null
}

type TimeReader = Pick<MigrationSession, 'run'>

/** Milliseconds by which the newest time in a sample of rows is ahead of the clock. */
async function readNewestTime(
  session: TimeReader,
  options: RenderOptions,
  name: string,
): Promise<number | null> {
  const sql = render(readSql('attach/table', 'newest_time'), { ...options, sampledColumn: name })
  const [row] = await session.run(sql)
  return (row?.['ahead_ms'] ?? null) as number | null
}

function assertAgeColumn(table: TableProfile, name: string, column: Columns[string] | undefined): void {
  if (column === undefined)
    throw unsupported(table, `it has no column ${name}`, 'Correct teamAgeColumns in the profile.')
  if (!isTimeType(column.type))
    throw unsupported(table, `its column ${name} is ${column.type}, not a time`, 'Correct teamAgeColumns.')
  if (isEpoch(column.type)) assertUnit(table, name, column.type)
}

function assertUnit(table: TableProfile, name: string, type: string): void {
  if (table.epochUnit === 's' || (table.epochUnit === 'ms' && type === 'bigint')) return
  const problem =
    table.epochUnit === undefined
      ? `its column ${name} is ${type}, and the profile does not say which unit of time it counts`
      : `its column ${name} is integer, too small for milliseconds since 1970`
  throw unsupported(
    table,
    problem,
    "Set epochUnit to 's' or 'ms', or map it to another column: it will be added.",
  )
}

/** A time that is written must come back as the same instant. */
function assertWritable(table: TableProfile, role: string, name: string, type: TimeType | undefined): void {
  if (type?.kind !== 'zoneless' || isFixedZone(type.zone)) return
  throw unsupported(
    table,
    `its column ${name} has no time zone, and the offset of ${type.zone} changes: an hour of each year is ambiguous`,
    `Map ${role} to another column: it will be added. teamAgeColumns may name ${name}, which is then used for ages.`,
  )
}

async function assertZone(session: MigrationSession, options: RenderOptions, zone: string): Promise<void> {
  const [row] = await session.query('knows_time_zone', options, [zone])
  if (row?.['is_known'] === true) return
  const hint = 'Set timeZone to UTC, an offset such as +02:00, or a name of pg_timezone_names.'
  throw unsupported(options.table, `this server knows no time zone ${zone}`, hint)
}

/** Times of the past, by their meaning. */
const pastColumns = [
  'created_at',
  'updated_at',
  'started_at',
  'finished_at',
  'last_attempt_at',
  'heartbeat_at',
] as const

/** More than clocks differ by, and less than zones do. */
const LEAST_AHEAD_MS = 10 * 60_000

/** Times without a zone that would be in the future. For times in the past the zone cannot be inferred. */
export async function timesAhead(session: TimeReader, options: RenderOptions): Promise<TimeAhead[]> {
  const { table, timeTypes = {} } = options
  const found: TimeAhead[] = []
  const past = [...pastColumns.map((column) => columnName(table, column)), ...(table.teamAgeColumns ?? [])]
  for (const column of past) {
    const type = timeTypes[column]
    if (type?.kind !== 'zoneless') continue
    const aheadMs = (await readNewestTime(session, options, column)) ?? 0
    if (aheadMs > LEAST_AHEAD_MS + (isFixedZone(type.zone) ? 0 : 3_600_000))
      found.push({ table: `${table.schema}.${table.table}`, column, zone: type.zone, aheadMs })
  }
  return found
}
