// Maps jobs to nodes: the names of document 002, and the properties that indexes need.
import { createHash } from 'node:crypto'
import neo4j, { type DateTime, type Integer } from 'neo4j-driver'
import type { ErrorCategory, Job, JobProgress, JobStatus, JsonValue } from '../../../job/job.ts'
import { causeId } from '../../memory/reading/cause-id.ts'
import { dueMs } from '../../memory/state/memory-state.ts'
import { toDateTime as toUtcDateTime } from '../graph/node-times.ts'
import { markUnreadable } from './unreadable.ts'

export type NodeValue = string | Integer | DateTime | null
export type NodeProperties = { [name: string]: NodeValue }

/** How many claims of one queue can run side by side. */
export const BUCKETS = 8

/** Document 002 has four statuses: a cancelled job is a failed one with the code `cancelled`. */
const words = {
  waiting: 'pending',
  running: 'processing',
  succeeded: 'completed',
  dead: 'failed',
  cancelled: 'failed',
} as const satisfies Record<JobStatus, string>

const texts = {
  type: 'type',
  queue: 'queue',
  owner: 'owner',
  dedupeKey: 'dedupe_key',
  stage: 'stage',
  workerId: 'lock_owner',
  leaseId: 'lease_id',
  finishedLeaseId: 'finished_lease_id',
  traceparent: 'traceparent',
} as const satisfies Partial<Record<keyof Job, string>>

const numbers = {
  priority: 'priority',
  expectedDurationMs: 'expected_duration_ms',
  fence: 'fence',
  attempt: 'attempts',
  failures: 'failures',
  crashes: 'crashes',
  timeouts: 'timeouts',
  releases: 'releases',
  interruptions: 'interruptions',
  maxAttempts: 'max_attempts',
  generation: 'generation',
} as const satisfies Partial<Record<keyof Job, string>>

const times = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  queuedAt: 'queued_at',
  runAt: 'run_at',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
  lastAttemptAt: 'last_attempt_at',
  leaseExpiresAt: 'lock_until',
  heartbeatAt: 'heartbeat_at',
  deadlineAt: 'deadline_at',
  cancelRequestedAt: 'cancel_requested_at',
  reapedAt: 'reaped_at',
  expiresAt: 'expires_at',
} as const satisfies Partial<Record<keyof Job, string>>

export function toNode(job: Job): NodeProperties {
  const { error, status } = job
  return {
    id: job.id,
    status: words[status],
    payload: JSON.stringify(job.payload),
    result: job.result === null ? null : JSON.stringify(job.result),
    ...properties(texts, (field) => job[field]),
    ...properties(numbers, (field) => toInteger(job[field])),
    ...properties(times, (field) => toDateTime(job[field])),
    backoff_steps_ms: job.backoffStepsMs === null ? null : JSON.stringify(job.backoffStepsMs),
    progress: job.progress === null ? null : JSON.stringify(job.progress),
    error_code: status === 'cancelled' ? 'cancelled' : (error?.code ?? null),
    error_message: error?.reason ?? null,
    error_category: error?.category ?? null,
    error_stack: error?.stack ?? null,
    error_attempt: toInteger(error?.attempt ?? null),
    ...derived(job),
  }
}

/** Derived properties that statements search by. */
function derived(job: Job): NodeProperties {
  const { status, type, dedupeKey, error } = job
  const isUnfinished = status === 'waiting' || status === 'running'
  return {
    bucket: toInteger(bucketOf(job.id)),
    // Also of ended jobs: one whose status the application sets back to pending can then be claimed at once.
    due_at: toDateTime(new Date(dueMs(job))),
    active_key: isUnfinished && dedupeKey !== null ? activeKey(type, dedupeKey) : null,
    ended_at: isUnfinished ? null : toDateTime(job.finishedAt ?? job.updatedAt ?? job.createdAt),
    cause_id: status === 'dead' ? causeId(error?.code ?? null, error?.reason ?? null) : null,
  }
}

export function bucketOf(jobId: string): number {
  return (createHash('sha256').update(jobId).digest()[0] ?? 0) % BUCKETS
}

