// A heartbeat and a reap that want the same row, in every order that two backends can have.
import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import {
  beat,
  claimMany,
  enqueueMany,
  eventsOf,
  expectAbout,
  leaseOf,
  MINUTE,
  msBetween,
  readJob,
  startMany,
  startOne,
  storeNow,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import type { HeartbeatReport, JobStore } from '../../../src/store/job-store.ts'
import { buildGates, closeGate } from '../gate.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench({ setUp: buildGates })

describe('a beat and a reap of one job', () => {
  it('REAP-3, REAP-4 the reaper skips a job whose beat is uncommitted, and finds a valid lease after it', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await worker.begin()
    expect(await beat(worker.store, lease)).toBe('kept')
    expect((await sweep(reaper.store)).reaped).toEqual([])
    await worker.commit()

    expect((await sweep(reaper.store)).reaped).toEqual([])
    const job = await readJob(store, lease.jobId)
    expect(job).toMatchObject({ status: 'running', leaseId: lease.leaseId, crashes: 0 })
    expectAbout(Number(job.leaseExpiresAt) - (await storeNow(store)), MINUTE)
    expect(await eventsOf(store, lease.jobId, 'reaper:requeued')).toEqual([])
  })

  it('REAP-1, REAP-4 a beat that is rolled back leaves the job to the next sweep', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await worker.begin()
    expect(await beat(worker.store, lease)).toBe('kept')
    expect((await sweep(reaper.store)).reaped).toEqual([])
    await worker.rollback()

    expect((await sweep(reaper.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'requeued' }])
    expect(await beat(worker.store, lease)).toBe('lost')
  })

  it('LEASE-5 a beat that meets an uncommitted reap answers busy, and lost once it has committed', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'requeued' }])
    expect(await beat(worker.store, lease)).toBe('busy')
    await reaper.commit()

    expect(await beat(worker.store, lease)).toBe('lost')
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'waiting', leaseId: null, crashes: 1 })
    expect(await eventsOf(store, lease.jobId, 'reaper:requeued')).toHaveLength(1)
  })

  it('LEASE-4, REAP-4 a reap that is rolled back leaves the lease to its holder, and no event', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toHaveLength(1)
    expect(await beat(worker.store, lease)).toBe('busy')
    await reaper.rollback()

    expect(await beat(worker.store, lease)).toBe('kept')
    const job = await readJob(store, lease.jobId)
    expect(job).toMatchObject({ status: 'running', leaseId: lease.leaseId, crashes: 0 })
    expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), MINUTE)
    expect(await eventsOf(store, lease.jobId, 'reaper:requeued')).toEqual([])
  })
})

describe('a beat inside the window of a reap', () => {
  it('REAP-3, REAP-4 a job whose beat commits after the snapshot of a reap and before its lock is not reaped', async () => {
    const { store, elapse, connect, pool } = opened()
    const [worker, reaper, keeper] = [await connect(), await connect(), await connect()]
    const [first, second, third] = await startMany(store, 3)
    if (first === undefined || second === undefined || third === undefined) throw new Error('no jobs')
    await elapse(2 * MINUTE)

    const gate = await closeGate(pool, keeper, reaper, 'is_held')
    const reap = await gate.arrive(() => sweep(reaper.store))
    expect(await beat(worker.store, second)).toBe('kept')
    await gate.open()

    const { reaped } = await reap.answer
    expect(reaped.map(({ jobId }) => jobId).toSorted()).toEqual([first.jobId, third.jobId])
    expect(await readJob(store, second.jobId)).toMatchObject({
      status: 'running',
      leaseId: second.leaseId,
      crashes: 0,
    })
    expect(await eventsOf(store, second.jobId, 'reaper:requeued')).toEqual([])
    expect(await beat(worker.store, second)).toBe('kept')
  })

  it('LEASE-5, REAP-3 over 60 rounds every job is either kept by its worker or reaped, never both', async () => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    await store.writePolicy({ maxCrashes: 1000 })
    await enqueueMany(store, 20)
    const leases = new Map<string, Lease>()
    for (let round = 0; round < 60; round++) {
      for (const claimed of await claimMany(store)) leases.set(claimed.jobId, leaseOf(claimed))
      expect(leases.size).toBe(20)
      await elapse(2 * MINUTE)

      const [{ reaped }, answers] = await Promise.all([
        sweep(reaper.store, { limit: 5 }),
        beatInBatches(worker.store, [...leases.values()].toReversed()),
      ])

      const kept = answers.filter(({ answer }) => answer === 'kept').map(({ jobId }) => jobId)
      const taken = reaped.map(({ jobId }) => jobId)
      expect([...kept, ...taken].toSorted(), `round ${round}`).toEqual([...leases.keys()].toSorted())
      for (const jobId of taken) leases.delete(jobId)
    }
  })
})

async function beatInBatches(store: JobStore, leases: Lease[]): Promise<HeartbeatReport['answers']> {
  const answers: HeartbeatReport['answers'] = []
  for (let start = 0; start < leases.length; start += 5) {
    answers.push(...(await store.heartbeatJobs(leases.slice(start, start + 5))).answers)
  }
  return answers
}
