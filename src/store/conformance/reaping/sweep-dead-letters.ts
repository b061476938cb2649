import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import {
  budgets,
  cancel,
  claimMany,
  claimOne,
  crashOnce,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectLeaseGone,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  SECOND,
  startOne,
  storeNow,
  sweep,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeDeadLetters(opened: () => TestBench): void {
  it('REAP-2 dead-letters a job whose attempts are used up', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    const claimed = await startOne(store, { maxAttempts: 1 })
    expect(await crashOnce(bench, claimed)).toMatchObject({
      action: 'dead',
      reason: 'lease_expired',
      attempt: 1,
      retryInMs: null,
    })
    await expectLeaseGone(store, claimed.jobId)
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'dead', attempt: 1, crashes: 1, runAt: null })
    expect(job.error).toEqual({
      code: 'timeout',
      reason: 'lease_expired',
      category: null,
      stack: null,
      attempt: 1,
    })
    expectAbout(msBetween(job.heartbeatAt, job.finishedAt), MINUTE)
    expect(await claimMany(store)).toEqual([])
  })

  it('REAP-2 dead-letters a job whose crashes are used up, whatever its maximum of failures', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, maxCrashes: 1 })
    const claimed = await startOne(store, { maxAttempts: 9 })
    expect((await crashOnce(bench, claimed)).action).toBe('dead')
    expect(await readJob(store, claimed.jobId)).toMatchObject({ status: 'dead', crashes: 1, failures: 0 })
  })

  it('REAP-2 LEASE-8 dead-letters a job whose timeouts are used up, with the deadline as its reason', async () => {
    const { store, elapse } = opened()
    const deadline = { stageDeadlinesMs: { render: 30 * SECOND } }
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, ...deadline, maxTimeouts: 1 })
    const claimed = await startOne(store, { stage: 'render' })
    await elapse(31 * SECOND)
    expect((await sweep(store)).reaped).toMatchObject([{ action: 'dead', reason: 'deadline_exceeded' }])
    expect((await readJob(store, claimed.jobId)).error).toMatchObject({
      code: 'timeout',
      reason: 'deadline_exceeded',
    })
  })

  it('REAP-2 C10 where a reap is an attempt, the last one ends the job with its attempts unchanged', async () => {
    const bench = opened()
    const { store, plantJob } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.countedAtReap })
    const jobId = await plantJob({ type: TYPE, status: 'waiting', attempt: 3, maxAttempts: 3 })
    const claimed = await claimOne(store)
    expect(claimed.jobId).toBe(jobId)
    expect((await crashOnce(bench, claimed)).action).toBe('dead')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'dead', attempt: 3 })
  })

  it('REAP-2 C10 so does one that dies of crashes before its attempts are used up', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({
      ...plainPolicy,
      ...budgets.countedAtReap,
      reapBudget: 'crashes',
      maxCrashes: 1,
    })
    const claimed = await startOne(store)
    expect(await crashOnce(bench, claimed)).toMatchObject({ action: 'dead', attempt: 0 })
    expect(await readJob(store, claimed.jobId)).toMatchObject({ attempt: 0, crashes: 1 })
  })

  it.each<[string, PolicyOverride, Partial<Job>]>([
    ['timeouts', { maxTimeouts: 1 }, { timeouts: 1 }],
    ['failures', { maxAttempts: 3 }, { failures: 3, maxAttempts: 3 }],
  ])(
    'REAP-2 C10 a limit of %s that was lowered while a job ran ends it at its crash, in one step',
    async (...row) => {
      const [, limits, counts] = row
      const { store, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures, ...limits })
      const leaseExpiresAt = new Date((await storeNow(store)) - MINUTE)
      const running = { status: 'running', attempt: 4, leaseId: randomUUID(), leaseExpiresAt } as const
      const jobId = await plantJob({ type: TYPE, ...running, heartbeatAt: leaseExpiresAt, ...counts })
      const dead = { jobId, action: 'dead', reason: 'lease_expired', retryInMs: null }
      expect(await store.previewSweep()).toMatchObject([dead])
      expect((await sweep(store)).reaped).toMatchObject([dead])
      expect(await eventsOf(store, jobId, 'reaper:failed(timeout)')).toHaveLength(1)
    },
  )

  it('OPS-8 the maximum of the row decides at a reap too', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts, maxAttempts: 1 })
    const patient = await startOne(store, { maxAttempts: 2 })
    expect((await crashOnce(bench, patient)).action).toBe('requeued')
    expect((await crashOnce(bench, await claimOne(store))).action).toBe('dead')
  })

  it('WORK-6 a job whose worker vanished with a pending cancellation ends as cancelled', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store)
    await cancel(store, claimed.jobId)
    expect(await crashOnce(bench, claimed)).toMatchObject({ action: 'cancelled', retryInMs: null })
    await expectLeaseGone(store, claimed.jobId)
    expect((await readJob(store, claimed.jobId)).error?.code).toBe('cancelled')
    expect(await eventsOf(store, claimed.jobId, 'reaper:cancelled')).toHaveLength(1)
    expect(await claimMany(store)).toEqual([])
  })
}

export function describePoison(opened: () => TestBench): void {
  // The claim after the last counted reap is the one that `countedAtReap` leaves (C10).
  it.each([
    { budget: 'failures', runs: 3 },
    { budget: 'attempts', runs: 3 },
    { budget: 'countedAtFailure', runs: 5 },
    { budget: 'countedAtReap', runs: 4 },
  ] as const)(
    'FAIL-5 a job that kills its worker every time is dead after $runs runs, with the budget $budget',
    async ({ budget, runs }) => {
      const bench = opened()
      await bench.store.writePolicy({ ...plainPolicy, ...budgets[budget] })
      await enqueueOne(bench.store, { maxAttempts: 3 })
      const actions: string[] = []
      while (actions.at(-1) !== 'dead' && actions.length < 20)
        actions.push((await crashOnce(bench, await claimOne(bench.store))).action)
      expect(actions).toEqual([...Array<string>(runs - 1).fill('requeued'), 'dead'])
    },
  )
}
