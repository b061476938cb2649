// Several reapers and several outages: whose report counts, and what is still held after the second (C9).
import { describe, expect, it } from 'vitest'
import type { JobStore } from '../../job-store.ts'
import { beat, MINUTE, SECOND, startMany, startOne, sweep } from '../builders.ts'
import type { TestBench } from '../harness.ts'
import { factsOf, failing, policy, startAndOutlive } from './holds.ts'
import { startMass, workers } from './mass-expiry.ts'

export function describeOutages(opened: () => TestBench): void {
  describe('outages as several reapers see them', () => {
    describeOwnNetwork(opened)
    describeNobodyElse(opened)
    describeSecondOutage(opened)
    describeSeenTwice(opened)
    describeManyOutages(opened)
  })
}

const failingBriefly = { ...failing, failingForMs: 20 * SECOND }

/** A regular sweep of another reaper, which connects over the network and knows its own past. */
async function sweepAsAnother(store: JobStore) {
  const facts = await factsOf(store, SECOND, SECOND)
  return sweep(store, { reaper: { ...facts, reaperId: 'reaper-2' } })
}

/** A one-minute lease that expired five seconds ago, with another reaper's sweep this long before. */
async function startAndReach(bench: TestBench, beforeEndMs: number) {
  await bench.store.writePolicy(policy)
  const claimed = await startOne(bench.store)
  await bench.elapse(MINUTE - beforeEndMs)
  await sweepAsAnother(bench.store)
  await bench.elapse(beforeEndMs + 5 * SECOND)
  return claimed
}

function describeOwnNetwork(opened: () => TestBench): void {
  it('C9 a reaper whose sweeps failed while another got through holds nothing', async () => {
    const bench = opened()
    const { jobId } = await startAndReach(bench, 20 * SECOND)
    expect(await sweep(bench.store, { reaper: failing })).toMatchObject({
      reaped: [{ jobId, action: 'requeued' }],
      held: 0,
      holdReason: null,
    })
    expect((await bench.store.readHealth()).holdReason).toBeNull()
  })

  it('C9 a reaper with a flaky network of its own prolongs no hold', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const { jobId } = await startAndOutlive(bench)
    expect((await sweep(store, { reaper: failing })).held).toBe(1)
    for (let count = 0; count < 2; count++) {
      await elapse(20 * SECOND)
      await sweepAsAnother(store)
      await elapse(5 * SECOND)
      expect((await sweep(store, { reaper: failingBriefly })).held).toBe(1)
    }
    await elapse(11 * SECOND)
    expect(await sweepAsAnother(store)).toMatchObject({ reaped: [{ jobId, action: 'requeued' }], held: 0 })
  })
}

function describeNobodyElse(opened: () => TestBench): void {
  it('C9 if no reaper got through for over half a lease, leases that ended since the last one are held', async () => {
    const bench = opened()
    await startAndReach(bench, 40 * SECOND)
    expect(await sweep(bench.store, { reaper: failing })).toMatchObject({
      reaped: [],
      held: 1,
      holdReason: 'sweeps-failed',
    })
  })

  it('C9 the first sweep of another reaper does not prove that the database was reachable', async () => {
    const bench = opened()
    await bench.store.writePolicy(policy)
    await startOne(bench.store)
    await bench.elapse(50 * SECOND)
    await sweep(bench.store, { reaper: { reaperId: 'reaper-2' } })
    await bench.elapse(15 * SECOND)
    expect(await sweep(bench.store, { reaper: failing })).toMatchObject({ reaped: [], held: 1 })
  })
}

