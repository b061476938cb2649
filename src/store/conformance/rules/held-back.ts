import { describe, expect, it } from 'vitest'
import type { JobStore } from '../../job-store.ts'
import type { QueueLimits } from '../../ports/dependency-store.ts'
import { claimMany, complete, enqueueMany, enqueueOne, HOUR, TYPE } from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

/** Claims from two queues, and lists those whose limits hold jobs back. */
async function claim(store: JobStore, limit = 100) {
  const heldBack: string[] = []
  const onHeldBack = (queues: string[]) => void heldBack.push(...queues)
  const jobs = await claimMany(store, { queues: [TYPE, 'mail'], limit, onHeldBack })
  return { jobs, heldBack: [...new Set(heldBack)] }
}

const kinds: [name: string, limits: QueueLimits][] = [
  ['a queue', { concurrency: 1 }],
  ['a group', { groupConcurrency: 1 }],
  ['a group in order', { groupOrder: 'fifo' }],
]

/** A claim says which limits kept it from taking all that it asked for, so that a worker claims again when a job of them ends. */
export function describeHeldBack<Tx>(opened: () => StoreHarness<Tx>): void {
  describe.each(kinds)('jobs that the limit of %s holds back', (_, limits) => {
    it('RATE-7 the claim that takes the last place names the queue, and so do those after it', async () => {
      const { store } = opened()
      await store.limitQueue(TYPE, limits)
      await enqueueMany(store, 2, { group: 'a' })
      await enqueueMany(store, 2, { type: 'mail' })
      const first = await claim(store)
      expect(first.heldBack).toEqual([TYPE])
      expect(first.jobs).toHaveLength(3)
      expect(await claim(store)).toEqual({ jobs: [], heldBack: [TYPE] })
    })

    it('RATE-7 the last job of a queue is not held back, nor is a queue that has none left', async () => {
      const { store } = opened()
      await store.limitQueue(TYPE, limits)
      await enqueueMany(store, 2, { group: 'a' })
      const { jobs } = await claim(store)
      for (const job of jobs) await complete(store, job)
      expect(await claim(store)).toMatchObject({ jobs: [{ type: TYPE }], heldBack: [] })
      expect(await claim(store)).toEqual({ jobs: [], heldBack: [] })
    })

    it('RATE-7 a job that is not due yet is not held back', async () => {
      const { store } = opened()
      await store.limitQueue(TYPE, limits)
      await enqueueOne(store, { group: 'a' })
      await enqueueOne(store, { group: 'a', delayMs: HOUR })
      expect(await claim(store)).toMatchObject({ jobs: [{ type: TYPE }], heldBack: [] })
    })

    it('RATE-7 a paused queue is not held back by its limit', async () => {
      const { store } = opened()
      await store.limitQueue(TYPE, limits)
      await enqueueMany(store, 2, { group: 'a' })
      await claim(store)
      await store.pauseQueue(TYPE)
      expect(await claim(store)).toEqual({ jobs: [], heldBack: [] })
    })
  })
}
