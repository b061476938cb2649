// Which counts end a job (C10). Attempts are bounded for failures and for crashes; releases, deploys, breakers and limits
// cost nothing. The SQL functions has_budget, is_failure_final and is_reap_final are the same rules.
import type { Policy } from './policy.ts'

export interface Counts {
  attempt: number
  failures: number
  crashes: number
  timeouts: number
  maxAttempts: number
}

/**
 * Attempts that count toward the budget and the backoff. Some workers claim without raising the attempt count of their
 * table, which then stays 0: the attempts that are known to have ended count instead. Any other number is believed, also one
 * that an operator has set back.
 */
function spentAttempts(policy: Policy, { attempt, failures, crashes, timeouts }: Counts): number {
  return policy.attemptCountedAt === 'claim' && attempt === 0 ? failures + crashes + timeouts : attempt
}

/** May a waiting job be claimed once more? Compares budgets, never the ordinal of the claim. */
export function hasBudget(policy: Policy, counts: Counts): boolean {
  if (policy.reapBudget === 'crashes') {
    if (counts.crashes >= policy.maxCrashes || counts.timeouts >= policy.maxTimeouts) return false
  }
  if (policy.failureBudget === 'failures') return counts.failures < counts.maxAttempts
  // Where crashes have a budget of their own, a crash at the last attempt leaves one more: a failure that spends the last
  // one ends the job itself.
  if (policy.attemptCountedAt !== 'failure-and-reap' && policy.reapBudget === 'crashes') return true
  // A reap that counts itself leaves a job waiting at its maximum, and that job has one claim left.
  return policy.attemptCountedAt === 'failure-and-reap'
    ? counts.attempt <= counts.maxAttempts
    : spentAttempts(policy, counts) < counts.maxAttempts
}

export type AttemptEnd = 'failure' | 'timeout' | 'crash'

/** The counts after an attempt ended in this way. */
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
 * Is a job that its own worker reports as failed (or timed out) out of budget? `after` is the result of `countEnd`. A
 * timeout is bounded as a reap is. Whatever it is, no claim may refuse what goes back to waiting.
 */
export function isFailureFinal(policy: Policy, after: Counts, end: 'failure' | 'timeout'): boolean {
  const bound = end === 'timeout' ? policy.reapBudget : policy.failureBudget
  if (bound === 'attempts' && spentAttempts(policy, after) >= after.maxAttempts) return true
  return !hasBudget(policy, after)
}

/**
 * Is a job whose lease ran out out of budget? `before` are the counts as the sweep found them. Whatever ended its attempt,
 * no claim may refuse what goes back to waiting: a limit may have been lowered while it ran.
 */
export function isReapFinal(policy: Policy, before: Counts, end: 'timeout' | 'crash'): boolean {
  const after = countEnd(policy, before, end)
  // A reap that counts itself is judged by the attempts before it.
  const spent = spentAttempts(policy, { ...after, attempt: before.attempt })
  if (policy.reapBudget === 'attempts' && spent >= before.maxAttempts) return true
  return !hasBudget(policy, after)
}

/**
 * Would one more crash end this waiting job, after it crashed before? It runs alone then: of the jobs that ran in a process
 * that died one is guilty at most, and none of the others may be ended for it. The SQL function is_last_chance is the same rule.
 */
export function isLastChance(policy: Policy, waiting: Counts): boolean {
  const counted = policy.attemptCountedAt === 'claim' ? 1 : 0
  return (
    waiting.crashes > 0 && isReapFinal(policy, { ...waiting, attempt: waiting.attempt + counted }, 'crash')
  )
}

/** Which wait of the failure backoff comes next; 1 is the first. */
export function failureOrdinal(policy: Policy, after: Counts): number {
  return policy.failureBudget === 'failures' ? after.failures + after.timeouts : spentAttempts(policy, after)
}

/** Which wait of the reap backoff comes next; 1 is the first. */
export function reapOrdinal(policy: Policy, after: Counts): number {
  return policy.reapBudget === 'attempts' ? spentAttempts(policy, after) : after.crashes + after.timeouts
}
