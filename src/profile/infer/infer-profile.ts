// Drafts a profile for a hand-made table from its catalogue entry and the words in its rows. Ambiguities are returned as
// questions, to be answered in the config file.

import type { OwnTable } from '../own-profile.ts'
import { type IdType, type LogicalColumn, logicalColumns, type StateColumns, stateTimes } from '../profile.ts'
import { columnDoubts, columnNames, fitsColumn, lockTimeNames } from './column-names.ts'
import { inferState, stateQuestions } from './infer-state.ts'
import { inferTimes, whyNoTime } from './infer-times.ts'
import type { Certainty } from './scan-target.ts'
import { inSnakeCase } from './snake-case.ts'
import { areStatusWords, type StatusRoles, statusRoles } from './status-roles.ts'
import type { TableShape } from './table-shape.ts'

export interface InferredProfile {
  table: OwnTable
  certainty: Certainty
  /** Points to verify before it is used, one sentence each. */
  questions: string[]
}

/** The table cannot be attached with any profile. */
export interface NoProfile {
  problem: string
  hint: string
}

const STATUS = /(^|_)(status|state)$/
const TEXT_TYPES = ['text', 'character varying']

/** By its name, "status" before "payment_status"; otherwise by the words that it takes. */
export function statusColumn({ columns }: TableShape): string | undefined {
  const names = Object.keys(columns)
  const [named] = names
    .filter((name) => STATUS.test(inSnakeCase(name)))
    .filter((name) => columns[name]?.words != null || TEXT_TYPES.includes(columns[name]?.type ?? ''))
    .toSorted((a, b) => a.length - b.length)
  return named ?? names.find((name) => areStatusWords(columns[name]?.words ?? []))
}

/** `wordsInRows` are the values of the status column. */
export function inferProfile(shape: TableShape, wordsInRows: string[]): InferredProfile | NoProfile {
  const state = stateOf(shape, wordsInRows)
  if ('problem' in state) return state
  const id = idOf(shape)
  if ('problem' in id) return id
  const { status, stateColumns } = state
  const taken = new Set([
    id.column,
    ...(status === undefined ? [] : [status]),
    ...stateTimes(state).map(([, name]) => name),
  ])
  const found = findColumns(shape, taken)
  const columns = { id: id.column, ...(status === undefined ? {} : { status }), ...found.columns }
  // An age can be read from the time of the lock, too.
  if (stateColumns !== undefined) taken.delete(stateColumns.running)
  const { questions: timeQuestions, ...times } = inferTimes(shape, taken)
  const ageColumns = ageColumnsOf(found.ofTeam)
  const hasType = found.ofTeam.has('type')
  const table: OwnTable = {
    schema: shape.schema,
    table: shape.table,
    idType: id.type,
    columns: withoutOwnNames(columns),
    ...(stateColumns === undefined ? { statuses: state.statuses } : { stateColumns }),
    ...(state.ignored.length === 0 ? {} : { ignoredStatuses: state.ignored }),
    ...(hasType ? {} : { defaultType: 'job' }),
    ...(ageColumns === undefined ? {} : { ageColumns }),
    ...times,
    ...(isLockTime(columns.last_attempt_at) ? { hasLockTime: true } : {}),
    // Without a time for dead jobs there is no end to their attempts, as there was none before.
    ...(stateColumns !== undefined && stateColumns.dead === undefined
      ? { policy: { maxCrashes: 1_000, maxTimeouts: 1_000 } }
      : {}),
  }
  const questions = [
    ...state.questions,
    ...found.questions,
    ...timeQuestions,
    ...generalQuestions(table, found.ofTeam),
  ]
  return { table, certainty: certaintyOf(found.ofTeam, state.questions), questions }
}

interface InferredState extends StatusRoles {
  status?: string
  stateColumns?: StateColumns
}

function stateOf(shape: TableShape, wordsInRows: string[]): InferredState | NoProfile {
  const status = statusColumn(shape)
  if (status !== undefined) {
    const { words, defaultWord } = shape.columns[status] ?? { words: null, defaultWord: null }
    return { status, ...statusRoles({ takes: words, inRows: wordsInRows, defaultWord }) }
  }
  const unread = Object.keys(shape.columns).find((name) => STATUS.test(inSnakeCase(name)))
  const stateColumns = unread === undefined ? inferState(shape) : undefined
  if (stateColumns !== undefined) {
    const { statuses } = statusRoles({ takes: null, inRows: [], defaultWord: null })
    return { stateColumns, statuses, ignored: [], questions: stateQuestions(stateColumns) }
  }
  return {
    problem:
      unread === undefined
        ? 'no column looks like a status, and none like the time of a lock'
        : `its column ${unread} is ${shape.columns[unread]?.type ?? 'of no type'}, not a text or an enum`,
    hint: 'Write its profile into the config file by hand: docs/guides/tables/attach.md shows one.',
  }
}

const idTypes: Record<string, IdType> = {
  uuid: 'uuid',
  bigint: 'bigint',
  integer: 'bigint',
  smallint: 'bigint',
  text: 'text',
  'character varying': 'text',
}

