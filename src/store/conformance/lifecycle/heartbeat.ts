import { describe, expect, it } from 'vitest'
import {
  beat,
  cancel,
  claimMany,
  claimOne,
  complete,
  crashOnce,
  enqueueMany,
  expectAbout,
  expectUnchanged,
  fail,
  forgedLease,
  leaseOf,
  MINUTE,
  MISSING_ID,
  msBetween,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startMany,
  startOne,
  sweep,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeHeartbeat(opened: () => TestBench): void {
  describe('heartbeatJobs', () => {
    describeExtension(opened)
    describeLostLeases(opened)
    describeDeadline(opened)
    describeReaperAge(opened)
  })
}

function describeExtension(opened: () => TestBench): void {
  it('LEASE-4 a heartbeat extends the lease from now on', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await elapse(40 * SECOND)
    expect(await beat(store, claimed)).toBe('kept')
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.startedAt, job.heartbeatAt), 40 * SECOND)
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), MINUTE)
  })

  it('LEASE-4 one call extends all leases of a worker, and answers in the order asked', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    await enqueueMany(store, 3)
    const leases = (await claimMany(store)).map(leaseOf).toReversed()
    await elapse(40 * SECOND)
    const { answers } = await store.heartbeatJobs(leases)
    expect(answers).toEqual(leases.map((lease) => ({ ...lease, answer: 'kept' })))
    await elapse(40 * SECOND)
    expect((await sweep(store)).reaped).toEqual([])
  })

  it('LEASE-4 each job is extended by the lease of its own stage', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, stageFactors: { asr: 12 } })
    const claimed = await startOne(store, { stage: 'asr', expectedDurationMs: MINUTE })
    await elapse(MINUTE)
    await beat(store, claimed)
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), 12 * MINUTE)
  })

  it('LEASE-4 the caller may ask for another lease', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await store.heartbeatJobs([leaseOf(claimed)], { leaseMs: 30 * MINUTE })
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), 30 * MINUTE)
  })

  it('LEASE-7 a long job outlives its lease many times over, and nobody else can have it meanwhile', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    for (let minute = 0; minute < 10; minute += 1) {
      await elapse(45 * SECOND)
      expect(await beat(store, claimed)).toBe('kept')
      expect((await sweep(store)).reaped).toEqual([])
      expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
    }
    expect(await complete(store, claimed)).toBe('completed')
  })

  it('LEASE-7 an expired lease that was not reaped is still kept by its holder', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await elapse(10 * MINUTE)
    expect(await beat(store, claimed)).toBe('kept')
    expect((await sweep(store)).reaped).toEqual([])
  })

  it('LEASE-4 no leases give no answers', async () => {
    const { store } = opened()
    expect((await store.heartbeatJobs([])).answers).toEqual([])
  })
}

function describeLostLeases(opened: () => TestBench): void {
  it('LEASE-5 a heartbeat after the job was reaped is lost and changes nothing', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await crashOnce(bench, claimed)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await beat(store, claimed)).toBe('lost')
    })
  })

  it('LEASE-5 a heartbeat for a job that another worker has now is lost and changes nothing', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const first = await startOne(store)
    await crashOnce(bench, first)
    const second = await claimOne(store, { workerId: 'worker-2' })
    await bench.elapse(30 * SECOND)
    await expectUnchanged(store, first.jobId, async () => {
      expect(await beat(store, first)).toBe('lost')
    })
    expect(await beat(store, second)).toBe('kept')
  })

  it('LEASE-5 a heartbeat with a forged lease is lost and changes nothing', async () => {
    const { store } = opened()
    const { jobId } = await startOne(store)
    await expectUnchanged(store, jobId, async () => {
      expect(await beat(store, forgedLease(jobId))).toBe('lost')
    })
  })

  it('LEASE-5 a heartbeat for a job that does not exist is lost', async () => {
    const { store } = opened()
    expect(await beat(store, forgedLease(MISSING_ID))).toBe('lost')
  })

  it('LEASE-5 a lost lease does not keep the others from being extended', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await elapse(40 * SECOND)
    const { answers } = await store.heartbeatJobs([
      forgedLease(MISSING_ID),
      leaseOf(claimed),
      forgedLease(claimed.jobId),
    ])
    expect(answers.map(({ answer }) => answer)).toEqual(['lost', 'kept', 'lost'])
    await elapse(40 * SECOND)
    expect((await sweep(store)).reaped).toEqual([])
  })

  it.each([
    { verb: 'complete', end: complete },
    { verb: 'fail', end: fail },
    { verb: 'release', end: release },
  ])('C3 a heartbeat after the holder ended the job itself by $verb is finished', async ({ end }) => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await end(store, claimed)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await beat(store, claimed)).toBe('finished')
    })
  })

  it('C3 it stays finished while another worker has the job', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const first = await startOne(store)
    await release(store, first)
    await claimOne(store, { workerId: 'worker-2' })
    expect(await beat(store, first)).toBe('finished')
  })
}

function describeDeadline(opened: () => TestBench): void {
  it('LEASE-8 a heartbeat never extends the lease past the hard deadline', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, stageDeadlinesMs: { render: 90 * SECOND } })
    const claimed = await startOne(store, { stage: 'render' })
    await elapse(50 * SECOND)
    expect(await beat(store, claimed)).toBe('kept')
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), 40 * SECOND)
    expect(job.leaseExpiresAt).toEqual(job.deadlineAt)
  })

  it('LEASE-8 past the deadline a heartbeat extends nothing and says so', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, stageDeadlinesMs: { render: 90 * SECOND } })
    const claimed = await startOne(store, { stage: 'render' })
    await elapse(50 * SECOND)
    await beat(store, claimed)
    await elapse(50 * SECOND)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await beat(store, claimed)).toBe('past-deadline')
    })
  })

  it('WORK-6 a heartbeat returns a pending cancellation, and still extends the lease', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await cancel(store, claimed.jobId)
    await elapse(40 * SECOND)
    expect(await beat(store, claimed)).toBe('cancel-asked')
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), MINUTE)
    expectAbout(msBetween(job.startedAt, job.heartbeatAt), 40 * SECOND)
  })
}

function describeReaperAge(opened: () => TestBench): void {
  it('C11 a heartbeat returns the age of the last sweep, and null before the first', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, defaultLeaseMs: 60 * MINUTE })
    const [claimed] = await startMany(store, 1)
    const leases = claimed === undefined ? [] : [leaseOf(claimed)]
    expect((await store.heartbeatJobs(leases)).reaperAgeMs).toBeNull()
    await sweep(store, { reaper: { reaperId: 'reaper-1' } })
    await elapse(7 * MINUTE)
    expectAbout((await store.heartbeatJobs(leases)).reaperAgeMs, 7 * MINUTE)
  })
}
