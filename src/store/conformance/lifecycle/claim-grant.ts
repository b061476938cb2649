import { expect, it } from 'vitest'
import type { Job, NewJob } from '../../../job/job.ts'
import type { ClaimRequest } from '../../job-store.ts'
import {
  budgets,
  claimOne,
  crashOnce,
  detailsOf,
  enqueueMany,
  enqueueOne,
  eventsOf,
  expectAbout,
  HOUR,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startOne,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeGrant(opened: () => TestBench): void {
  it('LEASE-2 a claim sets status, worker, lease and times from the clock of the store', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store)
    const { leaseId } = await claimOne(store, { workerId: 'worker-7' })
    const job = await readJob(store, jobId)
    expect(job).toMatchObject({ status: 'running', workerId: 'worker-7', leaseId, runAt: null })
    expectAbout(msBetween(job.createdAt, job.heartbeatAt), 0)
    expectAbout(msBetween(job.createdAt, job.startedAt), 0)
    expectAbout(msBetween(job.createdAt, job.updatedAt), 0)
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), MINUTE)
  })

  it('LEASE-2 a claim returns the whole job', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, attemptCountedAt: 'claim' })
    const asked: NewJob = {
      type: 'asr',
      queue: 'speech',
      payload: { url: 'clip.wav' },
      priority: 3,
      stage: 'burnin',
      owner: 'tenant-1',
      maxAttempts: 7,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    const claimed = await startOne(store, asked)
    expect(claimed).toMatchObject({
      ...asked,
      attempt: 1,
      failures: 0,
      crashes: 0,
      timeouts: 0,
      generation: 1,
      leaseMs: MINUTE,
      deadlineMs: null,
      isRescue: false,
    })
    const job = await readJob(store, claimed.jobId)
    expect(claimed).toMatchObject({ fence: job.fence, createdAt: job.createdAt, startedAt: job.startedAt })
  })

  it('LEASE-2 the start is that of the first claim, the last attempt and the heartbeat those of the last', async () => {
    const { store, elapse } = opened()
    const claimed = await startOne(store)
    const { startedAt } = await readJob(store, claimed.jobId)
    await release(store, claimed)
    await elapse(HOUR)
    await claimOne(store)
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.startedAt, job.heartbeatAt), HOUR)
    expect(job.lastAttemptAt).toEqual(job.heartbeatAt)
    expect(startedAt).not.toBeNull()
  })

  it('LEASE-2 every claim gives out a new lease id and a higher fence', async () => {
    const { store } = opened()
    const first = await startOne(store)
    await release(store, first)
    const second = await claimOne(store)
    expect(second.jobId).toBe(first.jobId)
    expect(second.leaseId).not.toBe(first.leaseId)
    expect(second.fence).toBeGreaterThan(first.fence)
  })

  it('LEASE-2 two claims never give out one lease id', async () => {
    const { store } = opened()
    await enqueueMany(store, 2)
    const [first, second] = [await claimOne(store), await claimOne(store)]
    expect(second.leaseId).not.toBe(first.leaseId)
  })

  it('LEASE-2 a claim clears the earliest run time', async () => {
    const { store, elapse } = opened()
    const jobId = await enqueueOne(store, { delayMs: MINUTE })
    await elapse(2 * MINUTE)
    const { waitedMs } = await claimOne(store)
    expect((await readJob(store, jobId)).runAt).toBeNull()
    expectAbout(waitedMs, MINUTE)
  })

  it('LEASE-2 a job that was not delayed has waited since it was enqueued', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store)
    await elapse(2 * MINUTE)
    expectAbout((await claimOne(store)).waitedMs, 2 * MINUTE)
  })
}

const leaseCases: { name: string; job: Partial<NewJob>; request?: Partial<ClaimRequest>; leaseMs: number }[] =
  [
    {
      name: 'expectation × 6 in clip',
      job: { stage: 'clip', expectedDurationMs: 100_000 },
      leaseMs: 600_000,
    },
    {
      name: 'expectation × 12 in asr',
      job: { stage: 'asr', expectedDurationMs: 100_000 },
      leaseMs: 1_200_000,
    },
    {
      name: 'expectation × 8 in burnin',
      job: { stage: 'burnin', expectedDurationMs: 100_000 },
      leaseMs: 800_000,
    },
    {
      name: 'the floor over a short expectation',
      job: { stage: 'asr', expectedDurationMs: 10_000 },
      leaseMs: 300_000,
    },
    { name: 'the default without an expectation', job: { stage: 'clip' }, leaseMs: 300_000 },
    {
      name: 'the default in an unknown stage',
      job: { stage: 'mux', expectedDurationMs: 900_000 },
      leaseMs: 300_000,
    },
    { name: 'the floor of its own stage', job: { stage: 'upload' }, leaseMs: 900_000 },
    { name: 'the stage of its type', job: { type: 'clip', expectedDurationMs: 100_000 }, leaseMs: 600_000 },
    {
      name: 'what the request says',
      job: { stage: 'upload' },
      request: { leaseMs: 45_000 },
      leaseMs: 45_000,
    },
  ]

