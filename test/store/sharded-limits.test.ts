// A rate limit over two shards: one bucket for both, or a part in each for its own jobs.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../src/job/lease.ts'
import { type HandlerLimit, requireLimits, TokenLimiter } from '../../src/runtime/limits/token-limiter.ts'
import type { StoreHarness } from '../../src/store/conformance/harness.ts'
import type { JobStore, Shards } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { shardNumberOf } from '../../src/store/shards.ts'
import { createShardedBench, type ShardedBench } from '../support/sharded-harness.ts'

/** So slow that a test never sees a token come back. */
const slow = { key: 'gateway', ratePerS: 0.001, burst: 4 }
const divided: HandlerLimit = { ...slow, shards: 'divided' }

let bench: ShardedBench
let harness: StoreHarness<SqlClient>
let store: JobStore<SqlClient>
let shards: Shards<SqlClient>

beforeAll(async () => {
  bench = await createShardedBench('spread')
})
afterAll(() => bench.close())
beforeEach(async () => {
  harness = await bench.open()
  store = harness.store
  if (store.shards === undefined) throw new Error('the store has no shards')
  shards = store.shards
})

const limiterOf = (...limits: HandlerLimit[]) => new TokenLimiter(store, () => limits)

async function enqueueInEach(count: number): Promise<void> {
  for (const shard of shards.all)
    await shard.store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
}

function claim(limiter: TokenLimiter): Promise<ClaimedJob[]> {
  const limit = Math.min(100, limiter.allowance('asr').jobs)
  const limitOfShard = limiter.shardAllowance(['asr'])
  return store.claimJobs({ workerId: 'worker-1', queues: ['asr'], types: ['asr'], limit, limitOfShard })
}

const countByShard = (jobs: ClaimedJob[]) =>
  shards.all.map(({ number }) => jobs.filter(({ jobId }) => shardNumberOf(jobId) === number).length)

describe('a limit over two shards', () => {
  it('OPS-15 RATE-1 together: the shards draw on one bucket', async () => {
    await enqueueInEach(4)
    const limiter = limiterOf(slow)
    expect(limiter.allowance('asr').jobs).toBe(4)
    const jobs = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 8 })
    expect(countByShard(jobs)).toEqual([4, 4])
    const { admitted, parked } = await limiter.admit(jobs)
    expect([admitted.length, parked.flatMap((each) => each.jobs).length]).toEqual([4, 4])
    expect((await store.listRateLimits()).map(({ key }) => key)).toEqual(['gateway'])
  })

  it('OPS-15 RATE-1 divided: each shard starts its own part, and no job is claimed beyond it', async () => {
    await enqueueInEach(4)
    const limiter = limiterOf(divided)
    expect(limiter.allowance('asr').jobs).toBe(4)
    const jobs = await claim(limiter)
    expect(countByShard(jobs)).toEqual([2, 2])
    expect(await limiter.admit(jobs)).toEqual({ admitted: expect.arrayContaining(jobs), parked: [] })
    expect(limiter.allowance('asr').jobs).toBe(0)
    expect(limiter.allowance('asr').retryInMs).toBeGreaterThan(1_000_000)
    const buckets = await store.listRateLimits({ prefix: 'gateway' })
    expect(buckets.map(({ key, ratePerS, burst }) => ({ key, ratePerS, burst })).toSorted(byKey)).toEqual([
      { key: 'gateway#0', ratePerS: 0.0005, burst: 2 },
      { key: 'gateway#1', ratePerS: 0.0005, burst: 2 },
    ])
  })

  it('OPS-15 RATE-1 divided: an idle shard keeps its part, and jobs of the other are not claimed for it', async () => {
    const [first] = shards.all
    await first?.store.enqueueJobs(Array.from({ length: 6 }, () => ({ type: 'asr' })))
    const limiter = limiterOf(divided)
    const jobs = await claim(limiter)
    expect(countByShard(jobs)).toEqual([2, 0])
    await limiter.admit(jobs)
    expect(await claim(limiter)).toEqual([])
    // The next claim is due when the part that is used up has a token again.
    expect(limiter.allowance('asr')).toMatchObject({ jobs: 2, retryInMs: expect.any(Number) })
    expect(limiter.allowance('asr').retryInMs).toBeGreaterThan(1_000_000)
  })

  it('OPS-15 RATE-4 divided and per owner: each owner has a part in each shard', async () => {
    for (const shard of shards.all)
      await shard.store.enqueueJobs(['ana', 'ana', 'ana', 'bo'].map((owner) => ({ type: 'asr', owner })))
    const limiter = limiterOf({ ...divided, perOwner: true })
    const jobs = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 8 })
    const { admitted, parked } = await limiter.admit(jobs)
    const countOf = (owner: string) => admitted.filter((job) => job.owner === owner).length
    expect([countOf('ana'), countOf('bo')]).toEqual([4, 2])
    expect(parked.map(({ key, jobs: refused }) => [key, refused.length])).toEqual([
      ['gateway', 1],
      ['gateway', 1],
    ])
  })

  it('OPS-15 RATE-1 two workers share the parts through their shards', async () => {
    await enqueueInEach(4)
    const [one, other] = [limiterOf(divided), limiterOf(divided)]
    const jobs = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 8 })
    const odd = (job: ClaimedJob) => jobs.indexOf(job) % 2 === 0
    const admitted = [
      ...(await one.admit(jobs.filter(odd))).admitted,
      ...(await other.admit(jobs.filter((job) => !odd(job)))).admitted,
    ]
    expect(countByShard(admitted)).toEqual([2, 2])
  })
})

it('OPS-15 RATE-1 a handler whose limits are in different places is refused', () => {
  const check =
    (...limits: HandlerLimit[]) =>
    () =>
      requireLimits('asr', limits)
  expect(check(divided, { ...slow, key: 'other' })).toThrow(/limits of asr: shards/)
  expect(check({ ...divided, scope: 'process' })).toThrow(/limits of asr: shards/)
  expect(check({ ...slow, shards: 'halved' as 'divided' })).toThrow(/together or divided/)
  expect(check(divided, { ...slow, key: 'cpu', scope: 'process' })).not.toThrow()
})

const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)
