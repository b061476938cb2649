import { invalidArgument, requireKnownNames, UnstuckError } from '../errors/index.ts'
import type { NewJob } from './job.ts'
import { checkRules } from './job-rules.ts'
import { isDate } from './json-loss.ts'
import { jsonText } from './json-text.ts'

export interface NewJobLimits {
  /** Limit on the payload as JSON in UTF-8. */
  maxPayloadBytes: number
}

const fields: Record<keyof NewJob, true> = {
  type: true,
  payload: true,
  queue: true,
  priority: true,
  delayMs: true,
  runAt: true,
  stage: true,
  expectedDurationMs: true,
  maxAttempts: true,
  retry: true,
  expiresAt: true,
  ttlMs: true,
  owner: true,
  group: true,
  dedupeKey: true,
  dedupe: true,
  traceparent: true,
}
const fieldNames = Object.keys(fields)
/** Most characters, as the database allows them. */
const texts = {
  type: 200,
  queue: 200,
  stage: 200,
  owner: 200,
  group: 200,
  dedupeKey: 1_000,
  traceparent: 200,
} as const
const textEntries = Object.entries(texts) as [keyof typeof texts, number][]
const MOST_KEY_BYTES = 1_800
const wholeNumbers = {
  priority: [-32_768, 32_767],
  maxAttempts: [1, 1_000],
  expectedDurationMs: [0, 2_147_483_647],
} as const
const wholeEntries = Object.entries(wholeNumbers) as [keyof typeof wholeNumbers, readonly [number, number]][]
const MOST_DELAY_MS = 10 * 365 * 86_400_000
const UNSTORABLE = /\0|\p{Surrogate}/u

/**
 * Checks a job before it is sent, as the database would: a bad job fails alone, not with its batch, and without aborting the
 * caller's transaction. Errors contain no value of the payload.
 */
export function checkNewJob(job: NewJob, { maxPayloadBytes }: NewJobLimits): void {
  if (typeof job !== 'object' || job === null) throw invalidArgument('job', job, 'an object with a type')
  requireKnownNames('job', Object.keys(job), fieldNames, 'field')
  for (const [field, most] of textEntries) {
    const text: unknown = job[field]
    if ((text !== undefined && text !== null) || field === 'type') checkText(field, text, most)
  }
  for (const [field, [least, most]] of wholeEntries) {
    const value: unknown = job[field] ?? undefined
    if (value !== undefined && !isWhole(value, least, most))
      throw invalidArgument(field, value, `a whole number from ${least} to ${most}`)
  }
  checkTime('delayMs', job.delayMs, 'runAt', job.runAt)
  checkTime('ttlMs', job.ttlMs, 'expiresAt', job.expiresAt)
  checkRules(job)
  if (job.dedupe !== undefined) checkText('dedupeKey', job.dedupe.key, texts.dedupeKey)
  if (job.payload !== undefined) checkPayload(job.payload, maxPayloadBytes)
}

/** Checks the group that a declaration gave to a job. */
export function checkGroup(type: string, group: unknown): void {
  checkText('group', group, texts.group, `group of ${type}`)
}

function checkText(field: keyof typeof texts, text: unknown, most: number, name: string = field): void {
  if (typeof text !== 'string') throw invalidArgument(name, text, 'a text')
  if (UNSTORABLE.test(text)) throw invalidArgument(name, text, 'a text without \\u0000 and lone surrogates')
  // Counted like PostgreSQL: a character outside the basic plane is one.
  if (text === '' || (text.length > most && Array.from(text).length > most))
    throw invalidArgument(name, text, `1 to ${most} characters`)
  if (field === 'dedupeKey' && Buffer.byteLength(text) > MOST_KEY_BYTES)
    throw invalidArgument(field, text, `at most ${MOST_KEY_BYTES} bytes`)
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

/** A duration from now, or a time: one of the two. */
function checkTime(durationName: string, duration: unknown, timeName: string, time: unknown): void {
  const hasDuration = duration !== undefined && duration !== null
  const hasTime = time !== undefined && time !== null
  if (hasDuration && !(typeof duration === 'number' && duration >= 0 && duration <= MOST_DELAY_MS))
    throw invalidArgument(durationName, duration, 'milliseconds from 0 to ten years')
  if (hasTime && !isStorableTime(time))
    throw invalidArgument(timeName, time, "a valid Date, such as new Date('2030-01-31T10:00:00Z')")
  if (hasDuration && hasTime) throw invalidArgument(timeName, time, `a time or ${durationName}, not both`)
}

function isStorableTime(time: unknown): boolean {
  if (!isDate(time)) return false
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9_999
}

function checkPayload(payload: unknown, maxPayloadBytes: number): void {
  const bytes = Buffer.byteLength(jsonText('payload', payload))
  if (bytes <= maxPayloadBytes) return
  const takes = `at most ${maxPayloadBytes} bytes of JSON (maxPayloadBytes)`
  throw new UnstuckError('INVALID_ARGUMENT', `payload: got ${bytes} bytes, takes ${takes}`, {
    details: { argument: 'payload', got: `${bytes} bytes`, takes },
    hint: 'Put the data into a file or a bucket and its address into the payload.',
  })
}
