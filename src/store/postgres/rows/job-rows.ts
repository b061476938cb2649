// Maps rows to jobs, outcomes and events.
import type { EventData, EventType, JobEvent } from '../../../job/event.ts'
import type {
  ErrorCategory,
  Job,
  JobErrorRecord,
  JobProgress,
  JobStatus,
  JsonValue,
} from '../../../job/job.ts'
import type { HeartbeatAnswer, Lease } from '../../../job/lease.ts'
import type { StageOutcome } from '../../../job/outcome.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type {
  EnqueuedJob,
  EnteredStage,
  FailedJob,
  Health,
  HiddenJobs,
  HoldReason,
  JobOutcome,
  ReleasedJob,
} from '../../job-store.ts'
import type { Row } from '../connection/executor.ts'
import { toQueues } from './dependency-rows.ts'
import { date, dateOrNull, fieldsOf, numberOrNull, text } from './values.ts'

export function toJobOutcome<Outcome>(row: Row): JobOutcome<Outcome> {
  return { jobId: String(row['id']), outcome: row['outcome'] as Outcome }
}

export function toEnqueuedJobs([row]: Row[]): EnqueuedJob[] {
  const { ids, outcomes } = JSON.parse(String(row?.['enqueued'])) as {
    ids: string[]
    /** Missing if all were created. */
    outcomes?: EnqueuedJob['outcome'][]
  }
  return ids.map((jobId, index) => ({ jobId, outcome: outcomes?.[index] ?? 'created' }))
}

export function toJob(row: Row, table: TableProfile): Job {
  const error = toErrorRecord(row)
  return {
    id: String(row['id']),
    type: String(row['type']),
    queue: String(row['queue']),
    payload: row['payload'] as JsonValue,
    priority: Number(row['priority']),
    status: toStatus(String(row['status']), error, table),
    owner: text(row['owner']),
    group: text(row['group']),
    dedupeKey: text(row['dedupe_key']),
    stage: text(row['stage']),
    expectedDurationMs: numberOrNull(row['expected_duration_ms']),
    ...toTimes(row),
    workerId: text(row['worker_id']),
    leaseId: text(row['lease_id']),
    fence: Number(row['fence']),
    finishedLeaseId: text(row['finished_lease_id']),
    attempt: Number(row['attempt']),
    failures: Number(row['failures']),
    crashes: Number(row['crashes']),
    timeouts: Number(row['timeouts']),
    releases: Number(row['releases']),
    interruptions: Number(row['interruptions']),
    maxAttempts: numberOrNull(row['max_attempts']),
    generation: Number(row['generation']),
    error,
    result: (row['result'] ?? null) as JsonValue,
    traceparent: text(row['traceparent']),
    backoffStepsMs: (row['backoff_steps_ms'] ?? null) as number[] | null,
    progress: toProgress(row),
  }
}

export function toProgress(row: Row): JobProgress | null {
  const value = numberOrNull(row['progress_value'])
  return value === null ? null : { value, text: text(row['progress_text']) }
}

function toTimes(row: Row) {
  return {
    createdAt: date(row['created_at']),
    updatedAt: dateOrNull(row['updated_at']),
    queuedAt: dateOrNull(row['queued_at']),
    runAt: dateOrNull(row['run_at']),
    startedAt: dateOrNull(row['started_at']),
    finishedAt: dateOrNull(row['finished_at']),
    lastAttemptAt: dateOrNull(row['last_attempt_at']),
    leaseExpiresAt: dateOrNull(row['lease_expires_at']),
    heartbeatAt: dateOrNull(row['heartbeat_at']),
    deadlineAt: dateOrNull(row['deadline_at']),
    cancelRequestedAt: dateOrNull(row['cancel_requested_at']),
    reapedAt: dateOrNull(row['reaped_at']),
    expiresAt: dateOrNull(row['expires_at']),
  }
}

export function toErrorRecord(row: Row): JobErrorRecord | null {
  const error: JobErrorRecord = {
    code: text(row['error_code']),
    reason: text(row['error_reason']),
    category: text(row['error_category']) as ErrorCategory | null,
    stack: text(row['error_stack']),
    attempt: numberOrNull(row['error_attempt']),
  }
  return Object.values(error).every((value) => value === null) ? null : error
}

/** Maps the table's own status word. Without a word for cancelled, such jobs are dead with that error code. */
export function toStatus(word: string, error: JobErrorRecord | null, table: TableProfile): JobStatus {
  const { waiting, running, succeeded, dead, cancelled } = table.statuses
  if (word === waiting) return 'waiting'
  if (running.includes(word)) return 'running'
  if (word === succeeded) return 'succeeded'
  if (word === cancelled) return 'cancelled'
  if (word === dead) return cancelled === null && error?.code === 'cancelled' ? 'cancelled' : 'dead'
  throw new Error(`status ${JSON.stringify(word)} is not a word of ${table.schema}.${table.table}`)
}

export function toHeartbeatAnswer(row: Row): Lease & { answer: HeartbeatAnswer } {
  return {
    jobId: String(row['id']),
    leaseId: String(row['lease_id']),
    answer: row['answer'] as HeartbeatAnswer,
  }
}

export function toEnteredStage(row: Row): EnteredStage {
  return {
    outcome: row['outcome'] as StageOutcome,
    leaseMs: numberOrNull(row['lease_ms']),
    deadlineMs: numberOrNull(row['deadline_ms']),
  }
}

export function toFailedJob(row: Row): FailedJob {
  return { ...toJobOutcome(row), retryInMs: numberOrNull(row['retry_in_ms']) }
}

export function toReleasedJob(row: Row): ReleasedJob {
  return { ...toJobOutcome(row), retryInMs: numberOrNull(row['retry_in_ms']) }
}

export function toEvent(row: Row): JobEvent {
  return {
    id: String(row['id']),
    jobId: String(row['job_id']),
    type: row['type'] as EventType,
    at: date(row['at']),
    data: row['data'] as EventData,
  }
}

export function toHealth(row: Row): Health {
  return {
    waiting: Number(row['waiting']),
    due: Number(row['due']),
    running: Number(row['running']),
    overdue: Number(row['overdue']),
    oldestOverdueMs: numberOrNull(row['oldest_overdue_ms']),
    oldestDueMs: numberOrNull(row['oldest_due_ms']),
    unjudged: Number(row['unjudged']),
    reaperAgeMs: numberOrNull(row['reaper_age_ms']),
    holdReason: text(row['hold_reason']) as HoldReason | null,
    releasedOften: Number(row['released_often']),
    hidden: toHidden(row['hidden'] as Row | null),
    atLeast: fieldsOf(row['at_least']),
    queues: toQueues(row['queues'] as Row[]),
  }
}

export function toHidden(hidden: Row | null): HiddenJobs | null {
  if (hidden === null) return null
  return {
    role: String(hidden['role']),
    table: String(hidden['table']),
    isAll: hidden['is_all'] === true,
    fix: String(hidden['fix']),
  }
}
