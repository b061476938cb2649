// All workers silent at once look like an outage that no reaper saw; one silent worker is a dead one (C26).
import { describe, expect, it } from 'vitest'
import type { JobStore, ReaperFacts } from '../../job-store.ts'
import { HOUR, leaseOf, MINUTE, SECOND, startMany, startOne, storeNow, sweep, TYPE } from '../builders.ts'
import type { TestBench } from '../harness.ts'
import { factsOf, policy } from './holds.ts'

export const workers = ['worker-1', 'worker-2', 'worker-3']

/** This many jobs for each of these workers. */
async function startOfEach(store: JobStore, workerIds: string[], count: number, request = {}): Promise<void> {
  for (const workerId of workerIds) await startMany(store, count, { workerId, ...request })
}

/** One-minute leases that expired half a minute ago, this many per worker, and some valid ones. */
export async function startMass(
  bench: TestBench,
  over: { workers: string[]; each: number },
  valid: { workers: string[]; each: number } = { workers: [], each: 0 },
): Promise<ReaperFacts> {
  await bench.store.writePolicy(policy)
  await startOfEach(bench.store, over.workers, over.each)
  await startOfEach(bench.store, valid.workers, valid.each, { leaseMs: HOUR })
  await bench.elapse(90 * SECOND)
  return factsOf(bench.store, MINUTE, MINUTE)
}

export function describeMassExpiry(opened: () => TestBench): void {
  describe('workers that fall silent at once', () => {
    describeDeaths(opened)
    describeMasses(opened)
    describeUnnamedRows(opened)
    describeStandBy(opened)
  })
}

function describeStandBy(opened: () => TestBench): void {
  it('REAP-16 a sweep that was long on its way, which looks like a step of the clock, takes none of them either', async () => {
    const bench = opened()
    await startMass(bench, { workers, each: 2 })
    const facts = await factsOf(bench.store, MINUTE, 50 * SECOND)
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({ reaped: [], held: 6 })
  })

  it('REAP-16 a reaper that left the sweeps to another one counts from the last one made', async () => {
    const bench = opened()
    await bench.store.writePolicy(policy)
    await sweep(bench.store, { reaper: { reaperId: 'gone' } })
    await startOfEach(bench.store, workers, 2)
    await bench.elapse(90 * SECOND)
    // Its worker has just reported, half a minute after the leases ended.
    const facts = await factsOf(bench.store, SECOND, SECOND)
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({ held: 6, holdReason: 'mass-expiry' })
  })
}

