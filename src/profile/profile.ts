// The description of a deployment: its tables, their columns and status words, and its policy.
import type { CodeSet } from '../errors/index.ts'
import type { JobStatus } from '../job/job.ts'
import type { BreakerMode } from '../policy/dependency/breaker.ts'
import type { Policy } from '../policy/policy.ts'

/** All columns that the engine uses. A profile maps each to the team's column, or attach adds it. */
export const logicalColumns = [
  'id',
  'type',
  'queue',
  'payload',
  'priority',
  'status',
  'owner',
  'dedupe_key',
  'created_at',
  'updated_at',
  'queued_at',
  'run_at',
  'started_at',
  'finished_at',
  'last_attempt_at',
  'worker_id',
  'lease_id',
  'lease_expires_at',
  'heartbeat_at',
  'deadline_at',
  'fence',
  'finished_lease_id',
  'stage',
  'expected_duration_ms',
  'attempt',
  'failures',
  'crashes',
  'timeouts',
  'releases',
  'interruptions',
  'max_attempts',
  'generation',
  'cancel_requested_at',
  'reaped_at',
  'error_code',
  'error_reason',
  'error_category',
  'error_stack',
  'error_attempt',
  'result',
  'traceparent',
  'backoff_steps_ms',
  'expires_at',
  'progress_value',
  'progress_text',
  'group_key',
] as const

export type LogicalColumn = (typeof logicalColumns)[number]

/** Columns that hold a time. */
export const timeColumns = [
  'created_at',
  'updated_at',
  'queued_at',
  'run_at',
  'started_at',
  'finished_at',
  'last_attempt_at',
  'lease_expires_at',
  'heartbeat_at',
  'deadline_at',
  'cancel_requested_at',
  'reaped_at',
  'expires_at',
] as const satisfies readonly LogicalColumn[]

/** Parts of the engine that need columns of their own. Attach adds those of the features that a table uses (ADR 0034). */
export const featureNames = [
  'deadlines',
  'stages',
  'dedupe',
  'cancel',
  'payload',
  'queues',
  'priority',
  'owners',
  'max-attempts',
  'results',
  'errors',
  'times',
  'releases',
  'tracing',
  'backoff',
  'expiry',
  'progress',
  'groups',
] as const

export type Feature = (typeof featureNames)[number]

export type IdType = 'uuid' | 'bigint' | 'text'

/** One job table. `attachment` names it in function names, policies and events. */
export interface TableProfile {
  attachment: string
  schema: string
  table: string
  idType: IdType
  /** Columns whose name differs from the engine's. */
  columns: Partial<Record<LogicalColumn, string>>
  /** Words of its status column. A claim writes the first running word. Null: cancelled jobs are dead, with a code. */
  statuses: Record<Exclude<JobStatus, 'running' | 'cancelled'>, string> & {
    running: [string, ...string[]]
    cancelled: string | null
  }
  /** Keys of the payload that are columns of the table, by their own names. No other column of the team's is read for it. */
  payload?: Record<string, string>
  /** Times that say the state of a row, if no column does. */
  stateColumns?: StateColumns
  /** Words of rows that the engine ignores. */
  ignoredStatuses?: string[]
  /** Type of rows that were not enqueued through the engine, if the table has no type column. */
  defaultType: string | null
  /** Features whose columns attach adds, beside those that the policy needs. Others can be chosen at attach. */
  features?: Feature[]
  /** Times that determine the age of a running row without a lease (REAP-8). */
  ageColumns: [LogicalColumn, ...LogicalColumn[]]
  /** More times for the same purpose: columns of the table that the engine does not use otherwise, by their own names. */
  teamAgeColumns?: string[]
  /**
   * Zone of the table's times without one: `UTC` (default), an offset such as `+02:00`, or a name such as `Europe/Berlin`. The
   * offset of a named zone changes, so its times can only tell an age (OPS-13).
   */
  timeZone?: string
  /** Unit of integer columns that hold times, counted from 1970 in UTC. */
  epochUnit?: 's' | 'ms'
  /** The team's own events table, written in the same transaction as the engine's. */
  teamEvents: TeamEvents | null
  /**
   * Waiting jobs without budget are not claimed, and sweeps end them. Only for a table that only the engine writes: in a
   * team's table a waiting job runs once more before it is ended (C29).
   */
  judgesWaiting?: boolean
  /** `last_attempt_at` is the time of the team's lock: cleared with it, and newer than our lease if locked manually. */
  hasLockTime?: boolean
  /**
   * Unfinished jobs of a type have unique dedupe keys, whoever writes them: attach adds a unique index. Otherwise only jobs
   * enqueued through the engine are deduplicated.
   */
  hasUniqueDedupeKey?: boolean
  /** The team's own column for an error text, beside code and reason. */
  lastError?: LastError
  /** Functions and views that the team's SQL calls, in the order of their removal. */
  teamObjects?: TeamObject[]
  /** Indexes that the team's document names. Created on request: an index on a column that heartbeats write prevents HOT. */
  documentIndexes?: DocumentIndex[]
  policy: Policy
}

