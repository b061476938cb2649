import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../job/lease.ts'
import type { BreakerSettings } from '../../../policy/dependency/breaker.ts'
import {
  budgets,
  claimMany,
  claimOne,
  enqueueMany,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectLeaseGone,
  expectUnchanged,
  leaseOf,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startOne,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'
import { halfOpen, NAME, openBreaker, openHalf, outcomes, readBreaker, stateOf } from './breaker-builders.ts'

export function describeHalfOpen(opened: () => TestBench, options: ConformanceOptions): void {
  describe('half-open breakers', () => {
    describeTries(opened, options)
    describeFailedProbes(opened)
    describeProbeSlots(opened)
  })
}

function describeTries(opened: () => TestBench, { isSharded = false }: ConformanceOptions): void {
  it('BREAK-3 in mode half-open one job at a time is admitted after the cooldown', async () => {
    const { store, elapse } = opened()
    await openBreaker(store, halfOpen)
    const [first] = await enqueueMany(store, 3)
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([first])
    expect(await claimMany(store)).toEqual([])
    expect(await readBreaker(store)).toMatchObject({ state: 'half-open', probing: 1 })
  })

  it('BREAK-3 enough successful probes close it', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench)
    await enqueueMany(store, 5)
    for (const successes of [1, 2]) {
      const { jobId } = await claimOne(store)
      const breaker = await store.recordCalls(NAME, [{ isFailure: false, jobId }])
      expect(breaker).toMatchObject({ state: 'half-open', successes, probing: 0 })
    }
    const { jobId } = await claimOne(store)
    expect((await store.recordCalls(NAME, [{ isFailure: false, jobId }])).state).toBe('closed')
    expect(await claimMany(store)).toHaveLength(2)
  })

  it('SEE-7 jobs that were let through and reported no call are counted until one does', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench)
    await enqueueMany(store, 5)
    for (const unheard of [1, 2]) {
      const { jobId } = await claimOne(store)
      expect(await store.recordCalls(NAME, [{ jobId }])).toMatchObject({ state: 'half-open', unheard })
    }
    const facts = await store.readJobFacts(await enqueueOne(store))
    expect(facts?.breaker).toMatchObject({ state: 'half-open', unheard: 2 })
    const { jobId } = await claimOne(store)
    expect(await store.recordCalls(NAME, [{ isFailure: false, jobId }])).toMatchObject({ unheard: 0 })
  })

  // Each shard counts those of its own probes.
  it.skipIf(isSharded)(
    'SEE-7 jobs whose worker reports nothing at all are counted when they have lost their slot',
    async () => {
      const bench = opened()
      const { store, elapse } = bench
      await openHalf(bench, { probeTimeoutMs: 30 * SECOND })
      await enqueueMany(store, 4)
      for (const unheard of [1, 2, 3]) {
        await store.completeJobs([leaseOf(await claimOne(store))])
        expect(await readBreaker(store)).toMatchObject({ probing: 1, unheard: unheard - 1 })
        await elapse(31 * SECOND)
        expect(await readBreaker(store)).toMatchObject({ state: 'half-open', probing: 0, unheard })
      }
      const facts = await store.readJobFacts(await enqueueOne(store))
      expect(facts?.breaker).toMatchObject({ state: 'half-open', unheard: 3 })
      const { jobId } = await claimOne(store)
      // Once one is heard, the others were only slow.
      expect(await store.recordCalls(NAME, [{ isFailure: false, jobId }])).toMatchObject({ unheard: 0 })
    },
  )

  it('BREAK-3 one failed call of a probe restarts the cooldown', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await openHalf(bench, { probeSlots: 2 })
    await enqueueMany(store, 3)
    const [good, bad] = await claimMany(store)
    const calls = [
      { isFailure: false, jobId: String(good?.jobId) },
      { isFailure: true, jobId: String(bad?.jobId) },
    ]
    expect(await store.recordCalls(NAME, calls)).toMatchObject({ state: 'open', successes: 0, probing: 0 })
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it.skipIf(isSharded)(
    'BREAK-3 a half-open breaker counts calls of its probes, and no late ones',
    async () => {
      const bench = opened()
      const { store } = bench
      const late = await startOne(store)
      await openHalf(bench, { closeAfter: 1 })
      await enqueueOne(store)
      const probe = await claimOne(store)
      await store.recordCalls(NAME, [{ isFailure: true, jobId: late.jobId }])
      expect(await readBreaker(store)).toMatchObject({ state: 'half-open', probing: 1 })
      await store.recordCalls(NAME, [{ isFailure: false, jobId: probe.jobId }])
      expect(await stateOf(store)).toBe('closed')
    },
  )

  it('BREAK-3 a call without a job counts for the oldest probe, or for none if none runs', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench, { closeAfter: 2 })
    expect(await store.recordCalls(NAME, outcomes(3, 3))).toMatchObject({ state: 'half-open', successes: 0 })
    await enqueueMany(store, 2)
    await claimOne(store)
    expect(await store.recordCalls(NAME, outcomes(0, 3))).toMatchObject({ state: 'half-open', successes: 1 })
    await claimOne(store)
    expect((await store.recordCalls(NAME, outcomes(1))).state).toBe('open')
  })

  it('BREAK-3 health probes neither close nor open a half-open breaker', async () => {
    const bench = opened()
    await openHalf(bench, { closeAfter: 1 })
    const before = await readBreaker(bench.store)
    expect(before.earlyProbeInMs).toBeNull()
    for (const isHealthy of [true, false])
      expect(await bench.store.recordProbe(NAME, isHealthy)).toMatchObject({
        state: 'half-open',
        successes: 0,
      })
  })

  it('BREAK-3 enough good health probes in a row may start half-open before the cooldown is over', async () => {
    const { store, elapse } = opened()
    await openBreaker(store, { ...halfOpen, closeAfter: 2 })
    const jobId = await enqueueOne(store)
    expect(await readBreaker(store)).toMatchObject({ state: 'open', earlyProbeInMs: 0 })
    expect(await store.recordProbe(NAME, true)).toMatchObject({ state: 'open', successes: 1 })
    // They count once per interval, however many workers probe.
    const second = await store.recordProbe(NAME, true)
    expect(second).toMatchObject({ state: 'open', successes: 1 })
    expectAbout(second.earlyProbeInMs, SECOND)
    await elapse(2 * SECOND)
    expect(await store.recordProbe(NAME, false)).toMatchObject({ state: 'open', successes: 0 })
    for (const state of ['open', 'half-open'] as const) {
      await elapse(2 * SECOND)
      expect(await store.recordProbe(NAME, true)).toMatchObject({ state })
    }
    expect(await readBreaker(store)).toMatchObject({ successes: 0, earlyProbeInMs: null })
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('BREAK-3 after a failed call, health probes start no early half-open until the breaker has closed', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await openHalf(bench, { closeAfter: 1 })
    await enqueueMany(store, 2)
    const { jobId } = await claimOne(store)
    const reopened = await store.recordCalls(NAME, [{ isFailure: true, jobId }])
    expect(reopened).toMatchObject({ state: 'open', reopens: 1, earlyProbeInMs: null })
    expectAbout(reopened.nextProbeInMs, MINUTE)
    expect(await store.recordProbe(NAME, true)).toMatchObject({ state: 'open', successes: 0 })
    await elapse(MINUTE + SECOND)
    const good = await claimOne(store)
    const closed = await store.recordCalls(NAME, [{ isFailure: false, jobId: good.jobId }])
    expect(closed).toMatchObject({ state: 'closed', reopens: 0 })
    expect(await store.recordCalls(NAME, outcomes(20))).toMatchObject({ state: 'open', earlyProbeInMs: 0 })
  })
}

