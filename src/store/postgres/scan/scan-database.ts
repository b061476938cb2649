// Searches a database for job tables of any origin, and counts stuck jobs in each. Every read is a read-only transaction with
// a short limit, and an unreadable table does not end the scan.
import { isUnstuckError } from '../../../errors/index.ts'
import { knownQueues, rareColumns } from '../../../profile/infer/known-queues/index.ts'
import { recogniseTable, unrecognised } from '../../../profile/infer/recognise-table.ts'
import type { Certainty, ScanTarget, SightedTable } from '../../../profile/infer/scan-target.ts'
import { describeUnknownWords } from '../../../profile/infer/status-roles.ts'
import type { Profile } from '../../../profile/profile.ts'
import type { Row } from '../connection/executor.ts'
import { type ReadOnlySession, withReadOnlySession } from '../connection/read-only-session.ts'
import { readSql } from '../sql-files.ts'
import { readUnknownWords, type WordsRead } from './read-unknown-words.ts'
import { runningQuery } from './running-query.ts'

const MAX_TABLES = 2_000
const MAX_ROWS = 10_000
/** Limit of the whole scan: the most likely job tables come first. */
const BUDGET_MS = 60_000
/** Columns of job tables: a status, or a lock, its owner, its end, a start or a count of attempts. */
const JOB_COLUMNS =
  '(^|_|[a-z])(status|state)$|^(locked|claimed|leased|reserved|picked|taken|acquired|dequeued)_?(at|on|by|time|until)$' +
  '|^(lease|lock)_?(expires_?at|until)$|^attempts?(_?count|_?made)?$|^started_?at$'

export interface ScanOptions {
  databaseUrl: string
  profiles: Profile[]
  /** A row without a lease is stuck if its newest time is older. */
  olderThanMs: number
  /** Limit of each statement. */
  timeoutMs: number
  onTable?: (table: string, index: number, count: number) => void
}

export interface ScanReport {
  database: string
  role: string
  version: string
  isStandby: boolean
  /** Every transaction was read-only and got no id; anything else would have thrown. */
  isUnwritten: true
  tables: ScannedTable[]
  /** Tables with signs of jobs that could not be counted, and why. */
  notUnderstood: { schema: string; table: string; reason: string }[]
  /** There were more candidates than the scan examines. */
  isCut: boolean
  /** Tables without signs of jobs: they were not read. */
  otherTables: number
}

export interface ScannedTable
  extends Pick<
      ScanTarget,
      'schema' | 'table' | 'kind' | 'name' | 'certainty' | 'nearly' | 'evidence' | 'timeColumns'
    >,
    Pick<ScanTarget, 'rule' | 'remedy' | 'next'> {
  /** Why it was not counted; null if it was. */
  problem: string | null
  /** Row-level security hides rows from this role: there may be more. */
  isFiltered: boolean
  counts: RunningCounts | null
  /** Words of the status, in some of its rows, of unknown meaning: such rows may be running. */
  unknownWords: string[]
  /** Whether an unknown word could have been missed. Null without a status, or if it was not counted. */
  wordsRead: WordsRead | null
}

export interface RunningCounts {
  running: number
  /** Only this many rows were examined. */
  isCut: boolean
  stuck: number
  /** Older than the limit, but within the time that the queue's own rule allows. */
  silent: number
  /** No time to judge them by. */
  unjudged: number
  oldestStuckMs: number | null
  oldestSilentMs: number | null
  /** A sample, the longest silent first. */
  stuckIds: string[]
}

export async function scanDatabase(options: ScanOptions): Promise<ScanReport> {
  const { databaseUrl, timeoutMs, profiles, onTable } = options
  return withReadOnlySession({ databaseUrl, timeoutMs, applicationName: 'unstuck scan' }, async (session) => {
    const [server] = await session.look((run) => run(readSql('scan', 'server')))
    const sighted = await listTables(session, profiles)
    const [all] = await session.look((run) => run(readSql('scan', 'count_tables')))
    const targets = recogniseAll(sighted, profiles)
    const endsAt = performance.now() + BUDGET_MS
    const tables: ScannedTable[] = []
    for (const [index, { target, table }] of targets.entries()) {
      onTable?.(`${target.schema}.${target.table}`, index + 1, targets.length)
      tables.push(
        performance.now() < endsAt
          ? await scanTable(session, target, table, options)
          : uncounted(target, table, `the scan was over after ${BUDGET_MS / 1000} s`),
      )
    }
    return {
      database: String(server?.['database']),
      role: String(server?.['role']),
      version: String(server?.['version']),
      isStandby: server?.['is_standby'] === true,
      isUnwritten: true,
      tables,
      notUnderstood: [...withUnknownWords(tables), ...notUnderstood(sighted, profiles)],
      isCut: sighted.length === MAX_TABLES,
      otherTables: Math.max(0, Number(all?.['tables']) - sighted.length),
    }
  })
}

