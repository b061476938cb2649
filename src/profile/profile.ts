// How the engine sees one deployment: its tables, their columns and words, and its policy.
import type { CodeSet } from '../errors/index.ts'
import type { JobStatus } from '../job/job.ts'
import type { BreakerMode } from '../policy/dependency/breaker.ts'
import type { Policy } from '../policy/policy.ts'

/** Every column the engine uses, by its own name. A profile maps it to the team's column, or lets attach add it. */
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
] as const

export type LogicalColumn = (typeof logicalColumns)[number]

export type IdType = 'uuid' | 'bigint' | 'text'

/** One job table. `attachment` names it in function names, policies and events. */
export interface TableProfile {
  attachment: string
  schema: string
  table: string
  idType: IdType
  /** Columns whose name differs from the engine's. */
  columns: Partial<Record<LogicalColumn, string>>
  /** The words of its status column. A claim writes the first running word; a null means dead with a code. */
  statuses: Record<Exclude<JobStatus, 'running' | 'cancelled'>, string> & {
    running: [string, ...string[]]
    cancelled: string | null
  }
  /** Words of rows that are none of the engine's business: it leaves them alone. */
  ignoredStatuses?: string[]
  /** The type of rows that were not enqueued through the engine, where the table has no type column. */
  defaultType: string | null
  /** The times by which a running row without a lease is judged (REAP-8). */
  ageColumns: [LogicalColumn, ...LogicalColumn[]]
  /** The team's own events table, written in the same transaction as ours. */
  teamEvents: TeamEvents | null
  /**
   * Waiting jobs without budget are not claimed, and sweeps end them. Only for a table that nobody but the engine writes: of a
   * team's table a waiting job runs once more, and its end is judged (C29).
   */
  judgesWaiting?: boolean
  /** `last_attempt_at` is the team's time of its lock: cleared with it, and newer than our lease where a hand locked. */
  hasLockTime?: boolean
  /**
   * No two unfinished jobs of a type may have one dedupe key, whoever writes them: attach adds a unique index. Elsewhere
   * only jobs that are enqueued through the engine are deduplicated.
   */
  hasUniqueDedupeKey?: boolean
  /** The team's own column of one error text, beside our code and reason. */
  lastError?: LastError
  /** Functions and views of the team's own SQL, in the order of their removal. */
  teamObjects?: TeamObject[]
  /** Indexes that the team's own document names. Made on request: one over a column that heartbeats write costs HOT. */
  documentIndexes?: DocumentIndex[]
  policy: Policy
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

/** `{lease_min}`, `{worker_id}` and `{attempt}` stand for those of the lease that ran out. */
export interface LastError {
  column: string
  requeued: string
  dead: string
}

/** Something in the schema of the table, under a name that the team's SQL calls. */
export interface TeamObject {
  /** A file of sql/team makes it; a wrapper is made from what has its name: it calls another function before that. */
  kind: 'function' | 'view' | 'wrapper'
  name: string
  /** The types of a function's arguments, where it has any. */
  takes?: string
  /** What a wrapper calls first. */
  calls?: string
  /** Which step of the team's own plan brings it. */
  phase: number
}

export interface Profile {
  /** A shipped one's, or that of a team's own. */
  name: string
  tables: [TableProfile, ...TableProfile[]]
  /** The codes that people outside may see; a job's own code as it is where absent. */
  codes?: CodeSet
  /** How the breaker of the gateway closes, where the application does not say. */
  breakerMode?: BreakerMode
  /** Workers delete ended jobs past the retention, where the application does not say. */
  isPruned?: boolean
}

/** The team's name of a logical column. */
export function columnName(table: TableProfile, column: LogicalColumn): string {
  return table.columns[column] ?? column
}
