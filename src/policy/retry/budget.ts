// Which counts end a job (C10). Failures and crashes are bounded; releases, deploys, breakers and limits cost nothing. The
// database decides the same in the SQL functions has_budget, is_failure_final and is_reap_final.
import type { Policy } from '../policy.ts'

export interface Counts {
  attempt: number
  failures: number
  crashes: number
  timeouts: number
  maxAttempts: number
}

/**
 * Attempts that count toward budget and backoff. Some workers claim without raising the attempt count of their table, which
 * then stays 0: the attempts known to have ended count instead. Any other number is trusted, also one that an operator reset.
 */
function spentAttempts(policy: Policy, { attempt, failures, crashes, timeouts }: Counts): number {
  return policy.attemptCountedAt === 'claim' && attempt === 0 ? failures + crashes + timeouts : attempt
}

/** Whether a waiting job may be claimed once more. Compares budgets, never the ordinal of the claim. */
export function hasBudget(policy: Policy, counts: Counts): boolean {
  if (policy.reapBudget === 'crashes') {
    if (counts.crashes >= policy.maxCrashes || counts.timeouts >= policy.maxTimeouts) return false
  }
  if (policy.failureBudget === 'failures') return counts.failures < counts.maxAttempts
  // If crashes have their own budget, a crash at the last attempt leaves one more: a failure that spends the last attempt
  // ends the job itself.
  if (policy.attemptCountedAt !== 'failure-and-reap' && policy.reapBudget === 'crashes') return true
  // A reap that counts as an attempt leaves a job waiting at its maximum, with one claim left.
  return policy.attemptCountedAt === 'failure-and-reap'
    ? counts.attempt <= counts.maxAttempts
    : spentAttempts(policy, counts) < counts.maxAttempts
}

export type AttemptEnd = 'failure' | 'timeout' | 'crash'

/** The counts after an attempt ended this way. */
export function countEnd(policy: Policy, counts: Counts, end: AttemptEnd): Counts {
  const isCounted =
    policy.attemptCountedAt === 'failure-and-reap' ||
    (policy.attemptCountedAt === 'failure' && end === 'failure')
  const isOver = counts.attempt >= counts.maxAttempts
  return {
    ...counts,
    attempt: isCounted && !isOver ? counts.attempt + 1 : counts.attempt,
    failures: counts.failures + (end === 'failure' ? 1 : 0),
    timeouts: counts.timeouts + (end === 'timeout' ? 1 : 0),
    crashes: counts.crashes + (end === 'crash' ? 1 : 0),
  }
}

/**
 * Whether a job that its worker reports as failed or timed out is out of budget. `after` is the result of `countEnd`. A
 * timeout is bounded as a reap is. A job that goes back to waiting must be claimable.
 */
export function isFailureFinal(policy: Policy, after: Counts, end: 'failure' | 'timeout'): boolean {
  const bound = end === 'timeout' ? policy.reapBudget : policy.failureBudget
  if (bound === 'attempts' && spentAttempts(policy, after) >= after.maxAttempts) return true
  return !hasBudget(policy, after)
}

/**
 * Whether a job whose lease expired is out of budget. `before` are the counts as the sweep found them. A job that goes back
 * to waiting must be claimable: a limit may have been lowered while it ran.
 */
export function isReapFinal(policy: Policy, before: Counts, end: 'timeout' | 'crash'): boolean {
  const after = countEnd(policy, before, end)
  // A reap that counts as an attempt is judged by the attempts before it.
  const spent = spentAttempts(policy, { ...after, attempt: before.attempt })
  if (policy.reapBudget === 'attempts' && spent >= before.maxAttempts) return true
  return !hasBudget(policy, after)
}

/**
 * Whether one more crash would end this waiting job, which has crashed before. It then runs alone: at most one of the jobs of
 * a dead process is guilty, and none of the others may be ended for it. The SQL function is_last_chance is the same rule.
 */
export function isLastChance(policy: Policy, waiting: Counts): boolean {
  const counted = policy.attemptCountedAt === 'claim' ? 1 : 0
  return (
    waiting.crashes > 0 && isReapFinal(policy, { ...waiting, attempt: waiting.attempt + counted }, 'crash')
  )
}

/** Ordinal of the next failure backoff; 1 is the first. */
export function failureOrdinal(policy: Policy, after: Counts): number {
  return policy.failureBudget === 'failures' ? after.failures + after.timeouts : spentAttempts(policy, after)
}

/** Ordinal of the next reap backoff; 1 is the first. */
export function reapOrdinal(policy: Policy, after: Counts): number {
  return policy.reapBudget === 'attempts' ? spentAttempts(policy, after) : after.crashes + after.timeouts
}
