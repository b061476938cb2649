import { describe, expect, it } from 'vitest'
import {
  budgets,
  cancel,
  claimMany,
  claimOne,
  crashOnce,
  enqueueMany,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectLeaseGone,
  expectUnchanged,
  forgedLease,
  HOUR,
  invalidArgument,
  leaseOf,
  MINUTE,
  MISSING_ID,
  msBetween,
  outcomeOf,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startMany,
  startOne,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeRelease(opened: () => TestBench): void {
  describe('releaseJobs', () => {
    describeReturn(opened)
    describeCost(opened)
    describeReasons(opened)
    describeStaleReleases(opened)
    describeCancelledReleases(opened)
  })
}

function describeReturn(opened: () => TestBench): void {
  it('LEASE-6 a released job waits again at once, without a lease', async () => {
    const { store, elapse } = opened()
    const claimed = await startOne(store)
    await elapse(30 * SECOND)
    expect(await release(store, claimed)).toBe('released')
    await expectLeaseGone(store, claimed.jobId)
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'waiting', runAt: null, finishedAt: null, error: null })
    expect(job.finishedLeaseId).toBe(claimed.leaseId)
    expectAbout(msBetween(job.startedAt, job.updatedAt), 30 * SECOND)
    expect((await claimOne(store, { workerId: 'worker-2' })).jobId).toBe(claimed.jobId)
  })

  it('LEASE-6 releases all given jobs and returns the outcome of each', async () => {
    const { store } = opened()
    const claimed = await startMany(store, 3)
    const answers = await store.releaseJobs(claimed.map(leaseOf))
    for (const { jobId } of claimed) expect(outcomeOf(answers, jobId)).toBe('released')
    expect(await store.readHealth()).toMatchObject({ waiting: 3, running: 0 })
  })

  it('LEASE-6 no leases release nothing', async () => {
    const { store } = opened()
    await startOne(store)
    expect(await store.releaseJobs([])).toEqual([])
    expect((await store.readHealth()).running).toBe(1)
  })

  it('LEASE-6 a job may be released with a delay', async () => {
    const { store, elapse } = opened()
    const claimed = await startOne(store)
    await store.releaseJobs([leaseOf(claimed)], { delayMs: 10 * MINUTE })
    await elapse(9 * MINUTE)
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect((await claimOne(store)).jobId).toBe(claimed.jobId)
  })

  it('RATE-2 jobs that go back together come again one after the other', async () => {
    const { store, elapse } = opened()
    await enqueueMany(store, 3)
    const claimed = await claimMany(store)
    await store.releaseJobs(claimed.map(leaseOf), { delayMs: 10 * MINUTE, spreadMs: 5 * MINUTE })
    await elapse(10 * MINUTE + SECOND)
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([claimed[0]?.jobId])
    await elapse(5 * MINUTE)
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([claimed[1]?.jobId])
    await elapse(5 * MINUTE)
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([claimed[2]?.jobId])
  })

  it('LEASE-6 an expired lease that was not reaped still releases', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await elapse(10 * MINUTE)
    expect(await release(store, claimed)).toBe('released')
  })

  it('SEE-3 a release has its event only with all events enabled', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'recovery' })
    const quiet = await startOne(store)
    await release(store, quiet)
    expect(await store.listEvents(quiet.jobId)).toEqual([])
    await store.writePolicy({ events: 'all' })
    await release(store, await claimOne(store))
    expect(await eventsOf(store, quiet.jobId, 'released')).toHaveLength(1)
  })
}

function describeCost(opened: () => TestBench): void {
  it('LEASE-6 a release gives the attempt back where claims count', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    const claimed = await startOne(store)
    expect(claimed.attempt).toBe(1)
    await release(store, claimed)
    expect((await readJob(store, claimed.jobId)).attempt).toBe(0)
  })

  it('LEASE-6 a release takes no attempt away where claims do not count', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.countedAtFailure })
    const jobId = await plantJob({ type: 'planted', status: 'waiting', attempt: 2, maxAttempts: 5 })
    await release(store, await claimOne(store, { queues: ['planted'] }))
    expect((await readJob(store, jobId)).attempt).toBe(2)
  })

  it('LEASE-6 a release never takes the attempt below nothing', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.countedAtFailure })
    const claimed = await startOne(store)
    await store.writePolicy({ attemptCountedAt: 'claim' })
    await release(store, claimed)
    expect((await readJob(store, claimed.jobId)).attempt).toBe(0)
  })

  it('RATE-5 however often it is released, a job keeps its attempts and does not end', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    const jobId = await enqueueOne(store, { maxAttempts: 1 })
    for (let nth = 0; nth < 12; nth += 1) expect(await release(store, await claimOne(store))).toBe('released')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', attempt: 0, releases: 12 })
  })

  it('RATE-5 an interruption is counted apart from a release, and costs as little', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    const claimed = await startOne(store)
    await store.releaseJobs([leaseOf(claimed)], { cause: 'interruption' })
    expect(await readJob(store, claimed.jobId)).toMatchObject({ attempt: 0, releases: 0, interruptions: 1 })
  })
}

