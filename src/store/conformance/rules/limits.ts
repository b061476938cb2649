import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../job/lease.ts'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { JobStore } from '../../job-store.ts'
import {
  cancel,
  claimMany,
  claimOne,
  complete,
  enqueueMany,
  enqueueOne,
  fail,
  MINUTE,
  plainPolicy,
  release,
  sweep,
  TYPE,
} from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

const invalidArgument = { code: 'INVALID_ARGUMENT' }
const idsOf = (claimed: ClaimedJob[]) => claimed.map(({ jobId }) => jobId)

async function limited(store: JobStore, concurrency: number): Promise<void> {
  await store.writePolicy(plainPolicy)
  await store.limitQueue(TYPE, { concurrency })
}

/** How many jobs of a queue run at once. */
export function describeLimits<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('limits of a queue', () => {
    it('RATE-7 as many jobs of a queue run as its limit, in the order of claims', async () => {
      const { store } = opened()
      await limited(store, 2)
      const ids = await enqueueMany(store, 4)
      const [first] = await claimMany(store)
      expect(await claimMany(store)).toEqual([])
      expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
      await complete(store, first as ClaimedJob)
      expect(idsOf(await claimMany(store))).toEqual([ids[2]])
    })

    it('RATE-7 other queues of the same claim are not held back', async () => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueMany(store, 3)
      await enqueueMany(store, 3, { type: 'mail' })
      const claimed = await claimMany(store, { queues: [TYPE, 'mail'] })
      expect(claimed.map(({ type }) => type).toSorted()).toEqual([TYPE, 'mail', 'mail', 'mail'])
    })

    it('RATE-7 urgent jobs of a limited queue come first', async () => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueOne(store, { priority: 5 })
      const urgent = await enqueueOne(store, { priority: -5 })
      expect(idsOf(await claimMany(store))).toEqual([urgent])
    })

    it.each([
      ['fails', (store: JobStore, job: ClaimedJob) => fail(store, job)],
      ['is released', (store: JobStore, job: ClaimedJob) => release(store, job)],
      ['ends', (store: JobStore, job: ClaimedJob) => complete(store, job)],
    ])('RATE-7 a job that %s frees its place', async (_, end) => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueMany(store, 2)
      await end(store, await claimOne(store))
      expect(await claimMany(store)).toHaveLength(1)
    })

    it('RATE-7 a crashed job keeps its place until it is reaped', async () => {
      const { store, elapse } = opened()
      await limited(store, 1)
      await enqueueMany(store, 2)
      await claimOne(store)
      await elapse(2 * MINUTE)
      expect(await claimMany(store)).toEqual([])
      expect((await sweep(store)).reaped).toHaveLength(1)
      expect(await claimMany(store)).toHaveLength(1)
    })

    it('RATE-7 a claim by id keeps to the limit', async () => {
      const { store } = opened()
      await limited(store, 1)
      const [first, second] = await enqueueMany(store, 2)
      const started = await store.claimJob(second as string, { workerId: 'worker-1' })
      expect(started).toMatchObject({ jobId: second })
      expect(await store.claimJob(first as string, { workerId: 'worker-2' })).toBe('not-claimable')
      await complete(store, started as ClaimedJob)
      expect(await store.claimJob(first as string, { workerId: 'worker-2' })).toMatchObject({ jobId: first })
    })

    it('RATE-7 a paused queue gives nothing, whatever its limit', async () => {
      const { store } = opened()
      await limited(store, 2)
      await enqueueMany(store, 2)
      await store.pauseQueue(TYPE)
      expect(await claimMany(store)).toEqual([])
      await store.resumeQueue(TYPE)
      expect(await claimMany(store)).toHaveLength(2)
    })

    it('RATE-7 a changed limit counts from the next claim on, and a removed one no longer', async () => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueMany(store, 9)
      expect(await claimMany(store)).toHaveLength(1)
      expect(await store.limitQueue(TYPE, { concurrency: 3 })).toBe(true)
      expect(await store.limitQueue(TYPE, { concurrency: 3 })).toBe(false)
      expect(await claimMany(store)).toHaveLength(2)
      expect(await store.limitQueue(TYPE, null)).toBe(true)
      expect(await store.limitQueue(TYPE, null)).toBe(false)
      expect(await claimMany(store)).toHaveLength(6)
    })

    it('RATE-7 a limit below what runs ends nothing', async () => {
      const { store } = opened()
      await limited(store, 3)
      await enqueueMany(store, 4)
      const claimed = await claimMany(store)
      await store.limitQueue(TYPE, { concurrency: 1 })
      expect(await claimMany(store)).toEqual([])
      for (const job of claimed.slice(0, 2)) expect(await complete(store, job)).toBe('completed')
      expect(await claimMany(store)).toEqual([])
      for (const job of claimed.slice(2)) await complete(store, job)
      expect(await claimMany(store)).toHaveLength(1)
    })

    it('RATE-7 the list of queues shows the limits, also of a queue without jobs', async () => {
      const { store } = opened()
      await store.limitQueue('mail', { concurrency: 4, groupOrder: 'fifo' })
      await enqueueOne(store)
      const { queues } = await store.listQueues()
      expect(queues).toMatchObject([
        { queue: TYPE, concurrency: null, groupConcurrency: null, groupOrder: null },
        { queue: 'mail', concurrency: 4, groupConcurrency: 1, groupOrder: 'fifo', waiting: 0 },
      ])
    })

    it('RATE-7 OPS-5 a job that waits for its queue says so', async () => {
      const { store } = opened()
      await limited(store, 1)
      const [, waiting] = await enqueueMany(store, 2)
      await claimOne(store)
      const facts = await store.readJobFacts(waiting as string)
      expect(facts?.limit).toMatchObject({ concurrency: 1, running: 1, group: null, headId: null })
      expect(facts === null ? null : explainJob(facts).reasons[0]).toMatchObject({ code: 'QUEUE_FULL' })
    })

    it('RATE-7 a cancelled job gives its place back', async () => {
      const { store } = opened()
      await limited(store, 1)
      const [first] = await enqueueMany(store, 2)
      const claimed = await claimOne(store)
      expect(claimed.jobId).toBe(first)
      await cancel(store, claimed.jobId)
      await release(store, claimed)
      expect(await claimMany(store)).toHaveLength(1)
    })

    it('RATE-7 refuses limits that are none', async () => {
      const { store } = opened()
      const refused = [
        ['', { concurrency: 1 }],
        [TYPE, { concurrency: 0 }],
        [TYPE, { concurrency: 1.5 }],
        [TYPE, { groupConcurrency: -1 }],
        [TYPE, { groupConcurrency: 2, groupOrder: 'fifo' }],
        [TYPE, { groupOrder: 'lifo' as 'fifo' }],
      ] as const
      for (const [queue, limits] of refused)
        await expect(store.limitQueue(queue, limits)).rejects.toMatchObject(invalidArgument)
    })

    it('RATE-7 a typo in the name of a limit is refused, and removes none', async () => {
      const { store } = opened()
      await limited(store, 1)
      for (const wrong of [{ concurency: 5 }, 5, [5]])
        await expect(store.limitQueue(TYPE, wrong as object)).rejects.toMatchObject(invalidArgument)
      await enqueueMany(store, 2)
      expect(await claimMany(store)).toHaveLength(1)
    })
  })
}