function describeDeaths(opened: () => TestBench): void {
  it.each([9, 10, 100])('REAP-16 the %d jobs of one worker are taken back at once', async (each) => {
    const bench = opened()
    const facts = await startMass(bench, { workers: ['worker-1'], each })
    const { reaped, held } = await sweep(bench.store, { reaper: facts })
    expect(reaped).toHaveLength(each)
    expect(held).toBe(0)
  })

  it('REAP-16 the jobs of most workers are reaped at once while another one still sends heartbeats', async () => {
    const bench = opened()
    await bench.store.writePolicy(policy)
    const [alive] = await startMany(bench.store, 1, { workerId: 'worker-4' })
    await startOfEach(bench.store, workers, 6)
    for (const ms of [30 * SECOND, 30 * SECOND]) {
      await bench.elapse(ms)
      if (alive !== undefined) await bench.store.heartbeatJobs([leaseOf(alive)])
    }
    await bench.elapse(15 * SECOND)
    const facts = await factsOf(bench.store, MINUTE, MINUTE)
    const { reaped, held } = await sweep(bench.store, { reaper: facts })
    expect(reaped).toHaveLength(18)
    expect(held).toBe(0)
  })

  it('REAP-16 a claim is a sign of life too', async () => {
    const bench = opened()
    const facts = await startMass(bench, { workers, each: 4 })
    await startMany(bench.store, 1, { workerId: 'worker-4' })
    expect((await sweep(bench.store, { reaper: facts })).reaped).toHaveLength(12)
  })

  it('REAP-16 jobs past their deadline do not make their workers silent', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy({ ...policy, stageDeadlinesMs: { [TYPE]: 90 * SECOND } })
    const leases = []
    for (const workerId of workers) leases.push(...(await startMany(store, 1, { workerId })))
    for (const ms of [40 * SECOND, 40 * SECOND]) {
      await elapse(ms)
      await store.heartbeatJobs(leases.map(leaseOf))
    }
    await elapse(20 * SECOND)
    const { reaped, held } = await sweep(store, { reaper: await factsOf(store, MINUTE, MINUTE) })
    expect(reaped.map(({ reason }) => reason)).toEqual(workers.map(() => 'deadline_exceeded'))
    expect(held).toBe(0)
  })

  it('C9 leases that ended before the last sweep are no mass expiry', async () => {
    const bench = opened()
    await bench.store.writePolicy(policy)
    await startOfEach(bench.store, workers, 4, { leaseMs: 20 * SECOND })
    await startOne(bench.store)
    await bench.elapse(90 * SECOND)
    const facts = await factsOf(bench.store, 40 * SECOND, 40 * SECOND)
    const { reaped, held } = await sweep(bench.store, { reaper: facts })
    expect(reaped).toHaveLength(13)
    expect(held).toBe(0)
  })

  it('REAP-6 C9 a mass expiry does not hold the first sweep of a reaper', async () => {
    const bench = opened()
    await startMass(bench, { workers, each: 4 })
    const { reaped, held } = await sweep(bench.store, { reaper: { reaperId: 'reaper-1' } })
    expect(reaped).toHaveLength(12)
    expect(held).toBe(0)
  })
}

function describeMasses(opened: () => TestBench): void {
  it('REAP-16 two workers with a job each, both silent, are held', async () => {
    const bench = opened()
    const facts = await startMass(bench, { workers: ['worker-1', 'worker-2'], each: 1 })
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({
      reaped: [],
      held: 2,
      holdReason: 'mass-expiry',
    })
  })

  it('REAP-16 a lease that is still valid is no sign of life', async () => {
    const bench = opened()
    const facts = await startMass(bench, { workers, each: 2 }, { workers: ['worker-4', 'worker-5'], each: 4 })
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({
      reaped: [],
      held: 6,
      holdReason: 'mass-expiry',
    })
  })

  it('C9 a mass expiry that nobody renews is reaped after the hold', async () => {
    const bench = opened()
    const facts = await startMass(bench, { workers, each: 4 })
    expect((await sweep(bench.store, { reaper: facts })).held).toBe(12)
    await bench.elapse(61 * SECOND)
    const later = await factsOf(bench.store, 61 * SECOND, 61 * SECOND)
    expect((await sweep(bench.store, { reaper: later })).reaped).toHaveLength(12)
  })
}

/** Rows without a worker, from before leases. */
function describeUnnamedRows(opened: () => TestBench): void {
  async function plantUnnamed({ store, plantJob }: TestBench): Promise<void> {
    await store.writePolicy({ ...policy, legacyAgeRule: true, legacyAgeStages: 'all' })
    const seenAt = new Date((await storeNow(store)) - 90 * SECOND)
    const row = {
      type: TYPE,
      status: 'running',
      createdAt: seenAt,
      updatedAt: seenAt,
      startedAt: seenAt,
    } as const
    for (let count = 0; count < 10; count++) await plantJob({ ...row, heartbeatAt: seenAt })
  }

  it('REAP-16 rows without a worker are those of one worker', async () => {
    const bench = opened()
    await plantUnnamed(bench)
    const { reaped, held } = await sweep(bench.store, { reaper: await factsOf(bench.store, MINUTE, MINUTE) })
    expect(reaped).toHaveLength(10)
    expect(held).toBe(0)
  })

  it('REAP-16 rows without a worker are held with those of another silent one', async () => {
    const bench = opened()
    const facts = await startMass(bench, { workers: ['worker-1'], each: 1 })
    await plantUnnamed(bench)
    expect(await sweep(bench.store, { reaper: facts })).toMatchObject({ held: 11, holdReason: 'mass-expiry' })
  })
}
