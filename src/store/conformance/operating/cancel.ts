import { describe, expect, it } from 'vitest'
import {
  beat,
  cancel,
  claimMany,
  complete,
  detailsOf,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectUnchanged,
  MINUTE,
  MISSING_ID,
  msBetween,
  outcomeOf,
  plainPolicy,
  readJob,
  SECOND,
  startDead,
  startOne,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeCancel(opened: () => TestBench): void {
  describe('cancelJobs', () => {
    describeWaiting(opened)
    describeRunning(opened)
    describeUntouchable(opened)
  })
}

function describeWaiting(opened: () => TestBench): void {
  it('WORK-6 a waiting job ends at once', async () => {
    const { store, elapse } = opened()
    const jobId = await enqueueOne(store)
    await elapse(MINUTE)
    expect(await cancel(store, jobId)).toBe('cancelled')
    const job = await readJob(store, jobId)
    expect(job).toMatchObject({ status: 'cancelled', startedAt: null })
    expect(job.error).toMatchObject({ code: 'cancelled', reason: 'cancelled' })
    expectAbout(msBetween(job.createdAt, job.finishedAt), MINUTE)
    expect(await claimMany(store)).toEqual([])
  })

  it('SEE-8 the facts of a job say who asked to cancel it, also while it runs', async () => {
    const { store } = opened()
    const waiting = await enqueueOne(store)
    await store.cancelJobs([waiting], { actor: 'ana', reason: 'wrong bucket' })
    expect((await store.readJobFacts(waiting))?.cancel).toMatchObject({ by: 'ana', reason: 'wrong bucket' })
    const { jobId } = await startOne(store)
    expect((await store.readJobFacts(jobId))?.cancel).toBeNull()
    await store.cancelJobs([jobId], { actor: 'ben' })
    expect((await store.readJobFacts(jobId))?.cancel).toMatchObject({ by: 'ben', reason: null })
  })

  it('WORK-6 who cancelled and why is in the event, and why also on the job', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    await store.cancelJobs([jobId], { actor: 'ops@example.org', reason: 'wrong file' })
    expect((await readJob(store, jobId)).error?.reason).toBe('wrong file')
    expect(await detailsOf(store, jobId, 'cancelled')).toMatchObject({
      actor: 'ops@example.org',
      reason: 'wrong file',
    })
  })

  it('WORK-6 a delayed job ends at once too', async () => {
    const { store, elapse } = opened()
    const jobId = await enqueueOne(store, { delayMs: MINUTE })
    expect(await cancel(store, jobId)).toBe('cancelled')
    await elapse(2 * MINUTE)
    expect(await claimMany(store)).toEqual([])
  })
}

function describeRunning(opened: () => TestBench): void {
  it('WORK-6 a running job keeps its lease until it stops', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    expect(await cancel(store, claimed.jobId)).toBe('cancel-requested')
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'running', leaseId: claimed.leaseId, workerId: 'worker-1' })
    expectAbout(msBetween(job.startedAt, job.cancelRequestedAt), 0)
    expect(await beat(store, claimed)).toBe('cancel-asked')
  })

  it('WORK-6 the request is an event with who asked and why', async () => {
    const { store } = opened()
    const { jobId } = await startOne(store)
    await store.cancelJobs([jobId], { actor: 'ops@example.org', reason: 'wrong file' })
    expect(await detailsOf(store, jobId, 'cancel-requested')).toMatchObject({
      actor: 'ops@example.org',
      reason: 'wrong file',
    })
    expect(await eventsOf(store, jobId, 'cancelled')).toEqual([])
  })

  it('WORK-6 a second request keeps the time of the first', async () => {
    const { store, elapse } = opened()
    const { jobId } = await startOne(store)
    await cancel(store, jobId)
    await elapse(30 * SECOND)
    expect(await cancel(store, jobId)).toBe('cancel-requested')
    const job = await readJob(store, jobId)
    expectAbout(msBetween(job.startedAt, job.cancelRequestedAt), 0)
  })
}

function describeUntouchable(opened: () => TestBench): void {
  it('WORK-6 ended jobs do not change', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const succeeded = await startOne(store)
    await complete(store, succeeded)
    const dead = await startDead(store)
    const cancelled = await enqueueOne(store)
    await cancel(store, cancelled)
    for (const jobId of [succeeded.jobId, dead, cancelled])
      await expectUnchanged(store, jobId, async () => {
        expect(await cancel(store, jobId)).toBe('already-ended')
      })
  })

  it('C21 the job of another owner looks like a missing one, and does not change', async () => {
    const { store } = opened()
    const waiting = await enqueueOne(store, { owner: 'tenant-1', queue: 'aside' })
    const running = await startOne(store, { owner: 'tenant-1' })
    const ownerless = await enqueueOne(store)
    for (const jobId of [waiting, running.jobId, ownerless])
      await expectUnchanged(store, jobId, async () => {
        expect(await cancel(store, jobId, { owner: 'tenant-2' })).toBe('not-found')
      })
    expect(await cancel(store, MISSING_ID, { owner: 'tenant-2' })).toBe('not-found')
  })

  it('C21 an owner cancels its own job', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { owner: 'tenant-1' })
    expect(await cancel(store, jobId, { owner: 'tenant-1' })).toBe('cancelled')
  })

  it('C21 a cancel meant for an earlier generation changes nothing', async () => {
    const { store } = opened()
    const jobId = await startDead(store)
    await store.retryJobs([jobId])
    await expectUnchanged(store, jobId, async () => {
      expect(outcomeOf(await store.cancelJobs([jobId], { generation: 1 }), jobId)).toBe('generation-changed')
    })
    expect(outcomeOf(await store.cancelJobs([jobId], { generation: 2 }), jobId)).toBe('cancelled')
  })

  it('WORK-6 a batch returns the outcome of each', async () => {
    const { store } = opened()
    const running = await startOne(store)
    const waiting = await enqueueOne(store)
    const answers = await store.cancelJobs([MISSING_ID, running.jobId, waiting])
    expect(outcomeOf(answers, MISSING_ID)).toBe('not-found')
    expect(outcomeOf(answers, running.jobId)).toBe('cancel-requested')
    expect(outcomeOf(answers, waiting)).toBe('cancelled')
  })
}
