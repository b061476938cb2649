// Validates new jobs and builds their rows.
import { invalidArgument } from '../../../errors/index.ts'
import type { Job, JsonValue, NewJob } from '../../../job/job.ts'
import { backoffSteps, checkRules, dedupeKeyOf, maxAttemptsOf } from '../../../job/job-rules.ts'
import { jsonText } from '../../../job/json-text.ts'
import type { Policy } from '../../../policy/policy.ts'
import { checkWhole, hasUnstorable } from './checks.ts'

const MAX_TYPE_LENGTH = 200
const MAX_KEY_BYTES = 1800
const MAX_EXPECTATION_MS = 2_147_483_647
const MAX_DELAY_MS = 10 * 31_536_000_000
const MAX_KEY_LENGTH = 1000
const TEXT_LENGTHS = { queue: 200, stage: 200, owner: 200, group: 200, traceparent: 200 } as const

export function checkNewJob(job: NewJob, name: string): void {
  if (!isText(job.type, MAX_TYPE_LENGTH))
    throw invalidArgument(`${name}.type`, job.type, `a text of 1 to ${MAX_TYPE_LENGTH} characters`)
  for (const [field, maxLength] of Object.entries(TEXT_LENGTHS)) {
    const text: unknown = job[field as keyof typeof TEXT_LENGTHS]
    if (text !== undefined && !isText(text, maxLength))
      throw invalidArgument(`${name}.${field}`, text, `a text of 1 to ${maxLength} characters`)
  }
  checkRules(job)
  checkKey(dedupeKeyOf(job), `${name}.dedupeKey`)
  checkWhole(job.priority, `${name}.priority`, -32_768, 32_767)
  checkWhole(job.expectedDurationMs, `${name}.expectedDurationMs`, 0, MAX_EXPECTATION_MS)
  checkWhole(job.maxAttempts, `${name}.maxAttempts`, 1, 1000)
  checkTime(name, { delayMs: job.delayMs, runAt: job.runAt })
  checkTime(name, { ttlMs: job.ttlMs, expiresAt: job.expiresAt })
  if (job.payload !== undefined) copyJson(job.payload, `${name}.payload`)
}

function checkKey(key: unknown, name: string): void {
  if (key === undefined) return
  if (!isText(key, MAX_KEY_LENGTH))
    throw invalidArgument(name, key, `a text of 1 to ${MAX_KEY_LENGTH} characters`)
  if (Buffer.byteLength(key as string) > MAX_KEY_BYTES)
    throw invalidArgument(name, key, `a text of at most ${MAX_KEY_BYTES} bytes`)
}

/** A duration from now, or a time: one of the two. */
function checkTime(name: string, given: { [field: string]: unknown }): void {
  const [[durationName, duration] = ['', undefined], [timeName, time] = ['', undefined]] =
    Object.entries(given)
  if (duration !== undefined && time !== undefined)
    throw invalidArgument(`${name}.${timeName}`, time, `unset if ${durationName} is set`)
  if (duration !== undefined && !(typeof duration === 'number' && duration >= 0 && duration <= MAX_DELAY_MS))
    throw invalidArgument(`${name}.${durationName}`, duration, 'milliseconds from 0 to ten years')
  if (time !== undefined && !(time instanceof Date && Number.isFinite(time.getTime())))
    throw invalidArgument(`${name}.${timeName}`, time, 'a valid Date')
}

/** A copy as JSON would restore it, so that the store shares nothing with its caller. */
export function copyJson(value: unknown, name: string): JsonValue {
  return JSON.parse(jsonText(name, value)) as JsonValue
}

/** Counts like PostgreSQL: a character outside the basic plane is one. */
function isText(value: unknown, maxLength: number): boolean {
  if (typeof value !== 'string' || value === '' || hasUnstorable(value)) return false
  return value.length <= maxLength || Array.from(value).length <= maxLength
}

/** The row of a valid job. The current maximum is written into it, to be visible there. */
export function newRow(policy: Policy, job: NewJob, id: string, nowMs: number): Job {
  const now = new Date(nowMs)
  return {
    ...emptyRow(id, now),
    type: job.type,
    queue: job.queue ?? job.type,
    payload: job.payload === undefined ? {} : copyJson(job.payload, 'payload'),
    priority: job.priority ?? 0,
    owner: job.owner ?? null,
    group: job.group ?? null,
    dedupeKey: dedupeKeyOf(job) ?? null,
    stage: job.stage ?? null,
    expectedDurationMs: job.expectedDurationMs ?? null,
    runAt: timeOf(job.runAt, job.delayMs, nowMs),
    maxAttempts: maxAttemptsOf(job) ?? policy.maxAttempts,
    backoffStepsMs: job.retry?.backoff === undefined ? null : backoffSteps(job.retry.backoff),
    expiresAt: timeOf(job.expiresAt, job.ttlMs, nowMs),
    traceparent: job.traceparent ?? null,
    updatedAt: now,
  }
}

/** A time in the past is now: the job has waited no longer than it exists. */
function timeOf(time: Date | undefined, durationMs: number | undefined, nowMs: number): Date | null {
  if (time !== undefined) return new Date(Math.max(time.getTime(), nowMs))
  return durationMs === undefined ? null : new Date(nowMs + durationMs)
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
    group: null,
    dedupeKey: null,
    stage: null,
    expectedDurationMs: null,
    createdAt,
    updatedAt: null,
    queuedAt: null,
    runAt: null,
    startedAt: null,
    finishedAt: null,
    lastAttemptAt: null,
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
    backoffStepsMs: null,
    expiresAt: null,
    progress: null,
  }
}
