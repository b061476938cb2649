import { describe, expect, it } from 'vitest'
import { takeTokens } from './rate-limit.ts'

const limit = { key: 'gateway', ratePerS: 3, burst: 4 }

describe('takeTokens', () => {
  it('RATE-1 over any time no more is granted than the burst and the rate', () => {
    const buckets = new Map<string, number>()
    let granted = 0
    for (let nowMs = 0; nowMs <= 60_000; nowMs += 7) {
      granted += takeTokens(buckets, [limit], 1 + (nowMs % 3), nowMs).granted
      expect(granted).toBeLessThanOrEqual(limit.burst + (limit.ratePerS * nowMs) / 1_000 + 1e-3)
    }
    // Asked so often, nothing of it is wasted either.
    expect(granted).toBeGreaterThanOrEqual(limit.burst + limit.ratePerS * 60 - 1)
  })

  it('RATE-1 a token whose time is exactly now is granted', () => {
    const buckets = new Map<string, number>()
    takeTokens(buckets, [limit], 4, 0)
    const { retryInMs } = takeTokens(buckets, [limit], 1, 0)
    expect(retryInMs).toBe(334)
    expect(takeTokens(buckets, [limit], 1, 1_000 / 3).granted).toBe(1)
  })

  it('RATE-4 a bucket keeps what another one refuses', () => {
    const buckets = new Map<string, number>()
    const tight = { key: 'owner', ratePerS: 1, burst: 1 }
    expect(takeTokens(buckets, [limit, tight], 3, 0)).toEqual({ granted: 1, retryInMs: 1_000 })
    expect(takeTokens(buckets, [limit, tight], 3, 0).granted).toBe(0)
    expect(takeTokens(buckets, [limit], 9, 0).granted).toBe(3)
  })
})
