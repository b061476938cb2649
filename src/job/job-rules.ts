// Rules that a job brings: its attempts and the waits between them, and what happens beside a job with the same key.
import { invalidArgument, requireKnownNames } from '../errors/index.ts'
import type { NewJob, RetryBackoff } from './job.ts'
import { isDate } from './json-loss.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const MOST_STEPS = 100
const STEPS_TAKE = `1 to ${MOST_STEPS} waits of 0 to ${YEAR_MS} ms, or { baseMs, maxMs }, the smaller first`

export const maxAttemptsOf = ({ maxAttempts, retry }: NewJob): number | undefined =>
  maxAttempts ?? retry?.attempts

export const dedupeKeyOf = ({ dedupeKey, dedupe }: NewJob): string | undefined => dedupeKey ?? dedupe?.key

/** The waits as the database keeps them: doubling ones end at their maximum, which repeats. */
export function backoffSteps(backoff: RetryBackoff): number[] {
  if (Array.isArray(backoff)) return backoff
  const { baseMs, maxMs = Math.max(baseMs, HOUR_MS) } = backoff
  const steps = [Math.min(baseMs, maxMs)]
  for (let ms = baseMs; ms < maxMs && steps.length < MOST_STEPS; steps.push(Math.min(ms, maxMs))) ms *= 2
  return steps
}

export function checkBackoff(name: string, backoff: unknown): void {
  if (!isBackoff(backoff)) throw invalidArgument(name, backoff, STEPS_TAKE)
}

function isBackoff(backoff: unknown): boolean {
  if (Array.isArray(backoff))
    return backoff.length >= 1 && backoff.length <= MOST_STEPS && backoff.every((ms) => isWait(ms))
  if (typeof backoff !== 'object' || backoff === null) return false
  const { baseMs, maxMs = baseMs, ...others } = backoff as { baseMs?: unknown; maxMs?: unknown }
  const areWaits = isWait(baseMs) && isWait(maxMs)
  return Object.keys(others).length === 0 && areWaits && baseMs !== 0 && Number(maxMs) >= Number(baseMs)
}

const isWait = (ms: unknown) => Number.isInteger(ms) && (ms as number) >= 0 && (ms as number) <= YEAR_MS

export function checkRules(job: NewJob): void {
  const { retry, maxAttempts, dedupe, dedupeKey } = job
  checkExpiry(job)
  if (retry !== undefined) {
    checkRetry(retry)
    if (retry.attempts !== undefined && maxAttempts !== undefined)
      throw invalidArgument('retry.attempts', retry.attempts, 'a number or maxAttempts, not both')
    checkAttempts('retry.attempts', retry.attempts)
    if (retry.backoff !== undefined) checkBackoff('retry.backoff', retry.backoff)
  }
  if (dedupe === undefined) return
  requireRecord('dedupe', dedupe, '{ key, forMs, replace }')
  requireKnownNames('dedupe', Object.keys(dedupe), ['key', 'forMs', 'replace'], 'field')
  const { key, forMs, replace } = dedupe
  if (dedupeKey !== undefined) throw invalidArgument('dedupeKey', dedupeKey, 'a key or dedupe, not both')
  if (typeof key !== 'string') throw invalidArgument('dedupe.key', key, 'a text')
  if (forMs !== undefined && !(typeof forMs === 'number' && forMs > 0 && forMs <= YEAR_MS))
    throw invalidArgument('dedupe.forMs', forMs, 'milliseconds up to one year')
  if (replace !== undefined && typeof replace !== 'boolean')
    throw invalidArgument('dedupe.replace', replace, 'true or false')
  if (replace === true && forMs !== undefined)
    throw invalidArgument('dedupe.replace', replace, 'true or forMs, not both')
}

/**
 * A duration beside a time is left to the claim: which of them comes first depends on when the job is enqueued. Values of another
 * kind compare as false, and are refused as such.
 */
function checkExpiry({ delayMs = 0, runAt, ttlMs, expiresAt }: NewJob): void {
  if (ttlMs !== undefined && delayMs > 0 && ttlMs <= delayMs)
    throw invalidArgument('ttlMs', ttlMs, 'more than delayMs')
  if (isDate(runAt) && isDate(expiresAt) && expiresAt <= runAt)
    throw invalidArgument('expiresAt', expiresAt, 'a time after runAt')
}

/** The names of a retry rule, of a job or of a handler. */
export function checkRetry(retry: unknown): void {
  requireRecord('retry', retry, '{ attempts, backoff }')
  requireKnownNames('retry', Object.keys(retry), ['attempts', 'backoff'], 'field')
}

function requireRecord(name: string, value: unknown, takes: string): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidArgument(name, value, takes)
}

export function checkAttempts(name: string, attempts: unknown): void {
  const isValid = Number.isInteger(attempts) && (attempts as number) >= 1 && (attempts as number) <= 1_000
  if (attempts !== undefined && !isValid)
    throw invalidArgument(name, attempts, 'a whole number from 1 to 1000')
}
