// Results of the retry schedule: every attempt of a job that never succeeds, by the engine's own functions.

import type { Policy } from '../src/policy/policy.ts'
import { type Backoff, backoffMs, failureBackoff, reapBackoff } from '../src/policy/retry/backoff.ts'
import {
  type Counts,
  countEnd,
  failureOrdinal,
  isFailureFinal,
  isReapFinal,
  reapOrdinal,
} from '../src/policy/retry/budget.ts'

export interface Try {
  number: number
  /** Wait until the next attempt, without and with the full jitter. Null if the job is dead. */
  waitMs: { least: number; most: number } | null
  /** From the end of the first attempt to the start of the next, if every attempt ends at once. */
  sinceFirstMs: { least: number; most: number } | null
}

/** More than anybody reads; a policy allows up to 1000. */
const MOST_TRIES = 100

export function scheduleRetries(policy: Policy, end: 'failure' | 'crash'): Try[] {
  const tries: Try[] = []
  const since = { least: 0, most: 0 }
  let counts: Counts = { attempt: 0, failures: 0, crashes: 0, timeouts: 0, maxAttempts: policy.maxAttempts }
  for (let number = 1; number <= MOST_TRIES; number += 1) {
    const claimed = policy.attemptCountedAt === 'claim' ? { ...counts, attempt: counts.attempt + 1 } : counts
    const after = countEnd(policy, claimed, end)
    const waitMs = isFinal(policy, claimed, after, end) ? null : waitOf(policy, after, end)
    if (waitMs === null) return [...tries, { number, waitMs, sinceFirstMs: null }]
    since.least += waitMs.least
    since.most += waitMs.most
    tries.push({ number, waitMs, sinceFirstMs: { ...since } })
    counts = after
  }
  return tries
}

function isFinal(policy: Policy, before: Counts, after: Counts, end: 'failure' | 'crash'): boolean {
  return end === 'failure' ? isFailureFinal(policy, after, end) : isReapFinal(policy, before, end)
}

function waitOf(policy: Policy, after: Counts, end: 'failure' | 'crash'): { least: number; most: number } {
  const [backoff, ordinal]: [Backoff, number] =
    end === 'failure'
      ? [failureBackoff(policy), failureOrdinal(policy, after)]
      : [reapBackoff(policy), reapOrdinal(policy, after)]
  return { least: backoffMs(backoff, ordinal, 0), most: backoffMs(backoff, ordinal, 1) }
}
