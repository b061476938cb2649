import { describe, expect, it } from 'vitest'
import {
  beat,
  budgets,
  cancel,
  claimOne,
  crashOnce,
  detailsOf,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectLeaseGone,
  expectUnchanged,
  fail,
  invalidArgument,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  SECOND,
  startMany,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'
import { describeDeadLetters, describePoison } from './sweep-dead-letters.ts'

export function describeSweep(opened: () => TestBench, options: ConformanceOptions = {}): void {
  describe('sweepJobs', () => {
    describeRequeue(opened)
    describeDeadLetters(opened)
    describePoison(opened)
    describeUntouched(opened)
    describeEvidence(opened)
    describeSteps(opened, options)
  })
}

function describeRequeue(opened: () => TestBench): void {
  it('REAP-1 a running job whose lease is over waits again after a backoff, without its lease', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts, reapBackoffStepsMs: [10 * MINUTE] })
    const claimed = await startOne(store)
    const { heartbeatAt } = await readJob(store, claimed.jobId)
    const reaped = await crashOnce(bench, claimed)
    expect(reaped).toEqual({
      jobId: claimed.jobId,
      action: 'requeued',
      reason: 'lease_expired',
      stage: TYPE,
      attempt: 1,
      workerId: 'worker-1',
      retryInMs: 10 * MINUTE,
    })
    await expectLeaseGone(store, claimed.jobId)
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'waiting', attempt: 1, crashes: 1, finishedAt: null })
    expect(heartbeatAt).not.toBeNull()
    expectAbout(msBetween(job.heartbeatAt, job.reapedAt), MINUTE)
    expectAbout(msBetween(job.reapedAt, job.runAt), 10 * MINUTE)
    expectAbout(msBetween(job.reapedAt, job.updatedAt), 0)
  })

  it.each(['failures', 'attempts', 'countedAtFailure'] as const)(
    'REAP-1 a reap keeps the attempt as it was, with the budget %s',
    async (name) => {
      const bench = opened()
      await bench.store.writePolicy({ ...plainPolicy, ...budgets[name] })
      const claimed = await startOne(bench.store)
      await crashOnce(bench, claimed)
      expect(await readJob(bench.store, claimed.jobId)).toMatchObject({
        attempt: claimed.attempt,
        failures: 0,
        crashes: 1,
        timeouts: 0,
      })
    },
  )

  it('REAP-1 C10 a reap is an attempt if the policy counts it', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, ...budgets.countedAtReap })
    const claimed = await startOne(bench.store)
    expect((await crashOnce(bench, claimed)).attempt).toBe(1)
    expect(await readJob(bench.store, claimed.jobId)).toMatchObject({ attempt: 1, crashes: 1 })
  })

  it('REAP-1 the error of an earlier failure stays through a reap', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await fail(store, await startOne(store), { code: 'GW_5XX', reason: 'bad gateway' })
    const second = await claimOne(store)
    const { error } = await readJob(store, second.jobId)
    await crashOnce(bench, second)
    expect((await readJob(store, second.jobId)).error).toEqual(error)
    expect(error?.code).toBe('GW_5XX')
  })

  it('REAP-1 a job of an unknown type is reaped like any other', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(bench.store, { type: 'from-the-future' })
    expect((await crashOnce(bench, claimed)).action).toBe('requeued')
  })

  it('LEASE-8 a job past its hard deadline is reaped despite heartbeats, and counted as a timeout', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({
      ...plainPolicy,
      ...budgets.failures,
      stageDeadlinesMs: { render: 90 * SECOND },
    })
    const claimed = await startOne(store, { stage: 'render' })
    await elapse(50 * SECOND)
    await beat(store, claimed)
    await elapse(41 * SECOND)
    await beat(store, claimed)
    const { reaped } = await sweep(store)
    expect(reaped).toMatchObject([
      { jobId: claimed.jobId, action: 'requeued', reason: 'deadline_exceeded', stage: 'render' },
    ])
    expect(await readJob(store, claimed.jobId)).toMatchObject({ crashes: 0, timeouts: 1, failures: 0 })
    expect(await detailsOf(store, claimed.jobId, 'reaper:requeued')).toMatchObject({
      reason: 'deadline_exceeded',
      cause: 'timeout',
    })
  })
}

function describeUntouched(opened: () => TestBench): void {
  it('REAP-3 a running job whose lease is valid is never touched', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const { jobId } = await startOne(store)
    await elapse(50 * SECOND)
    await expectUnchanged(store, jobId, async () => {
      expect((await sweep(store)).reaped).toEqual([])
    })
    expect(await store.listEvents(jobId)).toEqual([])
  })

  it('REAP-3 jobs with a valid lease stay among expired ones', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const short = await startOne(store)
    const long = await startOne(store, {}, { leaseMs: 60 * MINUTE })
    await elapse(10 * MINUTE)
    await expectUnchanged(store, long.jobId, async () => {
      expect((await sweep(store)).reaped.map(({ jobId }) => jobId)).toEqual([short.jobId])
    })
  })

  it('REAP-3 jobs that are not running are never reaped, however old', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, legacyAgeRule: true })
    const waiting = await enqueueOne(store, { queue: 'aside' })
    const cancelled = await enqueueOne(store)
    await cancel(store, cancelled)
    await elapse(90 * 24 * 60 * MINUTE)
    expect((await sweep(store)).reaped).toEqual([])
    expect((await readJob(store, waiting)).status).toBe('waiting')
    expect((await readJob(store, cancelled)).status).toBe('cancelled')
  })

  it('REAP-4 of many concurrent sweeps, each job is reaped once', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [60 * MINUTE] })
    const claimed = await startMany(store, 30)
    await elapse(2 * MINUTE)
    const sweeps = await Promise.all(Array.from({ length: 4 }, () => sweep(store, { limit: 7 })))
    const taken = sweeps.flatMap(({ reaped }) => reaped.map(({ jobId }) => jobId))
    expect(taken.toSorted()).toEqual(claimed.map(({ jobId }) => jobId).toSorted())
    for (const { jobId } of claimed) {
      expect((await readJob(store, jobId)).crashes).toBe(1)
      expect(await eventsOf(store, jobId, 'reaper:requeued')).toHaveLength(1)
    }
  })

  it('REAP-4 a second sweep finds nothing left', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await crashOnce(bench, await startOne(bench.store))
    expect((await sweep(bench.store)).reaped).toEqual([])
  })
}

