// Guesses by column names whether a table is a hand-made job table: a status that can be "running", or a time that is set while
// a job runs; a time; and at least one column that only jobs have, such as the owner of the lock or the number of attempts.

import { isEpoch } from '../time-type.ts'
import { nearestDocument } from './nearest-document.ts'
import {
  type Certainty,
  type Condition,
  type ScanTarget,
  type SightedTable,
  tableArgument,
} from './scan-target.ts'
import { HEARTBEAT, LOCK, START, TAKEN, UPDATE } from './sign-of-life.ts'
import { inSnakeCase } from './snake-case.ts'
import { areStatusWords, runningWords } from './status-roles.ts'

/** Subscriptions and accounts use these words too: they need more evidence. */
const AMBIGUOUS_WORDS = new Set(['active', 'started', 'locked', 'claimed'])

const STATUS = /(^|_)(status|state)$/
const TEXT_TYPES = new Set(['text', 'character varying', 'citext'])
const TIME_TYPES = new Set(['timestamp with time zone', 'timestamp without time zone'])

/** An integer of another name may be a duration. */
const MOMENT = /_(at|on|time|until)$/
const LEASE =
  /^(lease|leased|lock|locked|claim|claimed|reserved|visibility|invisible)_(expires|expiry|until|ends?|timeout)(_at|_on)?$/
const OWNER = new RegExp(`^(${TAKEN}_by|worker|worker_id|worker_name|processor_id|runner_id|locked_by_id)$`)
const ATTEMPTS =
  /^(attempts?|attempt_count|attempts_made|retries|retry_count|tries|num_attempts|max_attempts|max_retries)$/
/** Set when a job has ended, in one way or another. */
const END =
  /^(finished|completed|done|ended|processed|succeeded|failed|errored|dead|discarded|cancelled|canceled|deleted|archived)(_at|_on)$/
const JOB_NAME = /(^|_)(jobs?|tasks?|queue|queues|queued|outbox|work_items?|executions?)(_|$)/

/** The columns of a table that a job table may have, by their names. */
function signsOf({ table, columns }: SightedTable) {
  const names = Object.keys(columns)
  const find = (pattern: RegExp) => names.filter((name) => pattern.test(inSnakeCase(name)))
  const epochColumns = names.filter(
    (name) => isEpoch(columns[name]?.type ?? '') && MOMENT.test(inSnakeCase(name)),
  )
  const times = (pattern: RegExp) =>
    find(pattern).filter((name) => TIME_TYPES.has(columns[name]?.type ?? '') || epochColumns.includes(name))
  const [leases, beats, locks, starts, updates] = [LEASE, HEARTBEAT, LOCK, START, UPDATE].map(times) as [
    string[],
    string[],
    string[],
    string[],
    string[],
  ]
  const held = [...leases, ...beats, ...locks]
  const [owners, attempts, statuses] = [find(OWNER), find(ATTEMPTS), find(STATUS)]
  const isNamedSo = JOB_NAME.test(inSnakeCase(table))
  return {
    epochColumns,
    leases,
    beats,
    locks,
    starts,
    ends: times(END),
    timeColumns: [...beats, ...locks, ...starts, ...updates],
    held,
    owners,
    attempts,
    statuses,
    isNamedSo,
    count: [owners, attempts, held].filter((found) => found.length > 0).length + Number(isNamedSo),
  }
}

type Signs = ReturnType<typeof signsOf>

export function guessTable(sighted: SightedTable): ScanTarget | null {
  const { schema, table, primaryKey } = sighted
  const signs = signsOf(sighted)
  const { leases, beats, held, starts, owners, attempts, timeColumns, epochColumns } = signs
  if (primaryKey.length === 0 || timeColumns.length + leases.length === 0 || signs.count === 0) return null
  const status = statusOf(sighted, signs.count)
  const running = status === null ? runningByTimes(signs) : [status]
  if (running === null) return null
  const nearly = nearestDocument(sighted)?.profile ?? null
  const certainty: Certainty = signs.count >= 3 || nearly !== null ? 'likely' : 'unsure'
  const evidence = [...running.map(({ column }) => column), ...held, ...starts, ...owners, ...attempts]
  return {
    schema,
    table,
    kind: 'hand-rolled',
    name: certainty,
    certainty,
    nearly,
    evidence: [...new Set(evidence)],
    primaryKey,
    running,
    status: status === null ? null : { column: status.column, words: null },
    timeColumns,
    epochColumns,
    ends: leases.map((column) => ({ column })),
    owners: null,
    rule: leases.length > 0 ? `${leases.join(', ')} has passed` : null,
    remedy: remedyOf(leases, beats),
    next: `unstuck attach --plan --table ${tableArgument(schema, table)}`,
  }
}