function idOf({
  primaryKey,
  partitionColumns,
  columns,
}: TableShape): { column: string; type: IdType } | NoProfile {
  // The key of a partitioned table includes the partition columns.
  const others = primaryKey.filter((name) => !partitionColumns.includes(name))
  const [column, second] = others.length === 0 ? primaryKey : others
  if (column === undefined) {
    return { problem: 'it has no primary key', hint: 'Add a primary key: it identifies the job.' }
  }
  if (second !== undefined || primaryKey[0] !== column) {
    const problem = `its primary key is (${primaryKey.join(', ')}), more than one column`
    const hint =
      second === undefined
        ? `A job is found by its id: put ${column} first in the key.`
        : 'A job id is a single column: make it the primary key.'
    return { problem, hint }
  }
  const type = idTypes[columns[column]?.type ?? '']
  if (type !== undefined) return { column, type }
  const problem = `its key ${column} is ${columns[column]?.type ?? 'of no type'}`
  return { problem, hint: 'Supported types: uuid, integer, text.' }
}

interface FoundColumns {
  columns: Partial<Record<LogicalColumn, string>>
  /** Columns that the table has. */
  ofTeam: ReadonlySet<LogicalColumn>
  questions: string[]
}

function findColumns(shape: TableShape, taken: Set<string>): FoundColumns {
  const columns: Partial<Record<LogicalColumn, string>> = {}
  const ofTeam = new Set<LogicalColumn>()
  const questions: string[] = []
  for (const [column, names] of Object.entries(columnNames) as [LogicalColumn, readonly string[]][]) {
    const candidates = names.flatMap((name) =>
      Object.keys(shape.columns).filter((given) => inSnakeCase(given) === name && !taken.has(given)),
    )
    const found = candidates.find((name) => isUsable(column, shape, name))
    if (found !== undefined) {
      taken.add(found)
      ofTeam.add(column)
      columns[column] = found
      const doubt = columnDoubts[inSnakeCase(found)]
      if (doubt !== undefined) questions.push(`columns.${column}: ${found}: ${doubt}`)
    } else if (candidates[0] !== undefined) {
      questions.push(
        `columns.${column}: ${candidates[0]} ${whyNot(column, shape, candidates[0])}: one is added.`,
      )
    }
  }
  // A column of the engine's name with another meaning stays the table's.
  for (const column of logicalColumns) {
    if (columns[column] === undefined && column !== 'id' && column !== 'status' && column in shape.columns)
      columns[column] = `unstuck_${column}`
  }
  return { columns, ofTeam, questions }
}

/** The claim compares these, and comparisons with NULL are never true. */
const neverNull: readonly LogicalColumn[] = ['type', 'priority', 'created_at']

export function isUsable(column: LogicalColumn, shape: TableShape, name: string): boolean {
  const found = shape.columns[name]
  if (found === undefined || found.isGenerated || !fitsColumn(column, found.type)) return false
  if (whyNoTime(column, shape, name) !== null) return false
  return !(found.isNullable && neverNull.includes(column))
}

function whyNot(column: LogicalColumn, shape: TableShape, name: string): string {
  const found = shape.columns[name]
  if (found?.isGenerated === true) return 'is generated, and the engine writes it'
  if (!fitsColumn(column, found?.type ?? ''))
    return `has type ${found?.type ?? ''}, which the engine cannot write`
  const noTime = whyNoTime(column, shape, name)
  if (noTime !== null) return noTime
  return 'is nullable, and rows with NULL would never be claimed'
}

const ages: readonly LogicalColumn[] = ['heartbeat_at', 'last_attempt_at', 'started_at', 'updated_at']

function ageColumnsOf(ofTeam: ReadonlySet<LogicalColumn>): OwnTable['ageColumns'] {
  const [first, ...others] = ages.filter((column) => ofTeam.has(column))
  return first === undefined ? undefined : [first, ...others]
}

const isLockTime = (name: string | undefined) => name !== undefined && lockTimeNames.has(inSnakeCase(name))

function withoutOwnNames(
  columns: Partial<Record<LogicalColumn, string>>,
): Partial<Record<LogicalColumn, string>> {
  return Object.fromEntries(Object.entries(columns).filter(([column, name]) => column !== name))
}

function generalQuestions(
  { statuses, ageColumns, teamAgeColumns }: OwnTable,
  ofTeam: ReadonlySet<LogicalColumn>,
): string[] {
  return [
    ...(ofTeam.has('payload')
      ? []
      : [
          "payload: no column of this kind. If handlers need columns, name them: payload: { path: 'pdf_path' }.",
        ]),
    ...(ofTeam.has('type')
      ? []
      : ["defaultType: without a type column every job has the type 'job', which names its handler."]),
    ...(statuses !== undefined && statuses.cancelled == null
      ? ['statuses.cancelled: no such word: cancelled jobs become dead, with an error code.']
      : []),
    ageColumns === undefined && teamAgeColumns === undefined
      ? 'ageColumns: no column shows when a worker was last seen: running jobs without a lease are reported, not requeued.'
      : 'policy.legacyAgeRule: off, so running jobs without a lease (of older workers, or stuck already) are reported, not requeued.',
  ]
}

function certaintyOf(ofTeam: ReadonlySet<LogicalColumn>, doubts: string[]): Certainty {
  const signs = (
    ['worker_id', 'lease_expires_at', 'heartbeat_at', 'last_attempt_at', 'attempt'] as const
  ).filter((column) => ofTeam.has(column)).length
  if (signs === 0) return 'unsure'
  return doubts.length === 0 && signs >= 2 ? 'sure' : 'likely'
}