/** Columns that are NULL unless a row is in that state. A row without any of them waits. */
export interface StateColumns {
  running: string
  /** Unset: rows are deleted when they succeed, and the engine claims none. */
  succeeded?: string
  /** Unset: a job that spent its budget keeps its lock. */
  dead?: string
}

export interface DocumentIndex {
  name: string
  columns: [LogicalColumn, ...LogicalColumn[]]
}

export interface TeamEvents {
  schema: string
  table: string
  jobIdColumn: string
  dataColumn: string
}

/** `{lease_min}`, `{worker_id}` and `{attempt}` are replaced by those of the expired lease. */
export interface LastError {
  column: string
  requeued: string
  dead: string
}

/** An object in the table's schema, under a name that the team's SQL calls. */
export interface TeamObject {
  /** Created by a file of sql/team. A wrapper replaces an existing function and calls another one before it. */
  kind: 'function' | 'view' | 'wrapper'
  name: string
  /** The document's name of an object that the team calls otherwise: the file of sql/team. */
  document?: string
  /** Argument types of a function, if it has any. */
  takes?: string
  /** The function that a wrapper calls first. */
  calls?: string
  /** Step of the team's own plan that creates it. */
  phase: number
}

export interface Profile {
  /** Name of a shipped profile, or of a team's own. */
  name: string
  tables: [TableProfile, ...TableProfile[]]
  /** The shipped profile that it differs from in a few points. Its variables apply. */
  extends?: string
  /** Codes that users may see. Default: the job's own code. */
  codes?: CodeSet
  /** Default mode of the gateway's breaker. */
  breakerMode?: BreakerMode
  /** Whether workers delete ended jobs past their retention, by default. */
  isPruned?: boolean
}

/** The team's name of a logical column. */
export function columnName(table: TableProfile, column: LogicalColumn): string {
  return table.columns[column] ?? column
}

/** The columns that determine the age of a running row, by the team's names. */
export function ageColumnNames(table: TableProfile): string[] {
  return [...table.ageColumns.map((column) => columnName(table, column)), ...(table.teamAgeColumns ?? [])]
}

/** The zone of the table's times without one. */
export const timeZoneOf = ({ timeZone = 'UTC' }: Pick<TableProfile, 'timeZone'>): string => timeZone

/** The times that say the state of a row, as state and name of the column. */
export function stateTimes({
  stateColumns,
}: Pick<TableProfile, 'stateColumns'>): [keyof StateColumns, string][] {
  const { running, succeeded, dead } = stateColumns ?? {}
  return Object.entries({ running, succeeded, dead }).flatMap(([state, name]) =>
    name === undefined ? [] : [[state as keyof StateColumns, name]],
  )
}
