// Several reapers and several outages: whose word counts, and what is still held after the second (C9).
import { describe, expect, it } from 'vitest'
import type { JobStore } from '../job-store.ts'
import { factsOf, failing, policy, startAndOutlive } from './brakes.ts'
import { MINUTE, SECOND, startMany, startOne, sweep } from './builders.ts'
import type { TestBench } from './harness.ts'

export function describeOutages(opened: () => TestBench): void {
  describe('outages as several reapers see them', () => {
    describeOwnNetwork(opened)
    describeNobodyElse(opened)
    describeSecondOutage(opened)
  })
}

const failingBriefly = { ...failing, failingForMs: 20 * SECOND }

/** A regular sweep of another reaper, which comes over the network and knows its own past. */
async function sweepAsAnother(store: JobStore) {
  const facts = await factsOf(store, SECOND, SECOND)
  return sweep(store, { reaper: { ...facts, reaperId: 'reaper-2' } })
}

/** A lease of a minute that ended five seconds ago, with another reaper's sweep this long before its end. */
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

  it('C9 a reaper whose own network fails again and again prolongs no hold', async () => {
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
  it('C9 where nobody got through for over half a lease, what ended since the last who did is held', async () => {
    const bench = opened()
    await startAndReach(bench, 40 * SECOND)
    expect(await sweep(bench.store, { reaper: failing })).toMatchObject({
      reaped: [],
      held: 1,
      holdReason: 'sweeps-failed',
    })
  })

  it('C9 the first sweep of another reaper is no sign that the database was there', async () => {
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
  it('C9 a second outage within the hold of the first holds what ended in either, for one lease', async () => {
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

  it('C9 a sweep that began before another found an outage does not make it forgotten', async () => {
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
