import { expect, it } from 'vitest'
import { claimMany } from '../builders.ts'
import type { TestBench } from '../harness.ts'
import { begin, killMany } from './operation-builders.ts'

export function describeOperationEnds(opened: () => TestBench): void {
  it('SEE-7 the jobs of an operation are counted where they are now, not where it left them', async () => {
    const { store } = opened()
    await killMany(store, 4)
    const lease = await begin(store)
    await store.stepOperation(lease, { limit: 3 })
    const none = { waiting: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, deleted: 0 }
    expect(await store.countOperationEnds(lease.operationId)).toEqual({
      ...none,
      waiting: 3,
      isComplete: true,
    })
    const [good, bad] = await claimMany(store, { limit: 2 })
    if (good === undefined || bad === undefined) throw new Error('nothing was claimed')
    await store.completeJobs([good])
    await store.failJobs([{ ...bad, code: 'X', isRetryable: false }])
    expect(await store.countOperationEnds(lease.operationId)).toMatchObject({
      waiting: 1,
      succeeded: 1,
      dead: 1,
    })
    const { jobs } = await store.listOperationJobs(lease.operationId)
    expect(jobs.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['retried', 'succeeded'],
      ['retried', 'dead'],
      ['retried', 'waiting'],
      [null, 'dead'],
    ])
    expect(await store.countOperationEnds(crypto.randomUUID())).toEqual({ ...none, isComplete: true })
  })
}
