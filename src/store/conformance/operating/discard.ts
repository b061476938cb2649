import { describe, expect, it } from 'vitest'
import {
  cancel,
  claimMany,
  complete,
  DAY,
  detailsOf,
  enqueueOne,
  eventsOf,
  expectUnchanged,
  HOUR,
  MISSING_ID,
  outcomeOf,
  plainPolicy,
  readJob,
  startDead,
  startOne,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeDiscard(opened: () => TestBench): void {
  describe('discardJobs', () => {
    describeDeleted(opened)
    describeKept(opened)
  })
  describe('runJobsNow', () => {
    describeRunNow(opened)
  })
}

function describeDeleted(opened: () => TestBench): void {
  it('OPS-9 waiting and ended jobs are deleted', async () => {
    const { store } = opened()
    const succeeded = await startOne(store)
    await complete(store, succeeded)
    const dead = await startDead(store)
    const cancelled = await enqueueOne(store)
    await cancel(store, cancelled)
    const waiting = await enqueueOne(store)
    const jobIds = [succeeded.jobId, dead, cancelled, waiting]
    const answers = await store.discardJobs(jobIds)
    expect(answers).toEqual(jobIds.map((jobId) => ({ jobId, outcome: 'discarded' })))
    for (const jobId of jobIds) expect(await store.getJob(jobId)).toBeNull()
  })

  it('OPS-9 one event remains: who did it, why, and what the job was', async () => {
    const { store } = opened()
    const jobId = await startDead(store, { owner: 'tenant-1' })
    await store.discardJobs([jobId], { actor: 'ana', reason: 'test data' })
    expect(await detailsOf(store, jobId, 'discarded')).toMatchObject({ actor: 'ana', reason: 'test data' })
    expect(await store.listEvents(jobId)).toHaveLength(1)
  })

  it('OPS-2 the event goes when the retention is over', async () => {
    const { store, elapse } = opened()
    const jobId = await startDead(store)
    await store.discardJobs([jobId])
    await elapse(14 * DAY - HOUR)
    await store.pruneJobs({ retentionDays: 14 })
    expect(await store.listEvents(jobId)).toHaveLength(1)
    await elapse(2 * HOUR)
    await store.pruneJobs({ retentionDays: 14 })
    expect(await store.listEvents(jobId)).toEqual([])
  })

  it('OPS-9 the dedupe key of a discarded job is free', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { dedupeKey: 'k' })
    await store.discardJobs([jobId])
    expect(await enqueueOne(store, { dedupeKey: 'k' })).not.toBe(jobId)
  })
}

function describeKept(opened: () => TestBench): void {
  it('OPS-9 a running job does not change', async () => {
    const { store } = opened()
    const { jobId } = await startOne(store)
    await expectUnchanged(store, jobId, async () => {
      expect(outcomeOf(await store.discardJobs([jobId]), jobId)).toBe('running')
    })
    expect(await eventsOf(store, jobId, 'discarded')).toEqual([])
  })

  it('C21 the job of another owner looks like a missing one, and does not change', async () => {
    const { store } = opened()
    const jobId = await startDead(store, { owner: 'tenant-1' })
    await expectUnchanged(store, jobId, async () => {
      const answers = await store.discardJobs([jobId, MISSING_ID], { owner: 'tenant-2' })
      expect(answers.map(({ outcome }) => outcome)).toEqual(['not-found', 'not-found'])
    })
    const [answer] = await store.discardJobs([jobId], { owner: 'tenant-1' })
    expect(answer?.outcome).toBe('discarded')
  })

  it('C21 a discard or a run-now meant for an earlier generation changes nothing', async () => {
    const { store } = opened()
    const jobId = await startDead(store)
    await store.retryJobs([jobId])
    await expectUnchanged(store, jobId, async () => {
      for (const verb of ['discardJobs', 'runJobsNow'] as const)
        expect(outcomeOf(await store[verb]([jobId], { generation: 1 }), jobId)).toBe('generation-changed')
    })
    expect(outcomeOf(await store.runJobsNow([jobId], { generation: 2 }), jobId)).toBe('already-due')
    expect(outcomeOf(await store.discardJobs([jobId], { generation: 2 }), jobId)).toBe('discarded')
  })

  it('OPS-9 an empty call does nothing', async () => {
    expect(await opened().store.discardJobs([])).toEqual([])
  })
}

function describeRunNow(opened: () => TestBench): void {
  it('OPS-9 a scheduled job becomes due at once, with who and why in an event', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store, { delayMs: HOUR })
    expect(await claimMany(store)).toEqual([])
    const answers = await store.runJobsNow([jobId], { actor: 'ana', reason: 'customer waits' })
    expect(outcomeOf(answers, jobId)).toBe('due')
    expect(await detailsOf(store, jobId, 'queued')).toMatchObject({
      cause: 'run-now',
      actor: 'ana',
      reason: 'customer waits',
    })
    expect((await claimMany(store)).map((job) => job.jobId)).toEqual([jobId])
  })

  it('OPS-9 a paused queue holds it back all the same', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { delayMs: HOUR })
    await store.pauseQueue((await readJob(store, jobId)).queue)
    await store.runJobsNow([jobId])
    expect(await claimMany(store)).toEqual([])
  })

  it('SEE-8 a request that changes nothing is recorded all the same', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    await store.runJobsNow([jobId], { actor: 'ana', reason: 'customer waits' })
    const queued = (await eventsOf(store, jobId, 'queued')).map(({ data }) => data.details)
    expect(queued).toContainEqual(expect.objectContaining({ cause: 'run-now', actor: 'ana' }))
  })

  it('OPS-9 jobs that are due, running, ended or another owner’s do not change', async () => {
    const { store } = opened()
    const running = await startOne(store)
    const dead = await startDead(store)
    const due = await enqueueOne(store)
    const foreign = await enqueueOne(store, { delayMs: HOUR, owner: 'tenant-1' })
    const expected = [
      [running.jobId, 'not-waiting'],
      [dead, 'not-waiting'],
      [due, 'already-due'],
      [foreign, 'not-found'],
    ] as const
    for (const [jobId, outcome] of expected)
      await expectUnchanged(store, jobId, async () => {
        const options = jobId === foreign ? { owner: 'tenant-2' } : {}
        expect(outcomeOf(await store.runJobsNow([jobId], options), jobId)).toBe(outcome)
      })
  })
}
