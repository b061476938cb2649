import { describe, expect, it } from 'vitest'
import { expectAbout, HOUR, invalidArgument, SECOND } from '../builders.ts'
import type { TestBench } from '../harness.ts'

// Slow enough that no token returns between two calls of a test.
const slow = { key: 'gateway', ratePerS: 0.01, burst: 5 }
const TOKEN_MS = 100 * SECOND

export function describeRateLimit(opened: () => TestBench): void {
  describe('takeTokens', () => {
    describeBucket(opened)
    describeSeveralLimits(opened)
    describeLimitArguments(opened)
  })
  describe('listRateLimits', () => {
    describeLimitList(opened)
  })
}

function describeLimitList(opened: () => TestBench): void {
  const ownerLimit = { ...slow, key: 'gateway:ana', burst: 2 }

  it('RATE-1 lists the tokens left, the time of the next one, and the last settings', async () => {
    const { store, elapse } = opened()
    expect(await store.listRateLimits()).toEqual([])
    await store.takeTokens([slow], 3)
    const [limit] = await store.listRateLimits()
    expect(limit).toMatchObject({ key: 'gateway', ratePerS: 0.01, burst: 5, tokens: 2 })
    expectAbout(limit?.nextTokenInMs, TOKEN_MS)
    expectAbout(limit?.fullInMs, 3 * TOKEN_MS)
    await elapse(TOKEN_MS + SECOND)
    expect(await store.listRateLimits()).toMatchObject([{ tokens: 3 }])
    await elapse(5 * TOKEN_MS)
    expect(await store.listRateLimits()).toMatchObject([{ tokens: 5, nextTokenInMs: 0, fullInMs: 0 }])
  })

  it('RATE-4 limits of owners are listed too, last used first, and by prefix', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow])
    await elapse(SECOND)
    await store.takeTokens([ownerLimit], 2)
    const keys = async (request = {}) => (await store.listRateLimits(request)).map(({ key }) => key)
    expect(await keys()).toEqual(['gateway:ana', 'gateway'])
    expect(await keys({ prefix: 'gateway:' })).toEqual(['gateway:ana'])
    expect(await keys({ limit: 1 })).toEqual(['gateway:ana'])
    await expect(store.listRateLimits({ limit: 0 })).rejects.toMatchObject(invalidArgument)
  })
}

function describeBucket(opened: () => TestBench): void {
  it('RATE-1 a full bucket gives its burst and then nothing', async () => {
    const { store } = opened()
    for (let nth = 0; nth < 5; nth += 1)
      expect(await store.takeTokens([slow])).toEqual({ granted: 1, retryInMs: 0 })
    const { granted, retryInMs } = await store.takeTokens([slow])
    expect(granted).toBe(0)
    expect(retryInMs).toBeGreaterThan(TOKEN_MS - 10 * SECOND)
    expect(retryInMs).toBeLessThanOrEqual(TOKEN_MS)
  })

  it('RATE-1 tokens come back one by one, at the rate of the limit', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow], 5)
    await elapse(TOKEN_MS - 20 * SECOND)
    expect((await store.takeTokens([slow])).granted).toBe(0)
    await elapse(20 * SECOND)
    expect((await store.takeTokens([slow])).granted).toBe(1)
    expect((await store.takeTokens([slow])).granted).toBe(0)
  })

  it('RATE-1 waiting for the returned time is enough', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow], 5)
    const { retryInMs } = await store.takeTokens([slow], 3)
    await elapse(retryInMs)
    expect((await store.takeTokens([slow], 3)).granted).toBe(1)
  })

  it('RATE-1 a bucket never holds more than its burst', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow], 5)
    await elapse(24 * HOUR)
    expect((await store.takeTokens([slow], 100)).granted).toBe(5)
  })

  it('RATE-1 if not all tokens are available, as many as there are are granted', async () => {
    const { store } = opened()
    expect(await store.takeTokens([slow], 3)).toEqual({ granted: 3, retryInMs: 0 })
    const partly = await store.takeTokens([slow], 7)
    expect(partly.granted).toBe(2)
    expect(partly.retryInMs).toBeGreaterThan(0)
  })

  it('RATE-1 a refusal costs nothing', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow], 5)
    for (let nth = 0; nth < 20; nth += 1) await store.takeTokens([slow], 5)
    await elapse(2 * TOKEN_MS)
    expect((await store.takeTokens([slow], 5)).granted).toBe(2)
  })

  it('RATE-1 keys are limited apart', async () => {
    const { store } = opened()
    await store.takeTokens([slow], 5)
    expect((await store.takeTokens([{ ...slow, key: 'mail' }])).granted).toBe(1)
  })

  it('RATE-1 only full buckets are deleted, and are full when used again', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow], 5)
    await store.takeTokens([{ ...slow, key: 'mail' }])
    expect(await store.pruneRateLimits()).toBe(0)
    await elapse(5 * TOKEN_MS + HOUR - 2 * TOKEN_MS)
    expect(await store.pruneRateLimits()).toBe(1)
    expect((await store.takeTokens([{ ...slow, key: 'mail' }], 9)).granted).toBe(5)
  })
}