/**
 * A row without a status runs from the time of its lock to that of its end. A status of numbers could say otherwise, and
 * documents are locked too.
 */
function runningByTimes({ locks, starts, ends, statuses, isNamedSo, attempts }: Signs): Condition[] | null {
  const taken = locks[0] ?? (isNamedSo && ends.length > 0 ? starts[0] : undefined)
  if (taken === undefined || statuses.length > 0 || !(isNamedSo || attempts.length > 0)) return null
  return [{ column: taken, isNull: false }, ...ends.map((column) => ({ column, isNull: true }))]
}

/** Why a table with signs of jobs is not counted; null without such signs. */
export function whyNotUnderstood(sighted: SightedTable): string | null {
  const signs = signsOf(sighted)
  const { locks, leases, statuses, isNamedSo, starts, timeColumns } = signs
  // Accounts are locked too.
  const isTaken = locks.some((name) => inSnakeCase(name) !== 'locked_at')
  const mayRun = isNamedSo && [...statuses, ...starts].length > 0
  if (signs.count < 2 && !isTaken && !mayRun) return null
  if (sighted.primaryKey.length === 0) return 'it has no primary key'
  if (timeColumns.length + leases.length === 0) return 'no time from which to judge how long a row has run'
  const [status] = statuses
  return status === undefined
    ? 'no column that marks running rows'
    : `no word of ${status} that is known means running`
}

function statusOf({ columns }: SightedTable, signs: number): { column: string; words: string[] } | null {
  const named = Object.keys(columns)
    .filter((name) => STATUS.test(inSnakeCase(name)))
    // "status" before "payment_status".
    .toSorted((a, b) => a.length - b.length)
  const byWords = Object.keys(columns).filter((name) => areStatusWords(columns[name]?.words ?? []))
  for (const column of [...named, ...byWords]) {
    const { type, words } = columns[column] ?? { type: '', words: null }
    const running = (
      words ?? (TEXT_TYPES.has(type.replace(/^.*\./, '')) ? everyForm(runningWords) : [])
    ).filter((word) => isRunning(word, signs))
    if (running.length > 0) return { column, words: running }
  }
  return null
}

function isRunning(word: string, signs: number): boolean {
  const plain = inSnakeCase(word)
  return runningWords.includes(plain) && (signs >= 2 || !AMBIGUOUS_WORDS.has(plain))
}

/** Common spellings, compared exactly, so that an index on the column can be used. */
function everyForm(words: readonly string[]): string[] {
  const separated = words.flatMap((word) =>
    ['_', '-', ' ', ''].map((between) => word.replaceAll('_', between)),
  )
  const forms = separated.flatMap((word) => [word, word.toUpperCase(), inCapitals(word)])
  const camel = words.map((word) => inCapitals(word).replaceAll('_', ''))
  return [
    ...new Set([...forms, ...camel, ...camel.map((word) => word.charAt(0).toLowerCase() + word.slice(1))]),
  ]
}

function remedyOf(leases: string[], beats: string[]): string {
  if (leases.length > 0) {
    return 'Whatever process looks for expired leases, if there is one.'
  }
  if (beats.length > 0) return 'None visible: heartbeats are written, but no lease expires.'
  return 'None: without a heartbeat or a lease, the jobs of a killed worker stay stuck.'
}

const inCapitals = (word: string) => word.replaceAll(/(^|[_\- ])[a-z]/g, (start) => start.toUpperCase())
