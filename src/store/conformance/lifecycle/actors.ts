import { describe, expect, it } from 'vitest'
import { cancel, detailsOf, leaseOf, plainPolicy, startOne, TYPE } from '../builders.ts'
import type { TestBench } from '../harness.ts'

const actor = 'token:worker-7'

export function describeActors(opened: () => TestBench): void {
  describe('who sent the call of a worker', () => {
    it('OPS-1 is recorded in every event of the call', async () => {
      const { store } = opened()
      await store.writePolicy({ ...plainPolicy, events: 'all' })
      const claimed = await startOne(store, {}, { actor })
      expect(await detailsOf(store, claimed.jobId, 'processing')).toMatchObject({ actor })
      await store.failJobs([leaseOf(claimed)], { actor })
      expect(await detailsOf(store, claimed.jobId, 'retry')).toMatchObject({ actor })
      const [again] = await store.claimJobs({ workerId: 'worker-1', queues: [TYPE], limit: 1 })
      if (again === undefined) return expect.unreachable('there was no job to claim')
      await store.completeJobs([leaseOf(again)], { actor })
      expect(await detailsOf(store, claimed.jobId, 'complete')).toMatchObject({ actor })
    })

    it('OPS-1 is recorded for a release, and for a job with a pending cancellation', async () => {
      const { store } = opened()
      await store.writePolicy({ ...plainPolicy, events: 'all' })
      const released = await startOne(store, { type: 'released' })
      await store.releaseJobs([leaseOf(released)], { actor })
      expect(await detailsOf(store, released.jobId, 'released')).toMatchObject({ actor })
      const asked = await startOne(store, { type: 'asked' })
      await cancel(store, asked.jobId)
      await store.failJobs([leaseOf(asked)], { actor })
      expect(await detailsOf(store, asked.jobId, 'cancelled')).toMatchObject({ actor })
    })

    it('OPS-1 is not in the events of a call that names nobody', async () => {
      const { store } = opened()
      await store.writePolicy({ ...plainPolicy, events: 'all' })
      const claimed = await startOne(store)
      await store.completeJobs([leaseOf(claimed)])
      for (const type of ['processing', 'complete'] as const)
        expect(await detailsOf(store, claimed.jobId, type)).not.toHaveProperty('actor')
    })
  })
}
