// One bucket, two pools, as many calls at once as they let through.
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { RateLimit, TokenGrant } from '../../../src/policy/dependency/rate-limit.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { type Race, raceBench } from '../race-bench.ts'

const opened = raceBench()
const [table] = nativeProfile('unstuck').tables
const CALLS = 60

/** All at once, every second one through a pool of its own. */
async function takeAtOnce({ pool, store }: Race, limit: RateLimit, tokens: number): Promise<TokenGrant[]> {
  const otherPool = new pg.Pool(pool.options)
  const stores = [store, createPostgresStore({ client: otherPool, table })]
  try {
    return await Promise.all(
      Array.from({ length: CALLS }, (_, nth) => (stores[nth % 2] ?? store).takeTokens([limit], tokens)),
    )
  } finally {
    await otherPool.end()
  }
}

const sum = (grants: TokenGrant[]) => grants.reduce((total, { granted }) => total + granted, 0)

describe('takeTokens of two pools', () => {
  it('RATE-1 60 calls at once never get more than the burst and what comes back meanwhile', async () => {
    const startedAt = performance.now()
    const grants = await takeAtOnce(opened(), { key: 'gateway', ratePerS: 10, burst: 10 }, 1)
    const elapsedS = (performance.now() - startedAt) / 1_000
    expect(sum(grants)).toBeGreaterThanOrEqual(10)
    expect(sum(grants)).toBeLessThanOrEqual(10 + Math.ceil(10 * elapsedS))
  })

  it('RATE-1 partial grants at once share a bucket out to the last token', async () => {
    const grants = await takeAtOnce(opened(), { key: 'gateway', ratePerS: 0.001, burst: 100 }, 7)
    expect(sum(grants)).toBe(100)
  })

  it('RATE-4 limits asked for in opposite orders never deadlock, and lose no token', async () => {
    const { store, connectMany } = opened()
    const connections = await connectMany(4)
    const keys = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, ratePerS: 0.001, burst: 1_000 }))
    const rounds = Array.from({ length: 25 }, (_, nth) => nth)
    await Promise.all(
      connections.map(async (connection, index) => {
        const mine = index % 2 === 0 ? keys : keys.toReversed()
        // Half of the rounds make rows of their own among those that are there.
        for (const nth of rounds) {
          const fresh = { key: `${'abcde'[nth % 5]}-${nth}`, ratePerS: 0.001, burst: 1_000 }
          expect((await connection.store.takeTokens([...mine, fresh])).granted).toBe(1)
        }
      }),
    )
    for (const limit of keys) expect((await store.takeTokens([limit], 1_000)).granted).toBe(900)
  })

  it('RATE-1 a call that waited for the row counts from when it got it', async () => {
    const race = opened()
    const [holder, waiter] = await race.connectMany(2)
    if (!holder || !waiter) throw new Error('there are not two connections')
    const limit = { key: 'gateway', ratePerS: 0.001, burst: 3 }
    await holder.begin()
    await holder.store.takeTokens([limit], 2)
    const late = await race.startBlocked(waiter, holder, () => waiter.store.takeTokens([limit], 2))
    await holder.commit()
    expect((await late.answer).granted).toBe(1)
  })
})
