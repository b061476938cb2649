// After an outage of the database, leases that expired inside it are held back for one lease (C9).
import { describe, expect, it } from 'vitest'
import type { JobStore, ReaperFacts } from '../../job-store.ts'
import {
  beat,
  budgets,
  expectAbout,
  expectUnchanged,
  HOUR,
  leaseOf,
  MINUTE,
  plainPolicy,
  readJob,
  SECOND,
  startOne,
  storeNow,
  sweep,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export const policy = { ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [HOUR] }

export function describeHolds(opened: () => TestBench): void {
  describe('holds of a sweep', () => {
    describeFailedSweeps(opened)
    describeLaterSteps(opened)
    describeHoldEnd(opened)
    describeSteppedClock(opened)
    describePulse(opened)
  })
}

/** Facts of a reaper whose last step was this long ago, by the store's clock and by its own. */
export async function factsOf(store: JobStore, sweptAgoMs: number, elapsedMs: number): Promise<ReaperFacts> {
  const lastSweptAt = new Date((await storeNow(store)) - sweptAgoMs).toISOString()
  return { reaperId: 'reaper-1', lastSweptAt, elapsedMs }
}

/** A job whose one-minute lease expired half a minute ago, in the minute for which sweeps failed. */
export const failing: ReaperFacts = { reaperId: 'reaper-1', failingForMs: MINUTE }

export async function startAndOutlive(bench: TestBench) {
  await bench.store.writePolicy(policy)
  const claimed = await startOne(bench.store)
  await bench.elapse(90 * SECOND)
  return claimed
}

function describeLaterSteps(opened: () => TestBench): void {
  it('C9 a lease that ended after the first step of a sweep is left to the next sweep, which looks for an outage', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(policy)
    const first = await startOne(store)
    await elapse(90 * SECOND)
    const second = await startOne(store)
    const reaper = await factsOf(store, 20 * SECOND, MINUTE)
    const step = await store.sweepJobs({ reaper })
    expect(step.reaped).toMatchObject([{ jobId: first.jobId }])
    // Not by `elapse`: the times in the cursor stay.
    await store.heartbeatJobs([second], { leaseMs: 1 })
    const endMs = (await readJob(store, second.jobId)).leaseExpiresAt?.getTime() ?? 0
    await expect.poll(() => storeNow(store)).toBeGreaterThan(endMs + 1)
    const later = await store.sweepJobs({ reaper, cursor: step.next ?? '' })
    expect(later).toMatchObject({ reaped: [], next: null })
    const facts = { ...reaper, lastSweptAt: step.sweptAt, elapsedMs: MINUTE }
    expect(await sweep(store, { reaper: facts })).toMatchObject({ reaped: [{ jobId: second.jobId }] })
  })
}

