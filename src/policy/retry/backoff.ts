// The wait before a job may run again. The database computes the same in sql/functions/policy/backoff_ms.sql.
import type { Policy } from '../policy.ts'

export interface Backoff {
  stepsMs: number[]
  baseMs: number
  maxMs: number
  jitterMs: number
}

/** `ordinal` is 1 for the first wait. `random` is in [0, 1). The jitter comes on top of the cap. */
export function backoffMs(backoff: Backoff, ordinal: number, random: number): number {
  const { stepsMs, baseMs, maxMs, jitterMs } = backoff
  const nth = Math.max(1, ordinal)
  const stepMs = stepsMs[Math.min(nth, stepsMs.length) - 1]
  // 2^62 overflows a bigint of milliseconds in SQL, so the exponent is capped alike on both sides.
  const waitMs = stepMs ?? Math.min(maxMs, baseMs * 2 ** Math.min(nth - 1, 30))
  return Math.floor(waitMs + random * jitterMs)
}

export function reapBackoff(policy: Policy): Backoff {
  return {
    stepsMs: policy.reapBackoffStepsMs,
    baseMs: policy.reapBackoffBaseMs,
    maxMs: policy.reapBackoffMaxMs,
    jitterMs: 0,
  }
}

export function failureBackoff(policy: Policy): Backoff {
  return {
    stepsMs: policy.failureBackoffStepsMs,
    baseMs: policy.failureBackoffBaseMs,
    maxMs: policy.failureBackoffMaxMs,
    jitterMs: policy.failureBackoffJitterMs,
  }
}

/**
 * The wait by the steps of a job or its handler. The jitter is at most as long as the wait: whoever asks for 100 ms should not
 * wait for seconds of it.
 */
export function ownWaitMs(policy: Policy, stepsMs: number[], ordinal: number, random: number): number {
  const backoff = { ...failureBackoff(policy), stepsMs }
  const jitterMs = Math.min(backoff.jitterMs, backoffMs(backoff, ordinal, 0))
  return backoffMs({ ...backoff, jitterMs }, ordinal, random)
}
