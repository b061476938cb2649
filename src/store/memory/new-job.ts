// What may be enqueued, and the row it becomes.
import { invalidArgument } from '../../errors/index.ts'
import type { Job, JsonValue, NewJob } from '../../job/job.ts'
import type { Policy } from '../../policy/policy.ts'

const MAX_TYPE_LENGTH = 200
const TEXT_FIELDS = ['queue', 'stage', 'owner', 'dedupeKey', 'traceparent'] as const
// PostgreSQL stores neither in text or jsonb: NUL, and half of a surrogate pair.
const UNSTORABLE = /\0|\p{Surrogate}/u

export function checkNewJob(job: NewJob, name: string): void {
  if (
    typeof job.type !== 'string' ||
    job.type === '' ||
    job.type.length > MAX_TYPE_LENGTH ||
    hasUnstorable(job.type)
  )
    throw invalidArgument(`${name}.type`, job.type, `a text of 1 to ${MAX_TYPE_LENGTH} characters`)
  for (const field of TEXT_FIELDS) {
    const text = job[field]
    if (text !== undefined && (typeof text !== 'string' || hasUnstorable(text)))
      throw invalidArgument(`${name}.${field}`, text, 'a text without NUL')
  }
  checkWhole(job.priority, `${name}.priority`, -32_768, 32_767)
  checkWhole(job.expectedDurationMs, `${name}.expectedDurationMs`, 0, Number.MAX_SAFE_INTEGER)
  checkWhole(job.maxAttempts, `${name}.maxAttempts`, 1, 1000)
  checkStart(job, name)
  if (job.payload !== undefined) copyJson(job.payload, `${name}.payload`)
}

function checkStart({ delayMs, runAt }: NewJob, name: string): void {
  if (delayMs !== undefined && runAt !== undefined)
    throw invalidArgument(`${name}.runAt`, runAt, 'a time only where there is no delayMs')
  if (delayMs !== undefined && !(Number.isFinite(delayMs) && delayMs >= 0))
    throw invalidArgument(`${name}.delayMs`, delayMs, 'milliseconds from 0')
  if (runAt !== undefined && !(runAt instanceof Date && Number.isFinite(runAt.getTime())))
    throw invalidArgument(`${name}.runAt`, runAt, 'a valid Date')
}

export function checkWhole(value: number | undefined, name: string, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return
  throw invalidArgument(name, value, `a whole number from ${min} to ${max}`)
}

/** A copy as JSON would bring it back, so that the store shares nothing with its caller. */
export function copyJson(value: JsonValue, name: string): JsonValue {
  try {
    const text: string | undefined = JSON.stringify(value, refuseUnstorable)
    if (text !== undefined) return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw invalidArgument(name, value, 'JSON without \\u0000', { withhold: true, cause })
  }
  throw invalidArgument(name, value, 'JSON without \\u0000', { withhold: true })
}

function refuseUnstorable(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError('holds a number that JSON has not')
  if (hasUnstorable(key) || (typeof value === 'string' && hasUnstorable(value)))
    throw new TypeError('holds a character that PostgreSQL cannot store')
  return value
}

function hasUnstorable(text: string): boolean {
  return UNSTORABLE.test(text)
}

/** The row of a checked job. The maximum in force is written into it, so that it is visible there. */
export function newRow(policy: Policy, job: NewJob, id: string, nowMs: number): Job {
  const now = new Date(nowMs)
  return {
    ...emptyRow(id, now),
    type: job.type,
    queue: job.queue ?? job.type,
    payload: job.payload === undefined ? {} : copyJson(job.payload, 'payload'),
    priority: job.priority ?? 0,
    owner: job.owner ?? null,
    dedupeKey: job.dedupeKey ?? null,
    stage: job.stage ?? null,
    expectedDurationMs: job.expectedDurationMs ?? null,
    runAt: job.delayMs === undefined ? (job.runAt ?? null) : new Date(nowMs + job.delayMs),
    maxAttempts: job.maxAttempts ?? policy.maxAttempts,
    traceparent: job.traceparent ?? null,
    updatedAt: now,
  }
}

export function emptyRow(id: string, createdAt: Date): Job {
  return {
    id,
    type: 'job',
    queue: 'job',
    payload: {},
    priority: 0,
    status: 'waiting',
    owner: null,
    dedupeKey: null,
    stage: null,
    expectedDurationMs: null,
    createdAt,
    updatedAt: null,
    queuedAt: null,
    runAt: null,
    startedAt: null,
    finishedAt: null,
    workerId: null,
    leaseId: null,
    leaseExpiresAt: null,
    heartbeatAt: null,
    deadlineAt: null,
    fence: 0,
    finishedLeaseId: null,
    attempt: 0,
    failures: 0,
    crashes: 0,
    timeouts: 0,
    releases: 0,
    interruptions: 0,
    maxAttempts: null,
    generation: 1,
    cancelRequestedAt: null,
    reapedAt: null,
    error: null,
    result: null,
    traceparent: null,
  }
}