function describeEvidence(opened: () => TestBench): void {
  it('REAP-9 a requeue is one event, with the reason, the previous owner and the evidence', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts, reapBackoffStepsMs: [10 * MINUTE] })
    const claimed = await startOne(store, { stage: 'burnin' }, { workerId: 'worker-7' })
    await bench.elapse(2 * MINUTE)
    const running = await readJob(store, claimed.jobId)
    await sweep(store)
    const [event, ...others] = await store.listEvents(claimed.jobId)
    const { runAt } = await readJob(store, claimed.jobId)
    expect(others).toEqual([])
    expect(event).toMatchObject({ jobId: claimed.jobId, type: 'reaper:requeued' })
    expect(event?.data).toEqual({
      type: 'reaper:requeued',
      table: expect.stringMatching(/./),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/),
      details: expect.objectContaining({
        reason: 'lease_expired',
        cause: 'crash',
        locked_by: 'worker-7',
        attempt: 1,
        stage: 'burnin',
        lease_id: claimed.leaseId,
        fence: claimed.fence,
        last_heartbeat_at: running.heartbeatAt?.toISOString(),
        lease_expires_at: running.leaseExpiresAt?.toISOString(),
        next_run_at: runAt?.toISOString(),
        backoff_ms: 10 * MINUTE,
      }),
    })
  })

  it('REAP-9 a dead letter is one event, with no next run and no backoff', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    const claimed = await startOne(store, { maxAttempts: 1 })
    await crashOnce(bench, claimed)
    const events = await store.listEvents(claimed.jobId)
    expect(events.map(({ type }) => type)).toEqual(['reaper:failed(timeout)'])
    expect(events[0]?.data.details).toMatchObject({
      reason: 'lease_expired',
      locked_by: 'worker-1',
      attempt: 1,
      lease_id: claimed.leaseId,
      next_run_at: null,
      backoff_ms: null,
    })
  })

  it('REAP-9 events come in the order they happened', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    await enqueueOne(store, { maxAttempts: 2 })
    const { jobId } = await crashOnce(bench, await claimOne(store))
    await crashOnce(bench, await claimOne(store))
    const events = await store.listEvents(jobId)
    expect(events.map(({ type }) => type)).toEqual([
      'reaper:requeued',
      'processing',
      'reaper:failed(timeout)',
    ])
  })
}

function describeSteps(opened: () => TestBench, { isSharded = false }: ConformanceOptions): void {
  it('C8 a step reaps at most its limit, and the sweep continues until all are reaped', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [60 * MINUTE] })
    const claimed = await startMany(store, 5)
    await elapse(2 * MINUTE)
    const step = await store.sweepJobs({ limit: 2 })
    expect(step.reaped).toHaveLength(2)
    expect(step.next).not.toBeNull()
    const rest = await sweep(store, { limit: 2 })
    const taken = [...step.reaped, ...rest.reaped].map(({ jobId }) => jobId)
    expect(taken.toSorted()).toEqual(claimed.map(({ jobId }) => jobId).toSorted())
    expect(rest.steps).toBeGreaterThan(1)
  })

  it('C8 a sweep that finds nothing is one step, and returns its time', async () => {
    const { store } = opened()
    const { createdAt } = await readJob(store, await enqueueOne(store))
    const step = await store.sweepJobs()
    expect(step).toMatchObject({ reaped: [], held: 0, holdReason: null, next: null })
    expectAbout(msBetween(createdAt, new Date(step.sweptAt)), 0)
  })

  it.skipIf(isSharded)(
    'REAP-17 a reaper closes its sweep in a separate step, after those that reaped',
    async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const { jobId } = await startOne(store)
      await elapse(2 * MINUTE)
      const reaper = { reaperId: 'reaper-1' }
      const step = await store.sweepJobs({ reaper })
      expect(step.reaped).toMatchObject([{ jobId, action: 'requeued' }])
      expect((await store.listSweeps()).last).toBeNull()
      if (step.next === null) throw new Error('the sweep was closed with the job')
      expect(await store.sweepJobs({ reaper, cursor: step.next })).toMatchObject({ reaped: [], next: null })
      expect((await store.listSweeps()).last).toMatchObject({ reaperId: 'reaper-1', found: 1, requeued: 1 })
    },
  )

  it('REAP-17 a manual sweep that reaps less than its limit is one step', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const { jobId } = await startOne(store)
    await elapse(2 * MINUTE)
    expect(await store.sweepJobs()).toMatchObject({ reaped: [{ jobId }], next: null })
  })

  it.each([0, -1, 1.5, 10_001])('C8 refuses a limit of %s', async (limit) => {
    const { store } = opened()
    await expect(store.sweepJobs({ limit })).rejects.toMatchObject(invalidArgument)
  })
}
