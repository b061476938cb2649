// Writers that know no leases, beside workers that have them, in each mode of a table; and sweeps that only look.
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import {
  beat,
  claimOne,
  complete,
  detailsOf,
  enqueueOne,
  expectUnchanged,
  fail,
  HOUR,
  MINUTE,
  readJob,
  release,
  startMany,
  startOne,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { whenBlocked } from '../../support/lock-wait.ts'
import { type Connection, raceBench } from '../race-bench.ts'

const opened = raceBench({ policy: { legacyAgeRule: true, legacyAgeStages: 'all' } })
const reaper = { reaperId: 'reaper-1' }

afterEach(() => opened().store.setMode('reap'))

/** Writes as an old worker does: the status, and no lease. */
async function write(hand: Connection, jobId: string, status: string): Promise<void> {
  await hand.query('update unstuck.jobs set status = $2 where id = $1', [jobId, status])
}

const foreignEvents = async (store: JobStore, jobId: string) =>
  (await store.listEvents(jobId)).filter(({ type }) => type.startsWith('foreign'))

const writers: { verb: string; end: (store: JobStore, lease: Lease) => Promise<string> }[] = [
  { verb: 'complete', end: complete },
  { verb: 'fail', end: async (store, lease) => (await fail(store, lease)).outcome },
  { verb: 'release', end: release },
]

describe('enforce, where a foreign settle is recorded', () => {
  it.each(['waiting', 'succeeded', 'dead'])(
    'OPS-7 LEASE-5 a leased job set to %s loses its lease, with an event that names the writer',
    async (status) => {
      const { store, connect } = opened()
      await store.setMode('enforce', { onForeignSettle: 'record' })
      const hand = await connect()
      await hand.query("set application_name = 'old worker 7'")
      const lease = await startOne(store)
      await write(hand, lease.jobId, status)
      expect(await readJob(store, lease.jobId)).toMatchObject({
        status,
        leaseId: null,
        leaseExpiresAt: null,
        deadlineAt: null,
        workerId: null,
        fence: lease.fence,
      })
      expect(await detailsOf(store, lease.jobId, 'foreign_settle')).toMatchObject({
        from: 'running',
        to: status,
        application_name: 'old worker 7',
        locked_by: 'worker-1',
        lease_id: lease.leaseId,
        fence: lease.fence,
        attempt: 1,
      })
    },
  )

  it.each(writers)(
    'OPS-7 LEASE-5 a late $verb of the holder, and its beat, find the lease lost',
    async ({ end }) => {
      const { store, connect } = opened()
      await store.setMode('enforce')
      const lease = await startOne(store)
      await write(await connect(), lease.jobId, 'succeeded')
      await expectUnchanged(store, lease.jobId, async () => {
        expect(await beat(store, lease)).toBe('lost')
        expect(await end(store, lease)).toBe('lease-lost')
      })
    },
  )

  it('OPS-7 LEASE-5 a completion that waited for the old worker to commit finds the lease lost', async () => {
    const { store, connect, startBlocked } = opened()
    await store.setMode('enforce')
    const [worker, old] = [await connect(), await connect()]
    const lease = await startOne(store)
    await old.begin()
    await write(old, lease.jobId, 'succeeded')
    const late = await startBlocked(worker, old, () => complete(worker.store, lease))
    await old.commit()
    expect(await late.answer).toBe('lease-lost')
    expect(await foreignEvents(store, lease.jobId)).toHaveLength(1)
  })

  it('OPS-7 a foreign settle that is rolled back leaves the lease and no event', async () => {
    const { store, connect } = opened()
    await store.setMode('enforce')
    const old = await connect()
    const lease = await startOne(store)
    await old.begin()
    await write(old, lease.jobId, 'succeeded')
    await old.rollback()
    expect(await foreignEvents(store, lease.jobId)).toEqual([])
    expect(await complete(store, lease)).toBe('completed')
  })

  it('OPS-7 C20 the writer needs no right on anything of ours', async () => {
    const { store, connect, pool } = opened()
    await store.setMode('enforce')
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    await pool.query(`create role ${role}; grant usage on schema unstuck to ${role};
      grant select (id, status), update (status) on unstuck.jobs to ${role}`)
    try {
      const old = await connect()
      const lease = await startOne(store)
      await old.query(`set role ${role}`)
      await write(old, lease.jobId, 'succeeded')
      await old.query('reset role')
      expect(await foreignEvents(store, lease.jobId)).toHaveLength(1)
      await expect(
        old.query(`set role ${role}; create temp table own (id int); create trigger t before update on own
          for each row execute function unstuck.fence_writer()`),
      ).rejects.toMatchObject({ code: '42501' })
    } finally {
      await pool.query(`drop owned by ${role}; drop role ${role}`)
    }
  })
})

describe('enforce, where a foreign settle is refused', () => {
  it.each(['waiting', 'succeeded', 'dead'])(
    'OPS-7 LEASE-5 a leased job is not set to %s, and its holder completes it',
    async (status) => {
      const { store, connect } = opened()
      await store.setMode('enforce', { onForeignSettle: 'refuse' })
      const old = await connect()
      const lease = await startOne(store)
      await expectUnchanged(store, lease.jobId, async () => {
        await expect(write(old, lease.jobId, status)).rejects.toMatchObject({
          code: 'UN004',
          message: `job ${lease.jobId} is leased to worker-1: without that lease its status cannot go from running to ${status}`,
          hint: expect.stringContaining('--on-foreign-settle record'),
        })
      })
      expect(await foreignEvents(store, lease.jobId)).toEqual([])
      expect(await complete(store, lease)).toBe('completed')
    },
  )

  it('OPS-7 LEASE-5 an old worker that waited for our completion ends nothing', async () => {
    const { store, connect, startBlocked } = opened()
    await store.setMode('enforce', { onForeignSettle: 'refuse' })
    const [worker, old] = [await connect(), await connect()]
    const lease = await startOne(store)
    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    const late = await startBlocked(old, worker, () =>
      old.query("update unstuck.jobs set status = 'dead' where id = $1 and status = 'running' returning id", [
        lease.jobId,
      ]),
    )
    await worker.commit()
    expect(await late.answer).toEqual([])
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'succeeded' })
  })

  it('OPS-7 what an old worker claimed it may end', async () => {
    const { store, connect } = opened()
    await store.setMode('enforce', { onForeignSettle: 'refuse' })
    const old = await connect()
    const jobId = await enqueueOne(store)
    await write(old, jobId, 'running')
    await write(old, jobId, 'succeeded')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'succeeded' })
    expect(await foreignEvents(store, jobId)).toEqual([])
  })

  it('OPS-7 REAP-8 an old worker whose job was requeued and leased again does not end it', async () => {
    const { store, connect, elapse } = opened()
    await store.setMode('enforce', { onForeignSettle: 'refuse' })
    const old = await connect()
    const jobId = await enqueueOne(store)
    await write(old, jobId, 'running')
    await elapse(2 * MINUTE)
    expect((await sweep(store, { reaper })).reaped).toMatchObject([{ jobId, action: 'requeued' }])
    const lease = await claimOne(store)
    await expect(write(old, jobId, 'succeeded')).rejects.toMatchObject({ code: 'UN004' })
    expect(await complete(store, lease)).toBe('completed')
  })
})