function describeSeveralLimits(opened: () => TestBench): void {
  const owner = { key: 'gateway:owner-7', ratePerS: 0.01, burst: 2 }

  it('RATE-4 a limit of an owner and the global one are taken together', async () => {
    const { store } = opened()
    for (let nth = 0; nth < 2; nth += 1) expect((await store.takeTokens([slow, owner])).granted).toBe(1)
    expect((await store.takeTokens([slow, owner])).granted).toBe(0)
    expect((await store.takeTokens([slow, { ...owner, key: 'gateway:owner-8' }])).granted).toBe(1)
  })

  it('RATE-4 if one limit refuses, no token of the other is lost', async () => {
    const { store } = opened()
    await store.takeTokens([owner], 2)
    for (let nth = 0; nth < 9; nth += 1) {
      expect((await store.takeTokens([slow, owner])).granted).toBe(0)
      expect((await store.takeTokens([owner, slow])).granted).toBe(0)
    }
    expect((await store.takeTokens([slow], 9)).granted).toBe(5)
  })

  it('RATE-4 a partial grant is what the tightest limit has, taken from all', async () => {
    const { store } = opened()
    expect((await store.takeTokens([slow, owner], 4)).granted).toBe(2)
    expect((await store.takeTokens([slow], 9)).granted).toBe(3)
  })

  it('RATE-4 the wait is that of the limit that takes longest', async () => {
    const { store, elapse } = opened()
    await store.takeTokens([slow], 5)
    await elapse(TOKEN_MS / 2)
    await store.takeTokens([owner], 2)
    const { retryInMs } = await store.takeTokens([slow, owner])
    expect(retryInMs).toBeGreaterThan(TOKEN_MS - 10 * SECOND)
    expect(retryInMs).toBeLessThanOrEqual(TOKEN_MS)
  })
}

function describeLimitArguments(opened: () => TestBench): void {
  it('OPS-8 bad limits are refused and take nothing', async () => {
    const { store } = opened()
    const bad = [
      { key: '' },
      { ratePerS: 0 },
      { ratePerS: -1 },
      { ratePerS: Number.NaN },
      { burst: 0 },
      { burst: 1.5 },
    ]
    for (const change of bad)
      await expect(store.takeTokens([slow, { ...slow, key: 'mail', ...change }])).rejects.toMatchObject(
        invalidArgument,
      )
    await expect(store.takeTokens([])).rejects.toMatchObject(invalidArgument)
    await expect(store.takeTokens([slow, slow])).rejects.toMatchObject(invalidArgument)
    await expect(store.takeTokens([slow], 0)).rejects.toMatchObject(invalidArgument)
    await expect(store.takeTokens([slow], 1.5)).rejects.toMatchObject(invalidArgument)
    expect((await store.takeTokens([slow], 9)).granted).toBe(5)
  })
}