/** Unique among unfinished jobs. The length keeps type and key apart. */
export function activeKey(type: string, dedupeKey: string): string {
  return `${type.length}:${type}:${dedupeKey}`
}

/** Accepts nodes that an application created itself: missing properties get their defaults. */
export function toJob(row: unknown): Job {
  const node = row as { [name: string]: unknown }
  const text = (name: string) => (typeof node[name] === 'string' ? node[name] : null)
  const number = (name: string) => fromInteger(node[name])
  const count = (name: string) => number(name) ?? 0
  const error = {
    code: text('error_code'),
    reason: text('error_message'),
    category: text('error_category') as ErrorCategory | null,
    stack: text('error_stack'),
    attempt: number('error_attempt'),
  }
  const type = text('type') ?? 'embed'
  const payload = fromJson(text('payload'))
  const job: Job = {
    ...fields(texts, text),
    group: null,
    ...fields(times, (name) => fromDateTime(node[name])),
    id: text('id') ?? '',
    type,
    queue: text('queue') ?? type,
    createdAt: fromDateTime(node['created_at']) ?? new Date(0),
    status: statusOf(text('status'), error.code),
    payload: text('payload') === null ? {} : payload.value,
    result: fromJson(text('result')).value,
    error: Object.values(error).every((part) => part === null) ? null : error,
    priority: count('priority'),
    expectedDurationMs: number('expected_duration_ms'),
    fence: count('fence'),
    attempt: count('attempts'),
    failures: count('failures'),
    crashes: count('crashes'),
    timeouts: count('timeouts'),
    releases: count('releases'),
    interruptions: count('interruptions'),
    maxAttempts: number('max_attempts'),
    generation: number('generation') ?? 1,
    backoffStepsMs: fromJson(text('backoff_steps_ms')).value as number[] | null,
    progress: fromJson(text('progress')).value as JobProgress | null,
  }
  if (payload.problem !== null) markUnreadable(job, `its payload is no JSON (${payload.problem})`)
  return job
}

export function statusWord(status: JobStatus): string {
  return words[status]
}

/** Times that are there and not understood, so that a lease or an age cannot be judged. */
export function describeOddTimes(node: { [name: string]: unknown }): string[] {
  return Object.values(times).flatMap((name) => {
    const value = node[name]
    if (value === undefined || value === null || fromDateTime(value) !== null) return []
    return [`a ${name} that is no datetime`]
  })
}

function statusOf(word: string | null, code: string | null): JobStatus {
  if (word === 'failed') return code === 'cancelled' ? 'cancelled' : 'dead'
  if (word === 'processing') return 'running'
  return word === 'completed' ? 'succeeded' : 'waiting'
}

/** Text that is no JSON is shown as it is: reads and sweeps go on. */
function fromJson(text: string | null): { value: JsonValue; problem: string | null } {
  try {
    return { value: text === null ? null : (JSON.parse(text) as JsonValue), problem: null }
  } catch (error) {
    return { value: text, problem: (error as SyntaxError).message }
  }
}

export function toInteger(value: number | null): Integer | null {
  return value === null ? null : neo4j.int(Math.round(value))
}

function fromInteger(value: unknown): number | null {
  if (typeof value === 'number') return value
  return neo4j.isInt(value) ? value.toNumber() : null
}

export function toDateTime(date: Date | null): DateTime | null {
  return date === null ? null : toUtcDateTime(date)
}

export function fromDateTime(value: unknown): Date | null {
  return neo4j.isDateTime(value) ? value.toStandardDate() : null
}

function properties<Field extends string, Value>(
  names: Readonly<Record<Field, string>>,
  read: (field: Field) => Value,
): { [name: string]: Value } {
  return Object.fromEntries(Object.entries(names).map(([field, name]) => [name, read(field as Field)])) as {
    [name: string]: Value
  }
}

function fields<Field extends string, Value>(
  names: Readonly<Record<Field, string>>,
  read: (name: string) => Value,
): Record<Field, Value> {
  return Object.fromEntries(
    Object.entries<string>(names).map(([field, name]) => [field, read(name)]),
  ) as Record<Field, Value>
}
