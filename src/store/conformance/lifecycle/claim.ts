import { describe, expect, it } from 'vitest'
import type { Job, NewJob } from '../../../job/job.ts'
import type { ClaimRequest } from '../../job-store.ts'
import {
  budgets,
  cancel,
  claimMany,
  claimOne,
  complete,
  crashOnce,
  detailsOf,
  enqueueMany,
  enqueueOne,
  eventsOf,
  expectAbout,
  fail,
  forgedLease,
  HOUR,
  invalidArgument,
  MINUTE,
  MISSING_ID,
  msBetween,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startDead,
  startOne,
  storeNow,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeClaim(opened: () => TestBench): void {
  describe('claimJobs', () => {
    describeChoice(opened)
    describeOrder(opened)
    describeGrant(opened)
    describeLeaseLength(opened)
    describeCounting(opened)
    describeRescue(opened)
    describeRefusedClaims(opened)
  })
  describe('claimJob', () => {
    describeClaimById(opened)
  })
}

function describeChoice(opened: () => TestBench): void {
  it('LEASE-1 two workers never get the same job', async () => {
    const { store } = opened()
    const jobIds = await enqueueMany(store, 40)
    const workers = Array.from({ length: 8 }, (_, index) => `worker-${index}`)
    const races = await Promise.all(workers.map((workerId) => claimMany(store, { workerId, limit: 5 })))
    const rest = await claimMany(store)
    const claimed = [...races.flat(), ...rest].map(({ jobId }) => jobId)
    expect(claimed.toSorted()).toEqual(jobIds.toSorted())
  })

  it('LEASE-1 a job held by one worker is not given to another', async () => {
    const { store } = opened()
    await startOne(store)
    expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
  })

  it('LEASE-1 takes no more than the limit', async () => {
    const { store } = opened()
    await enqueueMany(store, 5)
    expect(await claimMany(store, { limit: 2 })).toHaveLength(2)
    expect((await store.readHealth()).running).toBe(2)
  })

  it('LEASE-1 takes from the given queues only', async () => {
    const { store } = opened()
    await enqueueOne(store, { queue: 'slow' })
    const quick = await enqueueOne(store, { queue: 'quick' })
    expect((await claimMany(store, { queues: ['quick'] })).map(({ jobId }) => jobId)).toEqual([quick])
  })

  it('LEASE-1 claims nothing without queues', async () => {
    const { store } = opened()
    await enqueueOne(store)
    expect(await claimMany(store, { queues: [] })).toEqual([])
  })

  it('LEASE-1 claims only the given types, if any are given', async () => {
    const { store } = opened()
    await enqueueOne(store, { type: 'asr', queue: 'media' })
    const burnin = await enqueueOne(store, { type: 'burnin', queue: 'media' })
    const claimed = await claimMany(store, { queues: ['media'], types: ['burnin', 'clip'] })
    expect(claimed.map(({ jobId }) => jobId)).toEqual([burnin])
  })

  it('LEASE-1 a waiting job is claimed whatever its lease fields say', async () => {
    const { store, plantJob } = opened()
    const later = new Date((await storeNow(store)) + HOUR)
    const { leaseId } = forgedLease('')
    const left = { workerId: 'old-worker', leaseId, leaseExpiresAt: later, heartbeatAt: later }
    const jobId = await plantJob({ type: TYPE, status: 'waiting', ...left })
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('LEASE-1 a job that has ended is never claimed', async () => {
    const { store } = opened()
    await complete(store, await startOne(store))
    await startDead(store)
    await cancel(store, await enqueueOne(store))
    expect(await claimMany(store)).toEqual([])
  })

  it('LEASE-1 jobs that cannot be claimed do not use up the limit', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await enqueueOne(store, { delayMs: HOUR })
    await enqueueOne(store, { type: 'other', queue: TYPE })
    const jobId = await enqueueOne(store, { priority: 5 })
    expect((await claimOne(store, { types: [TYPE], limit: 1 })).jobId).toBe(jobId)
  })

  it('FAIL-6 a job in backoff is not claimed before its earliest run time, and is after it', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await fail(store, claimed, { retryInMs: 10 * MINUTE })
    await elapse(9 * MINUTE)
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect((await claimOne(store)).jobId).toBe(claimed.jobId)
  })
}

function describeOrder(opened: () => TestBench): void {
  it('LEASE-1 WORK-7 the lower priority number runs first', async () => {
    const { store } = opened()
    const last = await enqueueOne(store, { priority: 10 })
    const middle = await enqueueOne(store)
    const first = await enqueueOne(store, { priority: -10 })
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([first, middle, last])
  })

  it('LEASE-1 within a priority the earlier due time runs first, be it a run time or the creation', async () => {
    const { store, elapse } = opened()
    const delayed = await enqueueOne(store, { delayMs: 5 * MINUTE })
    await elapse(MINUTE)
    const early = await enqueueOne(store)
    await elapse(9 * MINUTE)
    const late = await enqueueOne(store)
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([early, delayed, late])
  })

  it('LEASE-1 due time decides over all queues of a claim', async () => {
    const { store, elapse } = opened()
    const jobIds: string[] = []
    for (const queue of ['a', 'b', 'a', 'b']) {
      jobIds.push(await enqueueOne(store, { queue }))
      await elapse(MINUTE)
    }
    const claimed = await claimMany(store, { queues: ['b', 'a'], limit: 3 })
    expect(claimed.map(({ jobId }) => jobId).toSorted()).toEqual(jobIds.slice(0, 3).toSorted())
  })

  it('LEASE-1 due time decides even if older jobs of a queue have other types', async () => {
    const { store, elapse } = opened()
    for (let nth = 0; nth < 2; nth += 1) await enqueueOne(store, { queue: 'a', type: 'other' })
    await elapse(MINUTE)
    const first = await enqueueOne(store, { queue: 'b' })
    await elapse(MINUTE)
    const second = await enqueueOne(store, { queue: 'a' })
    const request = { queues: ['a', 'b'], types: [TYPE], limit: 1 }
    expect((await claimOne(store, request)).jobId).toBe(first)
    expect((await claimOne(store, request)).jobId).toBe(second)
  })
}

function describeGrant(opened: () => TestBench): void {
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
    await claimOne(store)
    expect((await readJob(store, jobId)).runAt).toBeNull()
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

function describeLeaseLength(opened: () => TestBench): void {
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

function describeCounting(opened: () => TestBench): void {
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

function describeRescue(opened: () => TestBench): void {
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

function describeRefusedClaims(opened: () => TestBench): void {
  it.each([0, -1, 1.5, 10_001, Number.NaN])('LEASE-1 refuses a limit of %s', async (limit) => {
    const { store } = opened()
    await expect(claimMany(store, { limit })).rejects.toMatchObject(invalidArgument)
  })

  it('LEASE-2 refuses a worker without a name', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    await expect(claimMany(store, { workerId: '' })).rejects.toMatchObject(invalidArgument)
    await expect(store.claimJob(jobId, { workerId: '' })).rejects.toMatchObject(invalidArgument)
    expect((await readJob(store, jobId)).status).toBe('waiting')
  })
}

function describeClaimById(opened: () => TestBench): void {
  const request = { workerId: 'worker-1' }

  it('LEASE-2 claims the given job, whatever its queue and whatever waits before it', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    await enqueueOne(store, { priority: -5 })
    const jobId = await enqueueOne(store, { queue: 'aside', priority: 5 })
    const claimed = await store.claimJob(jobId, request)
    expect(claimed).toMatchObject({ jobId, queue: 'aside', leaseMs: MINUTE })
    expect(await readJob(store, jobId)).toMatchObject({ status: 'running', workerId: 'worker-1' })
  })

  it('LEASE-1 of many workers that claim one job, one gets it', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    const calls = Array.from({ length: 8 }, (_, index) =>
      store.claimJob(jobId, { workerId: `worker-${index}` }),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter((answer) => answer !== 'not-claimable')).toHaveLength(1)
  })

  it('LEASE-1 a job that runs, has ended, is not due or does not exist is not claimable', async () => {
    const { store } = opened()
    const running = await startOne(store)
    const dead = await startDead(store)
    const delayed = await enqueueOne(store, { delayMs: HOUR })
    for (const jobId of [running.jobId, dead, delayed, MISSING_ID])
      expect(await store.claimJob(jobId, request)).toBe('not-claimable')
    expect(await readJob(store, running.jobId)).toMatchObject({ leaseId: running.leaseId })
  })
}
