// Somebody changes the status by hand and leaves the lease on the row: the lease alone then opens nothing.
import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import {
  beat,
  claimOne,
  complete,
  expectUnchanged,
  fail,
  readJob,
  release,
  startOne,
} from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { type Connection, raceBench } from '../race-bench.ts'

const opened = raceBench()

const writers: { verb: string; write: (store: JobStore, lease: Lease) => Promise<string> }[] = [
  { verb: 'complete', write: complete },
  { verb: 'fail', write: async (store, lease) => (await fail(store, lease)).outcome },
  { verb: 'release', write: release },
  { verb: 'stage', write: async (store, lease) => (await store.enterStage(lease, 'burnin')).outcome },
]
const cases = ['waiting', 'dead'].flatMap((status) => writers.map((writer) => ({ status, ...writer })))

async function setStatus(hand: Connection, jobId: string, status: string): Promise<void> {
  await hand.query('update unstuck.jobs set status = $2 where id = $1', [jobId, status])
}

describe('a status that was set by hand while the lease stayed on the row', () => {
  it.each(cases)(
    'LEASE-5 as $status: a late $verb by the holder changes nothing',
    async ({ status, write }) => {
      const { store, connect } = opened()
      const [worker, hand] = [await connect(), await connect()]
      const lease = await startOne(store)
      await setStatus(hand, lease.jobId, status)

      expect(await readJob(store, lease.jobId)).toMatchObject({ leaseId: lease.leaseId })
      await expectUnchanged(store, lease.jobId, async () => {
        expect(await write(worker.store, lease)).toBe('lease-lost')
      })
    },
  )

  it.each(cases)(
    'LEASE-5 as $status: a $verb that waited for the hand to commit changes nothing',
    async ({ status, write }) => {
      const { store, connect, startBlocked } = opened()
      const [worker, hand] = [await connect(), await connect()]
      const lease = await startOne(store)

      await hand.begin()
      await setStatus(hand, lease.jobId, status)
      const late = await startBlocked(worker, hand, () => write(worker.store, lease))
      await hand.commit()

      expect(await late.answer).toBe('lease-lost')
      expect(await readJob(store, lease.jobId)).toMatchObject({
        status,
        leaseId: lease.leaseId,
        finishedLeaseId: null,
        finishedAt: null,
      })
    },
  )

  it.each(['waiting', 'dead'])(
    'LEASE-5 as %s: progress waits for no lock, and writes nothing before the commit nor after it',
    async (status) => {
      const { store, connect } = opened()
      const [worker, hand] = [await connect(), await connect()]
      const lease = await startOne(store)
      const report = { ...lease, value: 0.5, text: null }

      await hand.begin()
      await setStatus(hand, lease.jobId, status)
      expect(await worker.store.reportProgress([report])).toEqual([false])
      await hand.commit()
      expect(await worker.store.reportProgress([report])).toEqual([false])
      expect((await readJob(store, lease.jobId)).progress).toBeNull()
    },
  )

  it.each(['waiting', 'dead'])(
    'LEASE-5 as %s: a beat answers busy before the commit and lost after it',
    async (status) => {
      const { store, connect } = opened()
      const [worker, hand] = [await connect(), await connect()]
      const lease = await startOne(store)

      await hand.begin()
      await setStatus(hand, lease.jobId, status)
      expect(await beat(worker.store, lease)).toBe('busy')
      await hand.commit()

      await expectUnchanged(store, lease.jobId, async () => {
        expect(await beat(worker.store, lease)).toBe('lost')
      })
    },
  )

  it('LEASE-1, LEASE-5 set to waiting, it is claimed with a new lease and the old one stays without effect', async () => {
    const { store, connect } = opened()
    const hand = await connect()
    const stale = await startOne(store)
    await setStatus(hand, stale.jobId, 'waiting')
    const current = await claimOne(store, { workerId: 'worker-2' })

    expect(current.jobId).toBe(stale.jobId)
    expect(current.leaseId).not.toBe(stale.leaseId)
    expect(current.fence).toBeGreaterThan(stale.fence)
    await expectUnchanged(store, stale.jobId, async () => {
      expect(await beat(store, stale)).toBe('lost')
      expect(await complete(store, stale)).toBe('lease-lost')
    })
    expect(await complete(store, current)).toBe('completed')
  })
})
