// Complete, fail and release against a reap of the same job: one of them wins, the other says that it did not.
import { describe, expect, it } from 'vitest'
import type { JobStatus } from '../../../src/job/job.ts'
import type { Lease } from '../../../src/job/lease.ts'
import {
  beat,
  claimOne,
  complete,
  eventsOf,
  expectUnchanged,
  fail,
  MINUTE,
  readJob,
  release,
  startMany,
  startOne,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { buildGates, closeGate } from '../gate.ts'
import { raceBench } from '../race-bench.ts'

interface Verb {
  name: string
  finish: (store: JobStore, lease: Lease) => Promise<string>
  outcome: string
  status: JobStatus
}

const verbs: Verb[] = [
  { name: 'complete', finish: complete, outcome: 'completed', status: 'succeeded' },
  {
    name: 'fail',
    finish: async (store, lease) => (await fail(store, lease)).outcome,
    outcome: 'retried',
    status: 'waiting',
  },
  { name: 'release', finish: release, outcome: 'released', status: 'waiting' },
]

const opened = raceBench({ setUp: buildGates })

describe.each(verbs)('$name and a reap of one job', ({ finish, outcome, status }) => {
  it('REAP-4, LEASE-5 the reaper skips a job that is being finished, and finds nothing to take after it', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await worker.begin()
    expect(await finish(worker.store, lease)).toBe(outcome)
    expect((await sweep(reaper.store)).reaped).toEqual([])
    await worker.commit()

    expect((await sweep(reaper.store)).reaped).toEqual([])
    expect(await readJob(store, lease.jobId)).toMatchObject({
      status,
      finishedLeaseId: lease.leaseId,
      crashes: 0,
    })
    expect(await eventsOf(store, lease.jobId, 'reaper:requeued')).toEqual([])
  })

  it('REAP-1, REAP-4 a finish that is rolled back leaves the job to the reaper', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await worker.begin()
    expect(await finish(worker.store, lease)).toBe(outcome)
    await worker.rollback()

    expect((await sweep(reaper.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'requeued' }])
    await expectUnchanged(store, lease.jobId, async () => {
      expect(await finish(worker.store, lease)).toBe('lease-lost')
    })
  })

  it('LEASE-5 a finish that comes during a reap waits for it, changes nothing and answers lease-lost', async () => {
    const { store, elapse, connect, startBlocked } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'requeued' }])
    const late = await startBlocked(worker, reaper, () => finish(worker.store, lease))
    await reaper.commit()

    expect(await late.answer).toBe('lease-lost')
    expect(await readJob(store, lease.jobId)).toMatchObject({
      status: 'waiting',
      finishedLeaseId: null,
      finishedAt: null,
      failures: 0,
      releases: 0,
      crashes: 1,
      attempt: 1,
    })
    expect((await store.listEvents(lease.jobId)).map(({ type }) => type)).toEqual(['reaper:requeued'])
  })

  it('LEASE-5, REAP-4 a finish that waited for a reap which is rolled back is accepted', async () => {
    const { store, elapse, connect, startBlocked } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toHaveLength(1)
    const late = await startBlocked(worker, reaper, () => finish(worker.store, lease))
    await reaper.rollback()

    expect(await late.answer).toBe(outcome)
    expect(await readJob(store, lease.jobId)).toMatchObject({
      status,
      finishedLeaseId: lease.leaseId,
      crashes: 0,
    })
    expect((await sweep(reaper.store)).reaped).toEqual([])
  })

  it('REAP-3, REAP-4 a job that is finished after the snapshot of a reap and before its lock is not reaped', async () => {
    const { store, elapse, connect, pool } = opened()
    const [worker, reaper, keeper] = [await connect(), await connect(), await connect()]
    const [first, second] = await startMany(store, 2)
    if (first === undefined || second === undefined) throw new Error('there are no jobs')
    await elapse(2 * MINUTE)

    const gate = await closeGate(pool, keeper, reaper, 'is_held')
    const reap = await gate.arrive(() => sweep(reaper.store))
    expect(await finish(worker.store, second)).toBe(outcome)
    await gate.open()

    expect((await reap.answer).reaped.map(({ jobId }) => jobId)).toEqual([first.jobId])
    expect(await readJob(store, second.jobId)).toMatchObject({
      status,
      finishedLeaseId: second.leaseId,
      crashes: 0,
    })
    expect(await eventsOf(store, second.jobId, 'reaper:requeued')).toEqual([])
  })

  it('LEASE-5 a stale finish neither waits for the new holder, who has the row locked, nor touches it', async () => {
    const { store, elapse, connect } = opened()
    const [worker, other] = [await connect(), await connect()]
    const stale = await startOne(store)
    await elapse(2 * MINUTE)
    await sweep(store)
    const current = await claimOne(store, { workerId: 'worker-2' })
    expect(current).toMatchObject({ jobId: stale.jobId, isRescue: true })

    await other.begin()
    expect(await beat(other.store, current)).toBe('kept')
    await expectUnchanged(other.store, stale.jobId, async () => {
      expect(await finish(worker.store, stale)).toBe('lease-lost')
    })
    await other.commit()

    await expectUnchanged(store, stale.jobId, async () => {
      expect(await finish(worker.store, stale)).toBe('lease-lost')
    })
  })
})
