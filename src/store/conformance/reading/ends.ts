import { describe, expect, it } from 'vitest'
import type { JobEnd } from '../../job-store.ts'
import { claimOne, enqueueOne, MINUTE, TYPE } from '../builders.ts'
import type { TestBench } from '../harness.ts'

const byId = (ends: JobEnd[]) => new Map(ends.map((end) => [end.jobId, end]))

export function describeEnds(opened: () => TestBench): void {
  describe('readEnds', () => {
    it('WORK-9 leaves out jobs that wait, run or will run again', async () => {
      const { store } = opened()
      const failing = await enqueueOne(store)
      const job = await claimOne(store)
      await store.failJobs([
        { ...job, code: 'IO', reason: 'no space', category: 'TRANSIENT', retryInMs: MINUTE },
      ])
      const running = await enqueueOne(store)
      await claimOne(store)
      const waiting = await enqueueOne(store)
      expect(await store.readEnds([failing, running, waiting])).toEqual([])
      expect(await store.readEnds([])).toEqual([])
    })

    it('WORK-9 one call returns success with its result, death and cancellation with their reason', async () => {
      const { store } = opened()
      const done = await enqueueOne(store)
      await store.completeJobs([{ ...(await claimOne(store)), result: { pages: [1, null, 'x'] } }])
      const plain = await enqueueOne(store)
      await store.completeJobs([await claimOne(store)])
      const dead = await enqueueOne(store)
      const refused = {
        code: 'CARD',
        reason: 'card declined',
        category: 'PERMANENT',
        isRetryable: false,
      } as const
      await store.failJobs([{ ...(await claimOne(store)), ...refused }])
      const cancelled = await enqueueOne(store)
      await store.cancelJobs([cancelled], { reason: 'not needed' })
      const ends = byId(await store.readEnds([done, plain, dead, cancelled]))
      expect(ends.get(done)).toEqual({
        jobId: done,
        status: 'succeeded',
        type: TYPE,
        result: { pages: [1, null, 'x'] },
        error: null,
      })
      expect(ends.get(plain)).toMatchObject({ status: 'succeeded', result: null })
      expect(ends.get(dead)).toMatchObject({
        status: 'dead',
        type: TYPE,
        error: { code: 'CARD', reason: 'card declined' },
      })
      expect(ends.get(cancelled)).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
    })

    it('WORK-9 a job that was deleted is gone, and one that is retried has no end any more', async () => {
      const { store } = opened()
      const dead = await enqueueOne(store)
      await store.failJobs([
        { ...(await claimOne(store)), code: 'X', reason: 'x', category: 'PERMANENT', isRetryable: false },
      ])
      await store.retryJobs([dead])
      expect(await store.readEnds([dead])).toEqual([])
      await store.cancelJobs([dead])
      await store.discardJobs([dead])
      expect(await store.readEnds([dead])).toEqual([
        { jobId: dead, status: 'gone', type: null, result: null, error: null },
      ])
    })
  })
}

/** test/sql/waits.test.ts listens to their notifications. */
export function describeWaits(opened: () => TestBench): void {
  describe('waits', () => {
    it('WORK-9 a job that somebody waits for ends as any other, whether the wait has ended or not', async () => {
      const { store } = opened()
      const first = await enqueueOne(store)
      const second = await enqueueOne(store)
      await store.beginWaits?.([first, second], 7, MINUTE)
      await store.beginWaits?.([first], 7, MINUTE)
      await store.endWaits?.([first], 7)
      for (const _ of [first, second]) await store.completeJobs([await claimOne(store)])
      expect((await store.readEnds([first, second])).map(({ status }) => status)).toEqual([
        'succeeded',
        'succeeded',
      ])
    })
  })
}