describe('a foreign claim in enforce', () => {
  it('REAP-8 gets no lease, and is judged by its age from the claim on', async () => {
    const { store, connect, elapse } = opened()
    await store.setMode('enforce')
    const jobId = await enqueueOne(store)
    await elapse(3 * HOUR)
    await write(await connect(), jobId, 'running')
    expect(await readJob(store, jobId)).toMatchObject({
      status: 'running',
      leaseId: null,
      leaseExpiresAt: null,
    })
    expect((await sweep(store, { reaper })).reaped).toEqual([])
    await elapse(2 * MINUTE)
    expect((await sweep(store, { reaper })).reaped).toMatchObject([{ jobId, action: 'requeued' }])
  })

  it('REAP-8 a time that the writer gives is not written over', async () => {
    const { store, connect, elapse } = opened()
    await store.setMode('enforce')
    const lease = await startOne(store)
    await release(store, lease)
    await elapse(3 * HOUR)
    const { heartbeatAt } = await readJob(store, lease.jobId)
    const old = await connect()
    await old.query("update unstuck.jobs set status = 'running', updated_at = now() where id = $1", [
      lease.jobId,
    ])
    expect((await readJob(store, lease.jobId)).heartbeatAt).toEqual(heartbeatAt)
    expect((await sweep(store, { reaper })).reaped).toEqual([])
  })

  it('LEASE-5 a lease that was left on the row from before opens nothing again', async () => {
    const { store, connect } = opened()
    const old = await connect()
    const lease = await startOne(store)
    await write(old, lease.jobId, 'waiting')
    expect(await readJob(store, lease.jobId)).toMatchObject({ leaseId: lease.leaseId })
    await store.setMode('enforce')
    await write(old, lease.jobId, 'running')
    expect(await detailsOf(store, lease.jobId, 'foreign_claim')).toMatchObject({ lease_id: lease.leaseId })
    await expectUnchanged(store, lease.jobId, async () => {
      expect(await beat(store, lease)).toBe('lost')
      expect(await complete(store, lease)).toBe('lease-lost')
    })
  })

  it('SEE-3 is an event if all events are on', async () => {
    const { store, connect } = opened()
    await store.setMode('enforce')
    await store.writePolicy({ events: 'all' })
    const jobId = await enqueueOne(store)
    await write(await connect(), jobId, 'running')
    expect(await detailsOf(store, jobId, 'foreign_claim')).toMatchObject({ from: 'waiting', to: 'running' })
  })
})

