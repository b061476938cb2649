// A job with a last chance waits for a worker that runs nothing else. In a queue with limits, that worker also needs a place.
import { describe, expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import type { ClaimedJob } from '../../../job/lease.ts'
import type { JobStore } from '../../job-store.ts'
import type { QueueLimits } from '../../ports/dependency-store.ts'
import {
  budgets,
  claimMany,
  complete,
  enqueueOne,
  MINUTE,
  plainPolicy,
  SECOND,
  startOne,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, StoreHarness } from '../harness.ts'

const QUEUE = 'limited'

const claimedIds = async (store: JobStore, workerId: string) =>
  (await claimMany(store, { queues: [QUEUE], workerId })).map(({ jobId }) => jobId)

const kinds: [name: string, limits: QueueLimits][] = [
  ['a group', { groupConcurrency: 1 }],
  ['a queue', { concurrency: 1 }],
]

export function describeReservedPlaces<Tx>(
  opened: () => StoreHarness<Tx>,
  { isSharded = false }: ConformanceOptions,
): void {
  describe.skipIf(isSharded).each(kinds)('a job with a last chance beside the limit of %s', (_, limits) => {
    /** Two busy workers, and a job with a last chance in the only group. */
    async function open(): Promise<{ last: string; running: ClaimedJob }> {
      const { store, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      await store.limitQueue(QUEUE, limits)
      const lastChance: Partial<Job> = { maxAttempts: 3, crashes: 2, attempt: 2 }
      const last = await plantJob({ type: TYPE, queue: QUEUE, group: 'a', status: 'waiting', ...lastChance })
      const running = await startOne(store, {}, { leaseMs: 10 * MINUTE })
      await startOne(store, {}, { workerId: 'worker-2', leaseMs: 10 * MINUTE })
      return { last, running }
    }

    it('RATE-7 REAP-15 a worker that may not run it takes the next job', async () => {
      const { store } = opened()
      await open()
      const next = await enqueueOne(store, { queue: QUEUE, group: 'a' })
      expect(await claimedIds(store, 'worker-2')).toEqual([next])
    })

    it('RATE-7 REAP-15 others leave the place to the worker that is reserved for it', async () => {
      const { store, elapse } = opened()
      const { last, running } = await open()
      await elapse(31 * SECOND)
      expect(await claimedIds(store, 'worker-1')).toEqual([])
      const next = await enqueueOne(store, { queue: QUEUE, group: 'a' })
      expect(await claimedIds(store, 'worker-2')).toEqual([])
      await complete(store, running)
      const [claimed, ...others] = await claimMany(store, { queues: [QUEUE] })
      expect([claimed?.jobId, others]).toEqual([last, []])
      await complete(store, claimed as ClaimedJob)
      expect(await claimedIds(store, 'worker-2')).toEqual([next])
    })

    it('RATE-7 REAP-15 it may go to another worker that is idle', async () => {
      const { store, elapse } = opened()
      const { last } = await open()
      await elapse(31 * SECOND)
      expect(await claimedIds(store, 'worker-1')).toEqual([])
      await enqueueOne(store, { queue: QUEUE, group: 'a', priority: -1 })
      expect(await claimedIds(store, 'worker-3')).toEqual([last])
    })

    it('RATE-7 REAP-15 the place is free again when the reservation has lapsed', async () => {
      const { store, elapse } = opened()
      await open()
      await elapse(31 * SECOND)
      expect(await claimedIds(store, 'worker-1')).toEqual([])
      await elapse(31 * SECOND)
      const urgent = await enqueueOne(store, { queue: QUEUE, group: 'a', priority: -1 })
      expect(await claimedIds(store, 'worker-2')).toEqual([urgent])
    })
  })

  it.skipIf(isSharded)(
    'RATE-7 REAP-15 an idle worker takes one that has been due for 30 s before the group whose turn it is',
    async () => {
      const { store, elapse, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      await store.limitQueue(QUEUE, { groupConcurrency: 1 })
      const older = await enqueueOne(store, { queue: QUEUE, group: 'a' })
      const lastChance: Partial<Job> = { maxAttempts: 3, crashes: 2, attempt: 2 }
      const last = await plantJob({ type: TYPE, queue: QUEUE, group: 'b', status: 'waiting', ...lastChance })
      await elapse(31 * SECOND)
      expect(await claimedIds(store, 'worker-1')).toEqual([last])
      expect(await claimedIds(store, 'worker-2')).toEqual([older])
    },
  )

  it.skipIf(isSharded)(
    'RATE-7 REAP-15 a reserved place is one of its group, and the others are not kept',
    async () => {
      const { store, elapse, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      await store.limitQueue(QUEUE, { groupConcurrency: 2 })
      const lastChance: Partial<Job> = { maxAttempts: 3, crashes: 2, attempt: 2 }
      await plantJob({ type: TYPE, queue: QUEUE, group: 'a', status: 'waiting', ...lastChance })
      await startOne(store, {}, { leaseMs: 10 * MINUTE })
      await elapse(31 * SECOND)
      expect(await claimedIds(store, 'worker-1')).toEqual([])
      for (const group of ['a', 'a', 'b', 'b']) await enqueueOne(store, { queue: QUEUE, group })
      await startOne(store, {}, { workerId: 'worker-2', leaseMs: 10 * MINUTE })
      expect(await claimedIds(store, 'worker-2')).toHaveLength(3)
    },
  )
}