function describeFailedSweeps(opened: () => TestBench): void {
  it('C9 a lease that ended while sweeps failed is held and not taken', async () => {
    const bench = opened()
    const { jobId } = await startAndOutlive(bench)
    await expectUnchanged(bench.store, jobId, async () => {
      expect(await sweep(bench.store, { reaper: failing })).toMatchObject({
        reaped: [],
        held: 1,
        holdReason: 'sweeps-failed',
      })
    })
    expect(await bench.store.listEvents(jobId)).toEqual([])
  })

  it('C9 a lease that ended before sweeps failed is taken at once', async () => {
    const bench = opened()
    const { jobId } = await startAndOutlive(bench)
    const facts = { reaperId: 'reaper-1', failingForMs: 10 * SECOND }
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({
      reaped: [{ jobId, action: 'requeued' }],
      held: 0,
    })
  })

  it('C9 a reaper whose sweeps did not fail holds nothing', async () => {
    const bench = opened()
    const { jobId } = await startAndOutlive(bench)
    const facts = { reaperId: 'reaper-1', failingForMs: 0 }
    const { reaped, held, holdReason } = await sweep(bench.store, { reaper: facts })
    expect(reaped).toMatchObject([{ jobId, action: 'requeued' }])
    expect({ held, holdReason }).toEqual({ held: 0, holdReason: null })
  })

  it('C9 a manual sweep is never held', async () => {
    const bench = opened()
    const { jobId } = await startAndOutlive(bench)
    await sweep(bench.store, { reaper: failing })
    expect(await sweep(bench.store)).toMatchObject({
      reaped: [{ jobId, action: 'requeued' }],
      held: 0,
      holdReason: null,
    })
  })

  it('C9 all reapers honour the hold of one', async () => {
    const bench = opened()
    await startAndOutlive(bench)
    await sweep(bench.store, { reaper: failing })
    expect(await sweep(bench.store, { reaper: { reaperId: 'reaper-2' } })).toMatchObject({
      reaped: [],
      held: 1,
      holdReason: 'sweeps-failed',
    })
  })

  it('C9 a reaper that saw less of the outage does not release the hold of another', async () => {
    const bench = opened()
    await startAndOutlive(bench)
    await sweep(bench.store, { reaper: failing })
    const late = { reaperId: 'reaper-2', failingForMs: 10 * SECOND }
    expect(await sweep(bench.store, { reaper: late })).toMatchObject({ reaped: [], held: 1 })
  })
}

function describeHoldEnd(opened: () => TestBench): void {
  it('C9 a worker that comes back within the hold keeps its job', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const claimed = await startAndOutlive(bench)
    await sweep(store, { reaper: failing })
    await elapse(30 * SECOND)
    expect(await beat(store, claimed)).toBe('kept')
    await elapse(40 * SECOND)
    expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).reaped).toEqual([])
    expect((await readJob(store, claimed.jobId)).status).toBe('running')
  })

  it('C9 after one lease the hold ends and the job is reaped', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const { jobId } = await startAndOutlive(bench)
    await sweep(store, { reaper: failing })
    await elapse(50 * SECOND)
    expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).held).toBe(1)
    await elapse(11 * SECOND)
    expect(await sweep(store, { reaper: { reaperId: 'reaper-1' } })).toMatchObject({
      reaped: [{ jobId, action: 'requeued' }],
      held: 0,
      holdReason: null,
    })
  })

  it('C9 the job of a worker that came back and then vanished is reaped as usual', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy({ ...policy, defaultLeaseMs: HOUR })
    const claimed = await startOne(store, {}, { leaseMs: MINUTE })
    await elapse(90 * SECOND)
    expect((await sweep(store, { reaper: failing })).held).toBe(1)
    await elapse(SECOND)
    await store.heartbeatJobs([leaseOf(claimed)], { leaseMs: MINUTE })
    await elapse(61 * SECOND)
    expect(await sweep(store, { reaper: { reaperId: 'reaper-1' } })).toMatchObject({
      reaped: [{ jobId: claimed.jobId, action: 'requeued' }],
      held: 0,
    })
  })

  it('C9 each job is held for the lease of its own stage', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy({ ...policy, stageLeasesMs: { 'long-hold': 10 * MINUTE } })
    const short = await startOne(store, {}, { leaseMs: MINUTE })
    const long = await startOne(store, { stage: 'long-hold' }, { leaseMs: MINUTE })
    await elapse(90 * SECOND)
    expect((await sweep(store, { reaper: failing })).held).toBe(2)
    await elapse(2 * MINUTE)
    const { reaped, held } = await sweep(store, { reaper: { reaperId: 'reaper-1' } })
    expect(reaped).toMatchObject([{ jobId: short.jobId }])
    expect(held).toBe(1)
    expect((await readJob(store, long.jobId)).status).toBe('running')
  })

  it('C9 health shows the hold while it lasts', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await startAndOutlive(bench)
    await sweep(store, { reaper: failing })
    expect((await store.readHealth()).holdReason).toBe('sweeps-failed')
    await elapse(61 * SECOND)
    expect((await store.readHealth()).holdReason).toBeNull()
  })
}