function describeSecondOutage(opened: () => TestBench): void {
  it('C9 a second outage within the hold of the first holds leases that ended in either, for one lease', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const { jobId } = await startAndOutlive(bench)
    expect((await sweep(store, { reaper: failing })).held).toBe(1)
    await elapse(70 * SECOND)
    expect(await sweep(store, { reaper: failingBriefly })).toMatchObject({ reaped: [], held: 1 })
    await elapse(50 * SECOND)
    expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).held).toBe(1)
    await elapse(11 * SECOND)
    expect(await sweep(store, { reaper: { reaperId: 'reaper-1' } })).toMatchObject({
      reaped: [{ jobId, action: 'requeued' }],
      held: 0,
    })
  })

  it('C9 a second outage after the hold of the first holds nothing of the first', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const { jobId } = await startAndOutlive(bench)
    await sweep(store, { reaper: failing })
    await elapse(90 * SECOND)
    expect(await sweep(store, { reaper: failingBriefly })).toMatchObject({
      reaped: [{ jobId, action: 'requeued' }],
      held: 0,
    })
  })

  it('C9 a sweep that began before another found an outage does not erase it', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(policy)
    await startMany(store, 2, { leaseMs: SECOND })
    await elapse(MINUTE)
    const early = { reaper: { reaperId: 'reaper-2' }, limit: 1 }
    let { next } = await store.sweepJobs(early)
    await sweep(store, { reaper: failing })
    while (next !== null) next = (await store.sweepJobs({ ...early, cursor: next })).next
    expect((await store.readHealth()).holdReason).toBe('sweeps-failed')
  })
}

function describeSeenTwice(opened: () => TestBench): void {
  it('C9 a mass expiry is held for one lease after the first reaper saw it, whoever sees it later', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const facts = await startMass(bench, { workers, each: 4 })
    expect(await sweep(store, { reaper: facts })).toMatchObject({ held: 12, holdReason: 'mass-expiry' })
    await elapse(40 * SECOND)
    const paused = { ...(await factsOf(store, 2 * MINUTE, 2 * MINUTE)), reaperId: 'reaper-3' }
    expect((await sweep(store, { reaper: paused })).held).toBe(12)
    await elapse(21 * SECOND)
    expect((await sweepAsAnother(store)).reaped).toHaveLength(12)
  })

  it('C9 a step of the clock that another reaper has seen prolongs no hold', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const { jobId } = await startAndOutlive(bench)
    const facts = await factsOf(store, 2 * MINUTE, MINUTE)
    expect((await sweep(store, { reaper: facts })).held).toBe(1)
    await elapse(30 * SECOND)
    const late = { ...(await factsOf(store, 150 * SECOND, 90 * SECOND)), reaperId: 'reaper-2' }
    expect((await sweep(store, { reaper: late })).held).toBe(1)
    await elapse(31 * SECOND)
    expect(await sweepAsAnother(store)).toMatchObject({ reaped: [{ jobId }], held: 0 })
  })
}

function describeManyOutages(opened: () => TestBench): void {
  const interrupted = { reaperId: 'reaper-1', failingForMs: 10 * SECOND }

  it('C9 repeated outages prolong a hold until the database was reachable for one lease in all', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const { jobId } = await startAndOutlive(bench)
    expect((await sweep(store, { reaper: failing })).held).toBe(1)
    for (const thereForMs of [20 * SECOND, 20 * SECOND, 15 * SECOND]) {
      await elapse(thereForMs + interrupted.failingForMs)
      expect(await sweep(store, { reaper: interrupted })).toMatchObject({ reaped: [], held: 1 })
    }
    await elapse(10 * SECOND + interrupted.failingForMs)
    expect(await sweep(store, { reaper: interrupted })).toMatchObject({ reaped: [{ jobId }], held: 0 })
  })

  it('C9 leases that ended in a later outage are still held when the first is forgotten', async () => {
    const bench = opened()
    const { store, elapse } = bench
    const first = await startAndOutlive(bench)
    await sweep(store, { reaper: failing })
    await elapse(5 * SECOND)
    const second = await startOne(store)
    await elapse(45 * SECOND)
    await sweep(store, { reaper: { ...failing, failingForMs: SECOND } })
    await elapse(25 * SECOND)
    const { reaped, held } = await sweep(store, { reaper: { ...failing, failingForMs: 13 * SECOND } })
    expect(reaped).toMatchObject([{ jobId: first.jobId }])
    expect(held).toBe(1)
    expect(await beat(store, second)).toBe('kept')
  })
}