describe('the modes without a trigger', () => {
  it.each(['observe', 'reap'] as const)(
    'OPS-7 in %s a foreign settle passes as it always did',
    async (mode) => {
      const { store, connect } = opened()
      await store.setMode('enforce', { onForeignSettle: 'refuse' })
      const lease = await startOne(store)
      await store.setMode(mode)
      await write(await connect(), lease.jobId, 'succeeded')
      expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'succeeded', leaseId: lease.leaseId })
      expect(await foreignEvents(store, lease.jobId)).toEqual([])
      expect(await complete(store, lease)).toBe('lease-lost')
    },
  )

  it('OPS-7 in observe no sweep of a reaper writes to a job, be it from here, from SQL or in steps', async () => {
    const { store, connect, elapse, pool } = opened()
    await startMany(store, 5)
    await enqueueOne(store)
    await store.setMode('observe')
    await elapse(2 * MINUTE)
    // xmin too: a row that was written again with the same values was written all the same.
    const rows = async () =>
      (await pool.query('select xmin::text, job::text from unstuck.jobs job order by 2')).rows
    const before = await rows()
    await sweep(store, { reaper })
    await sweep(store, { reaper, limit: 2 })
    await (await connect()).query('call unstuck.run_sweep()')
    expect(await rows()).toEqual(before)
    expect(await store.readObservations()).toMatchObject({ wouldRequeue: 5, stillStuck: 5 })
  })

  it('OPS-7 many reapers at once note each lease once', async () => {
    const { store, connectMany, elapse } = opened()
    await startMany(store, 20)
    await store.setMode('observe')
    await elapse(2 * MINUTE)
    const reapers = await connectMany(4)
    const reports = await Promise.all(
      reapers.map((connection, n) => sweep(connection.store, { reaper: { reaperId: `r${n}` } })),
    )
    expect(reports.flatMap(({ reaped }) => reaped)).toHaveLength(20)
    expect(await store.readObservations()).toMatchObject({ wouldRequeue: 20 })
  })
})

describe('setting the mode of a busy table', () => {
  it('OPS-7 waits for a transaction that has written, and is done when that ends', async () => {
    const { store, connect, startBlocked } = opened()
    const [operator, old] = [await connect(), await connect()]
    const jobId = await enqueueOne(store)
    await old.begin()
    await write(old, jobId, 'running')
    const setting = await startBlocked(operator, old, () => operator.store.setMode('enforce'))
    await old.commit()
    expect(await setting.answer).toMatchObject({ mode: 'enforce' })
  })

  it('OPS-7 gives way after 2 s, so that nobody queues behind it, and changes nothing', async () => {
    const { store, connect, pool } = opened()
    const [operator, old, other] = [await connect(), await connect(), await connect()]
    const jobId = await enqueueOne(store)
    await old.begin()
    await write(old, jobId, 'running')
    await operator.query("set lock_timeout = '1h'")
    const setting = operator.query("select unstuck.set_mode('enforce')")
    setting.catch(() => {})
    await whenBlocked(pool, operator.pid)
    const queued = enqueueOne(other.store)
    await expect(setting).rejects.toMatchObject({ code: '55P03' })
    await queued
    expect(await operator.query('show lock_timeout')).toEqual([{ lock_timeout: '1h' }])
    await old.commit()
    expect(await store.readMode()).toMatchObject({ mode: 'reap' })
  })
})
