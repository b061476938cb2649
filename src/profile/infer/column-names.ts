// Column names that hand-made job tables use for the engine's columns, the most specific first. Only names with an unambiguous
// meaning are listed; attach adds the other columns.
import type { LogicalColumn } from '../profile.ts'

export const columnNames: Partial<Record<LogicalColumn, readonly string[]>> = {
  worker_id: [
    'worker_id',
    'locked_by',
    'lock_owner',
    'leased_by',
    'claimed_by',
    'reserved_by',
    'picked_by',
    'worker_name',
    'worker',
  ],
  lease_expires_at: [
    'lease_expires_at',
    'lease_until',
    'leased_until',
    'lock_until',
    'locked_until',
    'lock_expires_at',
    'claim_expires_at',
    'visible_at',
    'expires_at',
  ],
  heartbeat_at: ['heartbeat_at', 'last_heartbeat_at', 'last_heartbeat', 'last_seen_at', 'last_ping_at'],
  attempt: [
    'attempt',
    'attempts',
    'attempt_count',
    'attempts_made',
    'num_attempts',
    'tries',
    'retry_count',
    'retries',
  ],
  max_attempts: ['max_attempts', 'attempts_max', 'max_tries', 'max_retries'],
  run_at: [
    'run_at',
    'next_earliest_run_at',
    'next_run_at',
    'next_attempt_at',
    'retry_after',
    'retry_at',
    'scheduled_at',
    'scheduled_for',
    'available_at',
    'not_before',
  ],
  priority: ['priority', 'prio'],
  type: ['type', 'job_type', 'kind', 'job_name', 'task_name', 'name'],
  queue: ['queue', 'queue_name'],
  payload: ['payload', 'args', 'data', 'params', 'arguments', 'input'],
  result: ['result', 'output'],
  error_code: ['error_code', 'fail_code', 'failure_code'],
  error_reason: ['error_reason', 'last_error', 'error_message', 'fail_reason', 'failure_reason', 'error'],
  created_at: ['created_at', 'inserted_at'],
  updated_at: ['updated_at', 'modified_at', 'last_updated_at'],
  started_at: ['started_at', 'processing_started_at'],
  finished_at: ['finished_at', 'completed_at', 'ended_at', 'done_at'],
  last_attempt_at: ['last_attempt_at', 'locked_at', 'claimed_at', 'leased_at', 'attempted_at'],
  queued_at: ['queued_at', 'enqueued_at'],
  dedupe_key: ['dedupe_key', 'dedup_key', 'idempotency_key'],
  owner: ['owner', 'owner_id', 'tenant_id', 'user_id'],
  stage: ['stage'],
  expected_duration_ms: ['expected_duration_ms'],
}

/** Ambiguous names, with what to verify before they are used. */
export const columnDoubts: Readonly<Record<string, string>> = {
  expires_at: 'is it the end of a lock, and not of the job itself?',
  visible_at: 'is it the end of a lock, and not the time from which a waiting job may run?',
  retries: 'the engine counts the first attempt as 1: does it too?',
  retry_count: 'the engine counts the first attempt as 1: does it too?',
  max_retries: 'the engine takes it as the number of all attempts: the first is one of them.',
  name: 'does it name the kind of work, and not this one job?',
  priority: 'the lowest number runs first. Where the highest should, map priority to a new column.',
  prio: 'the lowest number runs first. Where the highest should, map priority to a new column.',
  user_id: 'is it the owner for whom jobs are limited and shown?',
}

/** Time at which a worker took its lock, cleared with it. */
export const lockTimeNames: ReadonlySet<string> = new Set(['locked_at', 'claimed_at', 'leased_at'])

type Kind = 'text' | 'time' | 'count' | 'whole' | 'large' | 'steps' | 'share' | 'json' | 'uuid'

/** Required kinds of columns other than times. */
const columnKinds: Partial<Record<LogicalColumn, Kind>> = {
  type: 'text',
  queue: 'text',
  owner: 'text',
  dedupe_key: 'text',
  worker_id: 'text',
  stage: 'text',
  group_key: 'text',
  progress_text: 'text',
  error_code: 'text',
  error_reason: 'text',
  error_category: 'text',
  error_stack: 'text',
  traceparent: 'text',
  payload: 'json',
  result: 'json',
  lease_id: 'uuid',
  finished_lease_id: 'uuid',
  fence: 'large',
  backoff_steps_ms: 'steps',
  progress_value: 'share',
  attempt: 'count',
  failures: 'count',
  crashes: 'count',
  timeouts: 'count',
  max_attempts: 'count',
  priority: 'whole',
  expected_duration_ms: 'whole',
  releases: 'whole',
  interruptions: 'whole',
  generation: 'whole',
  error_attempt: 'whole',
}

const typesOfKind: Record<Kind, readonly string[]> = {
  text: ['text', 'character varying'],
  time: ['timestamp with time zone', 'timestamp without time zone', 'integer', 'bigint'],
  count: ['smallint', 'integer'],
  whole: ['smallint', 'integer', 'bigint'],
  large: ['bigint'],
  steps: ['bigint[]'],
  share: ['double precision'],
  json: ['json', 'jsonb'],
  uuid: ['uuid'],
}

export function fitsColumn(column: LogicalColumn, type: string): boolean {
  return typesOfKind[columnKinds[column] ?? 'time'].includes(type)
}