function describeFailedProbes(opened: () => TestBench): void {
  /** A job that a half-open breaker admitted, and whose call has failed. */
  async function failedProbe(bench: TestBench, settings: Partial<BreakerSettings> = {}): Promise<ClaimedJob> {
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    await openHalf(bench, settings)
    await enqueueOne(store, { maxAttempts: 1 })
    const probe = await claimOne(store)
    await store.recordCalls(NAME, [{ isFailure: true, jobId: probe.jobId }])
    return probe
  }
  const busy = { code: 'GW_5XX', reason: 'the gateway answered 503' }

  it('BREAK-3 RATE-5 a job whose call fails in half-open is given back, and loses no attempt', async () => {
    const bench = opened()
    const { store } = bench
    const probe = await failedProbe(bench)
    expect(await store.failJobs([{ ...leaseOf(probe), ...busy }])).toEqual([
      { jobId: probe.jobId, outcome: 'released', retryInMs: SECOND },
    ])
    await expectLeaseGone(store, probe.jobId)
    const job = await readJob(store, probe.jobId)
    expect(job).toMatchObject({ status: 'waiting', attempt: 0, failures: 0, releases: 1, error: busy })
    expectAbout(msBetween(job.updatedAt, job.runAt), SECOND)
    const [event] = await eventsOf(store, probe.jobId, 'released')
    expect(event?.data.details).toMatchObject({ cause: 'half-open', delay_ms: SECOND, releases: 1, ...busy })
    expect(await store.failJobs([{ ...leaseOf(probe), ...busy }])).toMatchObject([
      { outcome: 'already-done' },
    ])
  })

  it('BREAK-3 it is queued behind the others, so that another job is tried next', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const probe = await failedProbe(bench)
    const next = await enqueueOne(store)
    await store.failJobs([{ ...leaseOf(probe), ...busy }])
    await elapse(2 * MINUTE)
    expect((await claimOne(store)).jobId).toBe(next)
  })

  it('BREAK-3 so is a job admitted beside one whose call failed', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    await openHalf(bench, { probeSlots: 2 })
    await enqueueMany(store, 2)
    const [first, second] = await claimMany(store)
    if (first === undefined || second === undefined) throw new Error('two jobs should be let through')
    await store.recordCalls(NAME, [{ isFailure: true, jobId: first.jobId }])
    expect(await store.failJobs([{ ...leaseOf(second), ...busy }])).toMatchObject([{ outcome: 'released' }])
  })

  it('BREAK-3 a late failure of a probe whose slot timed out costs no attempt', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    await openHalf(bench, { probeTimeoutMs: MINUTE })
    await enqueueMany(store, 2)
    const late = await claimOne(store)
    await elapse(MINUTE + SECOND)
    await claimOne(store)
    const heard = await store.recordCalls(NAME, [{ isFailure: true, jobId: late.jobId }])
    expect(heard).toMatchObject({ state: 'open', probing: 0 })
    expect(await store.failJobs([{ ...leaseOf(late), ...busy }])).toMatchObject([{ outcome: 'released' }])
  })

  it('BREAK-3 a permanent error and a timeout end the attempt as usual', async () => {
    const bench = opened()
    const { store } = bench
    const permanent = await failedProbe(bench)
    const final = { ...leaseOf(permanent), ...busy, category: 'PERMANENT' as const }
    expect(await store.failJobs([final])).toMatchObject([{ outcome: 'dead' }])
  })

  it('BREAK-3 a failure costs an attempt if the call succeeded or the breaker closed since', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts })
    await openHalf(bench, { closeAfter: 2 })
    await store.enqueueJobs([1, 2].map(() => ({ type: TYPE, maxAttempts: 1 })))
    const good = await claimOne(store)
    await store.recordCalls(NAME, [{ isFailure: false, jobId: good.jobId }])
    expect(await store.failJobs([{ ...leaseOf(good), ...busy }])).toMatchObject([{ outcome: 'dead' }])
    const other = await claimOne(store)
    await store.recordCalls(NAME, [{ isFailure: true, jobId: other.jobId }])
    await store.resumeBreaker(NAME)
    expect(await store.failJobs([{ ...leaseOf(other), ...busy }])).toMatchObject([{ outcome: 'dead' }])
  })

  it('BREAK-3 a job with a pending cancellation ends as cancelled', async () => {
    const bench = opened()
    const { store } = bench
    const probe = await failedProbe(bench)
    await store.cancelJobs([probe.jobId])
    expect(await store.failJobs([{ ...leaseOf(probe), ...busy }])).toMatchObject([{ outcome: 'cancelled' }])
  })

  it('BREAK-3 a job that ends without a call frees its slot, and counts neither as success nor as failure', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench, { closeAfter: 1 })
    await enqueueMany(store, 2)
    const silent = await claimOne(store)
    expect(await store.recordCalls(NAME, [{ jobId: silent.jobId }])).toMatchObject({
      state: 'half-open',
      successes: 0,
      probing: 0,
    })
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('BREAK-1 a job without a call does not count in the window', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    expect(await store.recordCalls(NAME, [{ jobId: claimed.jobId }])).toMatchObject({ calls: 0, failures: 0 })
  })
}

