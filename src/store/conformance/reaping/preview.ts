import { describe, expect, it } from 'vitest'
import type { ReapedJob } from '../../job-store.ts'
import {
  beat,
  budgets,
  cancel,
  claimMany,
  enqueueMany,
  enqueueOne,
  expectUnchanged,
  MINUTE,
  plainPolicy,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describePreview(opened: () => TestBench): void {
  describe('previewSweep', () => {
    function inOrder(jobs: ReapedJob[]): ReapedJob[] {
      return jobs.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1))
    }

    it('REAP-13 a preview matches the sweep that follows', async () => {
      const { store, elapse, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
      await enqueueOne(store, { maxAttempts: 1 })
      await enqueueMany(store, 2)
      await claimMany(store)
      const asked = await startOne(store)
      await cancel(store, asked.jobId)
      await elapse(2 * MINUTE)
      await plantJob({ type: TYPE, status: 'running', workerId: 'old-worker' })
      const preview = await store.previewSweep()
      const actions = preview.map(({ action }) => action).toSorted()
      expect(actions).toEqual(['cancelled', 'dead', 'reported', 'requeued', 'requeued'])
      expect(inOrder((await sweep(store)).reaped)).toEqual(inOrder(preview))
    })

    it('REAP-13 a preview changes nothing', async () => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      const claimed = await startOne(store)
      await elapse(2 * MINUTE)
      await expectUnchanged(store, claimed.jobId, async () => {
        expect(await store.previewSweep()).toHaveLength(1)
      })
      expect(await store.listEvents(claimed.jobId)).toEqual([])
      expect(await beat(store, claimed)).toBe('kept')
    })

    it('REAP-13 a preview shows the delay of a requeue', async () => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [10 * MINUTE] })
      await startOne(store)
      await elapse(2 * MINUTE)
      expect(await store.previewSweep()).toMatchObject([{ action: 'requeued', retryInMs: 10 * MINUTE }])
    })

    it('REAP-13 a preview may use another policy', async () => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      await startOne(store)
      await elapse(2 * MINUTE)
      expect(await store.previewSweep({ policy: { maxCrashes: 1 } })).toMatchObject([{ action: 'dead' }])
    })
  })
}
