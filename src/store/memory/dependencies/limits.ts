import { invalidArgument } from '../../../errors/index.ts'
import {
  freeTokens,
  type RateLimit,
  type TokenGrant,
  takeTokens as take,
} from '../../../policy/dependency/rate-limit.ts'
import type { RateLimitRequest, RateLimitStatus } from '../../ports/dependency-store.ts'
import { checkText, checkWhole } from '../state/checks.ts'
import type { MemoryState } from '../state/memory-state.ts'

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
  const nowMs = state.nowMs()
  const grant = take(state.fullAtMs, limits, tokens, nowMs)
  if (grant.granted > 0)
    for (const { key, ratePerS, burst } of limits)
      state.limitUses.set(key, { ratePerS, burst, usedAtMs: nowMs })
  return grant
}

export function listRateLimits(
  state: MemoryState,
  { prefix = '', limit }: RateLimitRequest,
): RateLimitStatus[] {
  checkWhole(limit, 'limit', 1, 1_000)
  return [...state.limitUses]
    .filter(([key]) => key.startsWith(prefix))
    .toSorted(([a, { usedAtMs: first }], [b, { usedAtMs: second }]) => second - first || (a < b ? -1 : 1))
    .slice(0, limit ?? 100)
    .map(([key]) => describe(state, key))
}

function describe(state: MemoryState, key: string): RateLimitStatus {
  const nowMs = state.nowMs()
  const { ratePerS = 1, burst = 1, usedAtMs = nowMs } = state.limitUses.get(key) ?? {}
  const tokens = freeTokens(state.fullAtMs, [{ key, ratePerS, burst }], nowMs).free
  const fullInMs = Math.max(0, (state.fullAtMs.get(key) ?? nowMs) - nowMs)
  return {
    key,
    ratePerS,
    burst,
    tokens,
    nextTokenInMs: tokens >= burst ? 0 : Math.ceil(fullInMs - ((burst - tokens - 1) * 1_000) / ratePerS),
    fullInMs: Math.ceil(fullInMs),
    usedAt: new Date(usedAtMs),
  }
}

/** A full bucket equals a missing one. */
export function pruneRateLimits(state: MemoryState, limit: number): number {
  checkWhole(limit, 'limit', 1, 10_000)
  const idle = [...state.fullAtMs]
    .filter(([, fullAtMs]) => fullAtMs < state.nowMs() - HOUR_MS)
    .slice(0, limit)
  for (const [key] of idle) {
    state.fullAtMs.delete(key)
    state.limitUses.delete(key)
  }
  return idle.length
}