function describeProbeSlots(opened: () => TestBench): void {
  it('BREAK-3 the slots are shared by all queues of the dependency', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench, { probeSlots: 2 })
    await store.mapDependency('mail', NAME)
    await store.enqueueJobs([TYPE, TYPE, 'mail', 'mail'].map((type) => ({ type })))
    expect(await claimMany(store, { queues: [TYPE, 'mail'] })).toHaveLength(2)
    expect(await claimMany(store, { queues: [TYPE, 'mail'] })).toEqual([])
  })

  it('BREAK-3 a full half-open breaker does not use up the limit of other queues', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench)
    await enqueueMany(store, 5)
    await store.enqueueJobs(Array.from({ length: 5 }, () => ({ type: 'mail' })))
    const claimed = await claimMany(store, { queues: [TYPE, 'mail'], limit: 4 })
    expect(claimed.map(({ type }) => type).toSorted()).toEqual([TYPE, 'mail', 'mail', 'mail'].toSorted())
  })

  it('BREAK-3 a claim by id takes a slot, or is refused if there is none', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench)
    const [first = '', second = ''] = await enqueueMany(store, 2)
    expect(await store.claimJob(second, { workerId: 'worker-1' })).toMatchObject({ jobId: second })
    await expectUnchanged(store, first, async () => {
      expect(await store.claimJob(first, { workerId: 'worker-1' })).toBe('not-claimable')
    })
  })

  it('BREAK-3 a probe that never reports frees its slot after a timeout', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await openHalf(bench, { probeTimeoutMs: 2 * MINUTE })
    await enqueueMany(store, 2)
    const vanished = await claimOne(store)
    await elapse(MINUTE)
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect((await readBreaker(store)).probing).toBe(0)
    expect((await claimOne(store)).jobId).not.toBe(vanished.jobId)
  })

  it('BREAK-3 RATE-5 a probe that was released can be claimed again at once, and has lost no attempt', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    await openHalf(bench)
    const jobId = await enqueueOne(store, { maxAttempts: 1 })
    for (let nth = 0; nth < 5; nth += 1) await release(store, await claimOne(store))
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', attempt: 0 })
    expect((await readBreaker(store)).probing).toBe(1)
  })
}
