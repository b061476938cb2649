// How the engine sees one deployment: its tables, their columns and words, and its policy.
import type { JobStatus } from '../job/job.ts'
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
  /** The type of rows that were not enqueued through the engine, where the table has no type column. */
  defaultType: string | null
  /** The times by which a running row without a lease is judged (REAP-8). */
  ageColumns: [LogicalColumn, ...LogicalColumn[]]
  /** The team's own events table, written in the same transaction as ours. */
  teamEvents: TeamEvents | null
  policy: Policy
}

export interface TeamEvents {
  schema: string
  table: string
  jobIdColumn: string
  dataColumn: string
}

export interface Profile {
  name: ProfileName
  tables: [TableProfile, ...TableProfile[]]
}

export type ProfileName = 'native' | 'clip'

/** The team's name of a logical column. */
export function columnName(table: TableProfile, column: LogicalColumn): string {
  return table.columns[column] ?? column
}