function describeReasons(opened: () => TestBench): void {
  const limited = { delayMs: MINUTE, reason: 'the gateway answered 429' }

  it('RATE-6 a release with a reason is an event with its delay, whatever the events setting', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'recovery' })
    const claimed = await startOne(store)
    expect(await store.releaseJobs([leaseOf(claimed)], limited)).toEqual([
      { jobId: claimed.jobId, outcome: 'released', retryInMs: MINUTE },
    ])
    const [event, ...others] = await store.listEvents(claimed.jobId)
    expect(others).toEqual([])
    expect(event).toMatchObject({
      type: 'released',
      data: { details: { reason: 'the gateway answered 429', delay_ms: MINUTE, releases: 1 } },
    })
  })

  it('RATE-6 the reason is a text of at most 1000 characters', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    for (const reason of ['', 'r'.repeat(1_001)])
      await expect(store.releaseJobs([leaseOf(claimed)], { reason })).rejects.toMatchObject(invalidArgument)
    expect((await readJob(store, claimed.jobId)).status).toBe('running')
  })

  it('RATE-6 from the 21st release on each delay is twice the last, up to an hour, and nothing ends the job', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    const jobId = await enqueueOne(store, { maxAttempts: 1 })
    const waits: (number | null)[] = []
    for (let nth = 0; nth < 28; nth += 1) {
      const [released] = await store.releaseJobs([leaseOf(await claimOne(store))], limited)
      waits.push(released?.retryInMs ?? null)
      await elapse(HOUR)
    }
    expect(waits.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => MINUTE))
    expect(waits.slice(20)).toEqual([2, 4, 8, 16, 32, 60, 60, 60].map((minutes) => minutes * MINUTE))
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', attempt: 0, releases: 28 })
  })

  it('RATE-6 a day after its first start the delays double too', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    await enqueueOne(store)
    const waitOf = async () =>
      (await store.releaseJobs([leaseOf(await claimOne(store))], limited))[0]?.retryInMs
    expect(await waitOf()).toBe(MINUTE)
    await elapse(24 * HOUR)
    expect(await waitOf()).toBe(2 * MINUTE)
  })

  it('RATE-6 a failure in between restarts the delays', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store, { maxAttempts: 9 })
    for (let nth = 0; nth < 22; nth += 1) {
      await store.releaseJobs([leaseOf(await claimOne(store))], limited)
      await elapse(HOUR)
    }
    await store.failJobs([{ ...leaseOf(await claimOne(store)), retryInMs: 0 }])
    const released = await store.releaseJobs([leaseOf(await claimOne(store))], limited)
    expect(released).toEqual([{ jobId, outcome: 'released', retryInMs: MINUTE }])
  })

  it('RATE-6 delays of our own rate limits stay as they are', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store)
    for (let nth = 0; nth < 23; nth += 1) {
      const released = await store.releaseJobs([leaseOf(await claimOne(store))], { delayMs: MINUTE })
      expect(released).toEqual([{ jobId, outcome: 'released', retryInMs: MINUTE }])
      await elapse(HOUR)
    }
  })

  it('RATE-6 health and why show jobs released often', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'recovery' })
    const jobId = await enqueueOne(store)
    await enqueueOne(store, { type: 'another' })
    for (let nth = 1; nth <= 20; nth += 1) {
      await store.releaseJobs([leaseOf(await claimOne(store))], limited)
      expect((await store.readHealth()).releasedOften).toBe(nth === 20 ? 1 : 0)
      if (nth < 20) await elapse(HOUR)
    }
    const facts = await store.readJobFacts(jobId)
    expect(facts).toMatchObject({ releases: 20, isReleasedOften: true, lastEvent: { type: 'released' } })
    expect(facts?.lastEvent?.details['reason']).toBe('the gateway answered 429')
  })
}

function describeStaleReleases(opened: () => TestBench): void {
  it('LEASE-5 LEASE-6 only the caller’s own jobs are released', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const first = await startOne(store)
    await crashOnce(bench, first)
    const second = await claimOne(store, { workerId: 'worker-2' })
    await expectUnchanged(store, first.jobId, async () => {
      expect(await release(store, first)).toBe('lease-lost')
    })
    expect(await release(store, second)).toBe('released')
  })

  it('LEASE-5 a forged lease releases nothing', async () => {
    const { store } = opened()
    const { jobId } = await startOne(store)
    await expectUnchanged(store, jobId, async () => {
      expect(await release(store, forgedLease(jobId))).toBe('lease-lost')
    })
  })

  it('LEASE-5 a job that does not exist is not found', async () => {
    const { store } = opened()
    expect(await release(store, forgedLease(MISSING_ID))).toBe('not-found')
  })

  it('C3 a repeated release with the same lease is already done and changes nothing', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    await release(store, claimed)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await release(store, claimed)).toBe('already-done')
    })
  })
}

function describeCancelledReleases(opened: () => TestBench): void {
  it('WORK-6 a job that is released with a pending cancellation ends as cancelled', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    await cancel(store, claimed.jobId)
    expect(await store.releaseJobs([leaseOf(claimed)], { delayMs: MINUTE })).toEqual([
      { jobId: claimed.jobId, outcome: 'cancelled', retryInMs: null },
    ])
    await expectLeaseGone(store, claimed.jobId)
    const job = await readJob(store, claimed.jobId)
    expect(job.status).toBe('cancelled')
    expect(job.error?.code).toBe('cancelled')
    expect(job.finishedAt).not.toBeNull()
    expect(await claimMany(store)).toEqual([])
    const events = await store.listEvents(claimed.jobId)
    expect(events.at(-1)).toMatchObject({
      type: 'cancelled',
      data: { details: { cause: 'release', attempt: job.attempt } },
    })
  })
}