function describeSteppedClock(opened: () => TestBench): void {
  it('C9 leases that ended in a step of the clock are held', async () => {
    const bench = opened()
    await startAndOutlive(bench)
    const facts = await factsOf(bench.store, 2 * MINUTE, MINUTE)
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({
      reaped: [],
      held: 1,
      holdReason: 'clock-stepped',
    })
  })

  it('C9 a clock in step with the reaper’s own holds nothing, however long ago it swept', async () => {
    const bench = opened()
    const { jobId } = await startAndOutlive(bench)
    const facts = await factsOf(bench.store, HOUR, HOUR)
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({ reaped: [{ jobId }], held: 0 })
  })

  it('C9 leases that ended in a step of more than half the shortest lease are held', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...policy, defaultLeaseMs: 6 * SECOND })
    await startOne(store)
    await elapse(8 * SECOND)
    const facts = await factsOf(store, 8 * SECOND, 4 * SECOND)
    expect(await sweep(store, { reaper: facts })).toMatchObject({ held: 1, holdReason: 'clock-stepped' })
  })

  it('C9 leases that ended in a shorter step are taken: it ends none that is renewed in time', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...policy, defaultLeaseMs: 6 * SECOND })
    await startOne(store)
    await elapse(8 * SECOND)
    const facts = await factsOf(store, 8 * SECOND, 5.5 * SECOND)
    expect(await sweep(store, { reaper: facts })).toMatchObject({ held: 0, reaped: [{}] })
  })

  it('C9 leases that ended in a step while sweeps failed are held', async () => {
    const bench = opened()
    await startAndOutlive(bench)
    const facts = await factsOf(bench.store, 50 * SECOND, 20 * SECOND)
    expect(await sweep(bench.store, { reaper: { ...facts, failingForMs: 20 * SECOND } })).toMatchObject({
      reaped: [],
      held: 1,
    })
  })

  it('C9 an outage from before the clock was set back prolongs no later hold', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await startAndOutlive(bench)
    expect((await sweep(store, { reaper: failing })).held).toBe(1)
    await elapse(-HOUR)
    const { jobId } = await startOne(store)
    await elapse(90 * SECOND)
    expect(await sweep(store, { reaper: failing })).toMatchObject({ reaped: [], held: 1 })
    await elapse(61 * SECOND)
    const after = await sweep(store, { reaper: { reaperId: 'reaper-1' } })
    expect(after).toMatchObject({ reaped: [{ jobId }], held: 0 })
  })

  it('C9 an outage that had begun before the time to which the clock was set back ends then', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await startAndOutlive(bench)
    expect((await sweep(store, { reaper: { ...failing, failingForMs: 3 * MINUTE } })).held).toBe(1)
    await elapse(-10 * SECOND)
    expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).held).toBe(1)
    await elapse(61 * SECOND)
    expect(await sweep(store, { reaper: { reaperId: 'reaper-1' } })).toMatchObject({ held: 0 })
  })

  it('C9 a lease that ended before the step is taken at once', async () => {
    const bench = opened()
    const { jobId } = await startAndOutlive(bench)
    const facts = await factsOf(bench.store, 2 * MINUTE, 110 * SECOND)
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({ reaped: [{ jobId }], held: 0 })
  })
}

function describePulse(opened: () => TestBench): void {
  it('C11 a reaper’s sweep records its heartbeat, a manual sweep does not', async () => {
    const { store, elapse } = opened()
    await sweep(store)
    expect((await store.readHealth()).reaperAgeMs).toBeNull()
    await sweep(store, { reaper: { reaperId: 'reaper-1' } })
    await elapse(10 * MINUTE)
    await sweep(store)
    expectAbout((await store.readHealth()).reaperAgeMs, 10 * MINUTE)
  })
}