const order: Record<Certainty, number> = { sure: 0, likely: 1, unsure: 2 }

function recogniseAll(
  sighted: SightedTable[],
  profiles: Profile[],
): { target: ScanTarget; table: SightedTable }[] {
  return sighted
    .flatMap((table) => {
      const target = recogniseTable(table, sighted, profiles)
      return target === null ? [] : [{ target, table }]
    })
    .toSorted((a, b) => order[a.target.certainty] - order[b.target.certainty])
}

const withUnknownWords = (tables: ScannedTable[]): ScanReport['notUnderstood'] =>
  tables.flatMap(({ schema, table, unknownWords }) =>
    unknownWords.length === 0 ? [] : [{ schema, table, reason: describeUnknownWords(unknownWords) }],
  )

/** Beside the tables of a known queue, or in the engine's own schema, are their helpers. */
function notUnderstood(sighted: SightedTable[], profiles: Profile[]): ScanReport['notUnderstood'] {
  const taken = new Set(
    sighted
      .filter((table) => recogniseTable(table, sighted, profiles)?.kind === 'known queue')
      .map(({ schema }) => schema)
      .filter((schema) => schema !== 'public'),
  )
  for (const { name, tables } of profiles) if (name === 'native') taken.add(tables[0].schema)
  return sighted.flatMap((table) => {
    const reason = taken.has(table.schema) ? null : unrecognised(table, sighted, profiles)
    return reason === null ? [] : [{ schema: table.schema, table: table.table, reason }]
  })
}

async function listTables(session: ReadOnlySession, profiles: Profile[]): Promise<SightedTable[]> {
  const patterns = knownQueues.flatMap(({ table, owners }) => [
    ...(table === undefined ? [] : [table.source]),
    ...(owners === undefined ? [] : [`${owners.table}$`]),
  ])
  const ofProfiles = profiles.flatMap(({ tables }) => tables.map(({ schema, table }) => `${schema}.${table}`))
  const rows = await session.look((run) =>
    run(readSql('scan', 'list_tables'), [JOB_COLUMNS, patterns, ofProfiles, rareColumns, MAX_TABLES]),
  )
  return rows.map((row) => ({
    schema: String(row['schema']),
    table: String(row['table']),
    columns: row['columns'] as SightedTable['columns'],
    primaryKey: row['primary_key'] as string[],
    canRead: row['can_read'] === true,
    isFiltered: row['is_filtered'] === true,
  }))
}

async function scanTable(
  session: ReadOnlySession,
  target: ScanTarget,
  sighted: SightedTable,
  { olderThanMs, timeoutMs }: ScanOptions,
): Promise<ScannedTable> {
  if (!sighted.canRead) return uncounted(target, sighted, 'this role may not read it')
  if (target.running === null) return uncounted(target, sighted, 'its rows do not say which of them run')
  try {
    const [row] = await session.look((run) => run(runningQuery(target), [MAX_ROWS, olderThanMs]))
    const words = await readUnknownWords(session, target, sighted)
    return { ...uncounted(target, sighted, ''), counts: countsOf(row ?? {}), problem: null, ...words }
  } catch (error) {
    if (isUnstuckError(error, 'DATABASE_UNREACHABLE') || isUnstuckError(error, 'INTERNAL')) throw error
    return uncounted(target, sighted, problemOf(error, timeoutMs))
  }
}

function uncounted(target: ScanTarget, { isFiltered }: SightedTable, problem: string): ScannedTable {
  const { schema, table, kind, name, certainty, nearly, evidence, timeColumns, rule, remedy, next } = target
  const told = { schema, table, kind, name, certainty, nearly, evidence, timeColumns, rule, remedy, next }
  return { ...told, isFiltered, counts: null, problem, unknownWords: [], wordsRead: null }
}

function countsOf(row: Row): RunningCounts {
  const number = (name: string) => (row[name] == null ? null : Number(row[name]))
  const running = number('running') ?? 0
  return {
    running,
    isCut: running === MAX_ROWS,
    stuck: number('stuck') ?? 0,
    silent: number('silent') ?? 0,
    unjudged: number('unjudged') ?? 0,
    oldestStuckMs: number('oldest_stuck_ms'),
    oldestSilentMs: number('oldest_silent_ms'),
    stuckIds: row['stuck_ids'] as string[],
  }
}

function problemOf(error: unknown, timeoutMs: number): string {
  if (isUnstuckError(error, 'DATABASE_TIMEOUT')) {
    return `counting took longer than ${timeoutMs / 1000} s and was given up`
  }
  if (isUnstuckError(error, 'LOCK_TIMEOUT'))
    return `somebody has locked it for longer than ${timeoutMs / 1000} s`
  if (isUnstuckError(error, 'PERMISSION_DENIED')) return 'this role may not read it'
  return error instanceof Error ? error.message : String(error)
}
