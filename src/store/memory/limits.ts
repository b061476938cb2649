import { invalidArgument } from '../../errors/index.ts'
import { type RateLimit, type TokenGrant, takeTokens as take } from '../../policy/rate-limit.ts'
import { checkText } from './check-text.ts'
import type { MemoryState } from './memory-state.ts'
import { checkWhole } from './new-job.ts'

const MAX_LIMITS = 100
const MAX_TOKENS = 1_000_000
const HOUR_MS = 3_600_000

export function takeTokens(state: MemoryState, limits: RateLimit[], tokens: number): TokenGrant {
  checkWhole(tokens, 'tokens', 1, MAX_TOKENS)
  if (!Array.isArray(limits) || limits.length === 0 || limits.length > MAX_LIMITS)
    throw invalidArgument('limits', limits, `1 to ${MAX_LIMITS} limits`)
  for (const { key, ratePerS, burst } of limits) {
    checkText('key', key, 500)
    if (!(ratePerS >= 0.0001 && ratePerS <= MAX_TOKENS))
      throw invalidArgument('ratePerS', ratePerS, 'tokens a second from 0.0001 to 1000000')
    if (!(Number.isInteger(burst) && burst >= 1 && burst <= MAX_TOKENS))
      throw invalidArgument('burst', burst, `a whole number from 1 to ${MAX_TOKENS}`)
  }
  if (new Set(limits.map(({ key }) => key)).size < limits.length)
    throw invalidArgument('key', limits.map(({ key }) => key).join(', '), 'each key once')
  return take(state.fullAtMs, limits, tokens, state.nowMs())
}

/** A full bucket and none are the same. */
export function pruneRateLimits(state: MemoryState, limit: number): number {
  checkWhole(limit, 'limit', 1, 10_000)
  const idle = [...state.fullAtMs]
    .filter(([, fullAtMs]) => fullAtMs < state.nowMs() - HOUR_MS)
    .slice(0, limit)
  for (const [key] of idle) state.fullAtMs.delete(key)
  return idle.length
}