export function describeLeaseLength(opened: () => TestBench): void {
  it.each(leaseCases)('LEASE-3 the lease is $name', async ({ job, request, leaseMs }) => {
    const { store } = opened()
    await store.writePolicy({
      ...plainPolicy,
      defaultLeaseMs: 300_000,
      stageFactors: { clip: 6, asr: 12, burnin: 8 },
      stageLeasesMs: { upload: 900_000 },
    })
    const claimed = await startOne(store, job, request)
    expect(claimed.leaseMs).toBe(leaseMs)
    const row = await readJob(store, claimed.jobId)
    expectAbout(msBetween(row.heartbeatAt, row.leaseExpiresAt), leaseMs)
  })

  it('LEASE-3 a job without a stage has the default stage of its table', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, defaultStage: 'asr', stageFactors: { asr: 12 } })
    const claimed = await startOne(store, { expectedDurationMs: 100_000 })
    expect(claimed).toMatchObject({ stage: 'asr', leaseMs: 1_200_000 })
  })

  it('LEASE-8 a claim sets the hard deadline of the stage, and its lease does not reach past it', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, stageDeadlinesMs: { render: 20 * SECOND } })
    const claimed = await startOne(store, { stage: 'render' })
    expect(claimed).toMatchObject({ deadlineMs: 20 * SECOND, leaseMs: 20 * SECOND })
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.heartbeatAt, job.deadlineAt), 20 * SECOND)
    expect(job.leaseExpiresAt).toEqual(job.deadlineAt)
  })

  it('LEASE-8 a deadline of 0 is none', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, defaultDeadlineMs: HOUR, stageDeadlinesMs: { render: 0 } })
    const claimed = await startOne(store, { stage: 'render' })
    expect(claimed.deadlineMs).toBeNull()
    expect((await readJob(store, claimed.jobId)).deadlineAt).toBeNull()
  })
}

export function describeCounting(opened: () => TestBench): void {
  it.each([
    { countedAt: 'claim', attempt: 1 },
    { countedAt: 'failure', attempt: 0 },
    { countedAt: 'failure-and-reap', attempt: 0 },
  ] as const)('C10 a claim of a policy that counts at $countedAt leaves attempt $attempt', async (the) => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, attemptCountedAt: the.countedAt, reapBudget: 'crashes' })
    const claimed = await startOne(store)
    expect(claimed.attempt).toBe(the.attempt)
    expect((await readJob(store, claimed.jobId)).attempt).toBe(the.attempt)
  })

  it('OPS-8 the maximum of a row goes before that of the policy', async () => {
    const { store } = opened()
    await store.writePolicy({ maxAttempts: 4 })
    expect((await startOne(store, { maxAttempts: 9 })).maxAttempts).toBe(9)
  })

  it('OPS-8 a job without a maximum has that of the policy', async () => {
    const { store } = opened()
    await store.writePolicy({ maxAttempts: 4 })
    expect((await startOne(store)).maxAttempts).toBe(4)
  })

  const left: { name: string; budget: keyof typeof budgets; fields: Partial<Job> }[] = [
    // Left waiting by a crash: a failure would have ended it.
    { name: 'all attempts counted at failures', budget: 'countedAtFailure', fields: { attempt: 3 } },
    { name: 'a high ordinal but few failures', budget: 'failures', fields: { failures: 2, attempt: 90 } },
    { name: 'one crash left', budget: 'failures', fields: { crashes: 2, timeouts: 2 } },
    { name: 'one attempt left', budget: 'attempts', fields: { attempt: 2, crashes: 90, failures: 90 } },
    { name: 'a reap at its maximum', budget: 'countedAtReap', fields: { attempt: 3 } },
  ]
  it.each(left)('C10 a job with $name is claimed', async ({ budget, fields }) => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets[budget] })
    const jobId = await plantJob({ type: TYPE, status: 'waiting', maxAttempts: 3, ...fields })
    expect((await claimOne(store)).jobId).toBe(jobId)
  })
}

export function describeRescue(opened: () => TestBench): void {
  it('SEE-6 the first claim after a reap is a rescue, and its event has its duration', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, reapBackoffStepsMs: [10 * MINUTE] })
    const { jobId } = await crashOnce(bench, await startOne(store))
    await bench.elapse(11 * MINUTE)
    const claimed = await claimOne(store, { workerId: 'worker-2' })
    expect(claimed.isRescue).toBe(true)
    const details = await detailsOf(store, jobId, 'processing')
    expect(details).toMatchObject({ worker_id: 'worker-2', attempt: claimed.attempt, fence: claimed.fence })
    expectAbout(details['rescued_after_ms'], 11 * MINUTE)
  })

  it('SEE-6 the claim after a rescue is not a rescue', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const { jobId } = await crashOnce(bench, await startOne(store))
    await release(store, await claimOne(store))
    expect((await claimOne(store)).isRescue).toBe(false)
    expect(await eventsOf(store, jobId, 'processing')).toHaveLength(1)
  })

  it('SEE-3 an ordinary claim has the event processing only with all events enabled', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'recovery' })
    const quiet = await startOne(store)
    expect(await store.listEvents(quiet.jobId)).toEqual([])
    const told = await startOne(store, {}, { policy: { events: 'all' } })
    const details = await detailsOf(store, told.jobId, 'processing')
    expect(details).toMatchObject({ worker_id: 'worker-1', attempt: told.attempt, fence: told.fence })
  })
}
