// Drafts a profile that extends a document's: the differences between its table and the one that was found.
import type { TableDifferences } from '../extend-profile.ts'
import type { OwnTable } from '../own-profile.ts'
import { columnName, type LogicalColumn, logicalColumns, type TableProfile } from '../profile.ts'
import { shippedProfile } from '../shipped.ts'
import { isUsable } from './infer-profile.ts'
import type { NearDocument } from './nearest-document.ts'
import { inSnakeCase } from './snake-case.ts'
import type { TableShape } from './table-shape.ts'

export interface DraftedExtension {
  differences: TableDifferences
  questions: string[]
}

/**
 * `inferred` is the profile that the table would have on its own. Null if the differences are not small: the document's
 * functions take its own type of ids.
 */
export function draftExtension(
  { profile, table: base }: NearDocument,
  shape: TableShape,
  inferred: OwnTable,
  wordsInRows: string[],
): DraftedExtension | null {
  if (inferred.idType !== base.idType && base.teamObjects !== undefined) return null
  const lastError = lastErrorOf(base, shape)
  const columns = columnsOf(base, shape, inferred, lastError?.column ?? base.lastError?.column)
  const statuses = statusesOf(base, shape, inferred, wordsInRows)
  const ignored = ignoredOf({ ...base.statuses, ...statuses }, shape, columnOf(base, columns), wordsInRows)
  const { timeZone, epochUnit } = inferred
  const [first] = shippedProfile(profile, 'unstuck').tables
  const differences: TableDifferences = {
    ...(shape.schema === base.schema ? {} : { schema: shape.schema }),
    ...(shape.table === first.table ? {} : { table: shape.table }),
    ...(inferred.idType === base.idType ? {} : { idType: inferred.idType }),
    ...(Object.keys(columns).length === 0 ? {} : { columns }),
    ...(Object.keys(statuses).length === 0 ? {} : { statuses }),
    ...(ignored.length === 0 ? {} : { ignoredStatuses: ignored }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(epochUnit === undefined ? {} : { epochUnit }),
    ...(lastError === undefined ? {} : { lastError }),
    ...ofLaterTable(base, first),
  }
  const questions = [
    `extends: nearly the table of ${profile}, whose policy, functions and views apply. If it is another one, attach it with a profile of its own.`,
    ...(shippedProfile(profile, 'unstuck').isPruned === true
      ? [
          'retention: workers delete finished jobs, after EMBED_JOB_RETENTION_DAYS: every command asks for it, and 14 is recommended.',
        ]
      : []),
    ...(ignored.length === 0
      ? []
      : [`statuses: rows with ${ignored.map((word) => `'${word}'`).join(', ')} are left alone.`]),
  ]
  return { differences, questions }
}

type Columns = Partial<Record<LogicalColumn, string>>

/** A name of the document in another case first, then the column that plays the role in any table. */
function columnsOf(
  base: TableProfile,
  shape: TableShape,
  inferred: OwnTable,
  errorColumn: string | undefined,
): Columns {
  const names = Object.keys(shape.columns)
  const taken = new Set(errorColumn === undefined ? [] : [errorColumn])
  const found: Columns = {}
  const take = (column: LogicalColumn, name: string | undefined) => {
    if (name === undefined || taken.has(name) || found[column] !== undefined) return
    taken.add(name)
    found[column] = name
  }
  for (const column of ['id', 'status'] as const) take(column, inferred.columns?.[column] ?? column)
  for (const column of logicalColumns) {
    const asked = columnName(base, column)
    const name = names.includes(asked)
      ? asked
      : names.find((given) => inSnakeCase(given) === inSnakeCase(asked))
    // A column of that name with another meaning stays the table's.
    take(column, name === undefined || isUsable(column, shape, name) ? name : `unstuck_${column}`)
  }
  for (const [column, name] of Object.entries(inferred.columns ?? {}) as [LogicalColumn, string][])
    take(column, name)
  return Object.fromEntries(
    Object.entries(found).filter(([column, name]) => name !== columnName(base, column as LogicalColumn)),
  )
}

const columnOf = (base: TableProfile, { status }: Columns) => status ?? columnName(base, 'status')

/** The document's words, unless the column does not take them or the rows have others. */
function statusesOf(
  base: TableProfile,
  shape: TableShape,
  inferred: OwnTable,
  wordsInRows: string[],
): Partial<TableProfile['statuses']> {
  const status = shape.columns[inferred.columns?.status ?? columnName(base, 'status')]
  const takes = status?.words ?? null
  const known = new Set([
    ...(takes ?? []),
    ...wordsInRows,
    ...(status?.defaultWord ? [status.defaultWord] : []),
  ])
  const isOpen = (word: string) => takes?.includes(word) ?? true
  const words: Partial<TableProfile['statuses']> = {}
  for (const role of ['waiting', 'succeeded', 'dead'] as const) {
    const other = inferred.statuses?.[role]
    const word = base.statuses[role]
    if (other !== undefined && other !== word && known.has(other) && !(known.has(word) && isOpen(word)))
      words[role] = other
  }
  const running = (inferred.statuses?.running ?? []).filter((word) => known.has(word))
  const [first, ...others] = running
  if (first !== undefined && !running.every((word) => base.statuses.running.includes(word)))
    words.running = [first, ...others]
  else if (takes !== null) {
    const [kept, ...more] = base.statuses.running.filter(isOpen)
    if (kept !== undefined && more.length + 1 < base.statuses.running.length) words.running = [kept, ...more]
  }
  return words
}

function ignoredOf(
  { running, ...others }: TableProfile['statuses'],
  shape: TableShape,
  status: string,
  wordsInRows: string[],
): string[] {
  const used = new Set([...running, ...Object.values(others)])
  return [...new Set([...(shape.columns[status]?.words ?? []), ...wordsInRows])].filter(
    (word) => !used.has(word),
  )
}

/** Undefined if it is the document's. */
function lastErrorOf(
  { lastError }: TableProfile,
  { columns }: TableShape,
): { column: string } | null | undefined {
  if (lastError === undefined || lastError.column in columns) return undefined
  const column = Object.keys(columns).find((name) => inSnakeCase(name) === lastError.column)
  return column === undefined ? null : { column }
}

/** The only table of a profile extends the first of the document, whichever it resembles. */
function ofLaterTable(base: TableProfile, first: TableProfile): TableDifferences {
  if (base.table === first.table) return {}
  return {
    ...(base.defaultType === first.defaultType ? {} : { defaultType: base.defaultType }),
    ...(base.policy.defaultStage === first.policy.defaultStage
      ? {}
      : { policy: { defaultStage: base.policy.defaultStage } }),
  }
}
