// Where jobs and keys go, and what a claim and a page over several shards return.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StoreHarness } from '../../src/store/conformance/harness.ts'
import type { Shard, ShardRoute } from '../../src/store/job-store.ts'
import { createMemoryStore } from '../../src/store/memory/memory-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { ShardSet } from '../../src/store/sharded/routing/shard-set.ts'
import { shardNumberOf } from '../../src/store/shards.ts'
import { createShardedBench, type ShardedBench } from '../support/sharded-harness.ts'

function setOf(count: number, route: ShardRoute = 'spread', draining: number[] = []): ShardSet<never> {
  const store = createMemoryStore()
  const shards = Array.from({ length: count }, (_, number): Shard<never> => {
    const isDraining = draining.includes(number)
    return { number, name: `shard ${number}`, store, isDraining, canClaim: () => true }
  })
  return new ShardSet({ shards, route })
}

const keys = Array.from({ length: 1_000 }, (_, nth) => `key-${nth}`)
const placesOf = (set: ShardSet<never>) => keys.map((key) => set.forKey(key).number)

describe('the place of a job', () => {
  it('OPS-15 a key has one shard, and a shard that is added moves only its own share', () => {
    const [three, four] = [placesOf(setOf(3)), placesOf(setOf(4))]
    const moved = four.filter((number, nth) => number !== three[nth])
    expect(new Set(moved)).toEqual(new Set([3]))
    expect(moved.length).toBeGreaterThan(150)
    expect(moved.length).toBeLessThan(350)
  })

  it('OPS-15 a shard that drains gets no keys and no jobs, and keeps those it has', () => {
    const set = setOf(3, 'spread', [1])
    expect(new Set(placesOf(set))).toEqual(new Set([0, 2]))
    expect(new Set(keys.map(() => set.forJob({ type: 'asr' }).number))).toEqual(new Set([0, 2]))
    expect(set.of('018bcfe5-6800-71f7-8001-ebae96331207').number).toBe(1)
  })

  it.each([
    ['owner', { type: 'asr', owner: 'ana' }],
    ['queue', { type: 'asr', queue: 'slow' }],
  ] as const)('OPS-15 route %s keeps jobs together', (route, job) => {
    const set = setOf(8, route)
    expect(new Set(keys.map(() => set.forJob(job).number)).size).toBe(1)
  })

  it('OPS-15 a dedupe key decides before the route', () => {
    const set = setOf(8, 'owner')
    const numbers = keys.map((dedupeKey) => set.forJob({ type: 'asr', owner: 'ana', dedupeKey }).number)
    expect(numbers).toEqual(placesOf(set))
  })

  it('OPS-15 RATE-7 a group decides before the dedupe key: its limit and its order hold within a shard', () => {
    const set = setOf(8, 'queue')
    const numbers = keys.map((dedupeKey) => set.forJob({ type: 'asr', group: 'tenant-7', dedupeKey }).number)
    expect(new Set(numbers)).toEqual(new Set([set.forKey('tenant-7').number]))
  })
})

describe('a shard that takes a call and does not answer', () => {
  it('OPS-15 gets no new jobs while the call waits, and the call keeps its answer', async () => {
    vi.useFakeTimers()
    try {
      const set = setOf(2)
      const [silent] = set.all
      if (silent === undefined) throw new Error('there is no shard')
      let answer: (text: string) => void = () => {}
      const call = set.noted(
        silent,
        new Promise<string>((resolve) => {
          answer = resolve
        }),
      )
      expect(set.isAnswering(silent)).toBe(true)
      await vi.advanceTimersByTimeAsync(2_000)
      expect(new Set(keys.map(() => set.forJob({ type: 'asr' }).number))).toEqual(new Set([1]))
      answer('late')
      expect(await call).toBe('late')
      expect(set.isAnswering(silent)).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('two schemas, jobs spread', () => {
  let bench: ShardedBench
  let harness: StoreHarness<SqlClient>
  beforeAll(async () => {
    bench = await createShardedBench('spread')
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    harness = await bench.open()
  })

  const enqueue = async (count: number) => {
    const jobs = []
    for (let nth = 0; nth < count; nth++) jobs.push(...(await harness.store.enqueueJobs([{ type: 'asr' }])))
    return jobs.map(({ jobId }) => jobId)
  }

  it('OPS-15 claims with cursors find every job of every shard', async () => {
    const { store } = harness
    const ids = await enqueue(40)
    expect(new Set(ids.map(shardNumberOf))).toEqual(new Set([0, 1]))
    const cursors = new Map<string, Map<number, Date>>()
    const claimed: string[] = []
    for (;;) {
      const jobs = await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 7, cursors })
      if (jobs.length === 0) break
      claimed.push(...jobs.map(({ jobId }) => jobId))
      // As a worker's cursor does: to the newest job of any shard.
      const newest = jobs.map(({ createdAt }) => createdAt).reduce((a, b) => (a > b ? a : b))
      cursors.set('asr', new Map([[jobs[0]?.priority ?? 0, newest]]))
    }
    expect(claimed.toSorted()).toEqual(ids.toSorted())
  })

  it('OPS-15 pages list every job once, newest first', async () => {
    const ids = await enqueue(25)
    const listed: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 20; pages++) {
      const page = await harness.store.listJobs({}, { limit: 4, ...(cursor === undefined ? {} : { cursor }) })
      listed.push(...page.jobs.map(({ id }) => id))
      if (page.next === null) break
      cursor = page.next
    }
    expect(listed).toEqual(ids.toReversed())
  })

  it('OPS-15 the jobs of a call without keys are written to one shard, all or none', async () => {
    const jobs = await harness.store.enqueueJobs(Array.from({ length: 10 }, () => ({ type: 'asr' })))
    expect(new Set(jobs.map(({ jobId }) => shardNumberOf(jobId))).size).toBe(1)
  })

  it('OPS-15 answers come in the order of the call, whichever shards gave them', async () => {
    const ids = await enqueue(12)
    expect((await harness.store.cancelJobs(ids)).map(({ jobId }) => jobId)).toEqual(ids)
    const keyed = Array.from({ length: 12 }, (_, nth) => ({ type: 'asr', dedupeKey: `k${nth}` }))
    const made = await harness.store.enqueueJobs(keyed)
    expect(await harness.store.enqueueJobs(keyed)).toEqual(
      made.map(({ jobId }) => ({ jobId, outcome: 'duplicate' })),
    )
  })

  it('OPS-15 a transaction of one shard is refused, with the way to name it', async () => {
    const tx = { query: () => Promise.reject(new Error('not called')) } as unknown as SqlClient
    await expect(harness.store.enqueueJobs([{ type: 'asr' }], { tx })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('q.shard(key)'),
    })
  })

  it('OPS-15 ports that run in each shard say so', async () => {
    await expect(harness.store.listOperations()).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      hint: expect.stringContaining('--shard'),
    })
  })
})
