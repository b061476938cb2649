// The counting query of one table. The template in sql/scan is valid SQL; its markers are replaced by operators, and by names
// and literals that passed through identifiers.ts.
import type { Condition, EndRule, OwnerTable, ScanTarget } from '../../../profile/infer/scan-target.ts'
import { quoteIdentifier, quoteLiteral } from '../render/identifiers.ts'
import { readTime } from '../render/time-columns.ts'
import { readSql } from '../sql-files.ts'

export function runningQuery(target: ScanTarget): string {
  const { schema, table, owners } = target
  const time = timeReader(target)
  const names = new Map([['scanned', qualified(schema, table)]])
  if (owners !== null) {
    names.set('owners', qualified(schema, owners.table))
    names.set('owner_key', quoteIdentifier(owners.key))
    names.set('owner_column', quoteIdentifier(owners.jobColumn))
  }
  const expressions = new Map([
    ['id', idOf(target.primaryKey)],
    ['newest', newestOf(target.timeColumns.map(time), owners)],
    ['ends', endsOf(target.ends, time, owners)],
    ['orphaned', owners === null ? 'false' : `owner.${quoteIdentifier(owners.key)} is null`],
    ['running', (target.running ?? []).map(conditionText).join(' and ') || 'true'],
  ])
  const sql = readSql('scan', 'count_running')
  return filled(
    sql.replaceAll(/\/\*\+owners ([\s\S]*?)\*\//g, owners === null ? '' : '$1'),
    names,
    expressions,
  )
}

/** By the index or in all rows; or in those at both ends of the primary key, and in the statistics. */
export type WordsFile = 'words_by_index' | 'words_in_all_rows' | 'words_in_rows'

export function wordsQuery(
  { schema, table, primaryKey }: ScanTarget,
  status: string,
  file: WordsFile,
): string {
  const names = new Map([
    ['scanned', qualified(schema, table)],
    ['scanned_status', quoteIdentifier(status)],
  ])
  const last = primaryKey.map((column) => `${job(column)} desc`).join(', ')
  return filled(readSql('scan', file), names, new Map([['last', last]]))
}

function filled(sql: string, names: Map<string, string>, expressions: Map<string, string>): string {
  return sql.replaceAll(
    /\/\*(\w+)\*\/\([^)]*\)|"(\w+)"/g,
    (token: string, marker?: string, name?: string) => {
      const found = marker === undefined ? names.get(name ?? '') : expressions.get(marker)
      if (found === undefined) throw new Error(`${token} in a file of sql/scan is not known`)
      return found
    },
  )
}

const qualified = (schema: string, table: string) => `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
const job = (column: string) => `job.${quoteIdentifier(column)}`
/** The session reads times without a zone as UTC. */
const asTime = (expression: string) => `${expression}::timestamptz`
const timeReader =
  ({ epochColumns, timeTypes = {} }: ScanTarget) =>
  (column: string) => {
    if (timeTypes[column] !== undefined) return readTime(job(column), timeTypes[column])
    return epochColumns.includes(column) ? epochTime(job(column)) : asTime(job(column))
  }
/** Seconds are below this number until the year 5138, milliseconds above it since 1973. */
const epochTime = (column: string) =>
  `to_timestamp(case when ${column} > 100000000000 then ${column} / 1000.0 else ${column} end)`
const after = (moment: string, seconds: string) => `${moment} + ${seconds} * interval '1 s'`
const seenAt = ({ timeColumn }: OwnerTable) => asTime(`owner.${quoteIdentifier(timeColumn)}`)

function idOf(primaryKey: string[]): string {
  if (primaryKey.length === 0) return 'null::text'
  return primaryKey.map((column) => `${job(column)}::text`).join(" || ',' || ")
}

function newestOf(columns: string[], owners: OwnerTable | null): string {
  const times = [...columns, ...(owners === null ? [] : [seenAt(owners)])]
  return times.length === 0 ? 'null::timestamptz' : `greatest(${times.join(', ')})`
}

function endsOf(ends: EndRule[], time: (column: string) => string, owners: OwnerTable | null): string {
  const moments = ends.map(({ column, plusSeconds, plusSecondsColumn, plusIntervalColumn }) => {
    const start = time(column)
    if (plusIntervalColumn !== undefined) return `${start} + ${job(plusIntervalColumn)}`
    if (plusSecondsColumn !== undefined) return after(start, job(plusSecondsColumn))
    return plusSeconds === undefined ? start : after(start, String(plusSeconds))
  })
  if (owners !== null) moments.push(after(seenAt(owners), String(owners.aliveSeconds)))
  return moments.length === 0 ? 'null::timestamptz' : `least(${moments.join(', ')})`
}

/** Bare literals take the type of the column, even of an enum, so that its index can be used. */
function conditionText(condition: Condition): string {
  const column = job(condition.column)
  if ('above' in condition) return `${column} > ${condition.above}`
  if ('words' in condition) return `${column} in (${condition.words.map(quoteLiteral).join(', ')})`
  return `${column} is ${condition.isNull ? '' : 'not '}null`
}
