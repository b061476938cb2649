// A complete that shares the transaction of the user's own writes, in every isolation level: both or neither (WORK-5).
import type pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import {
  beat,
  complete,
  leaseOf,
  MINUTE,
  readJob,
  startMany,
  startOne,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import { type Connection, type IsolationLevel, isolationLevels, raceBench } from '../race-bench.ts'

const opened = raceBench({
  setUp: (pool) => pool.query('create table public.effects (id serial primary key, job_id uuid not null)'),
})

beforeEach(() => opened().pool.query('truncate public.effects'))

const snapshotLevels = ['repeatable read', 'serializable'] as const

/** The transaction of a user: begun, its snapshot taken, its own write done. */
async function beginWork(user: Connection, lease: Lease, isolation: IsolationLevel): Promise<void> {
  await user.begin(isolation)
  await user.query('insert into public.effects (job_id) values ($1)', [lease.jobId])
}

async function effectsOf(pool: pg.Pool, { jobId }: Lease): Promise<number> {
  const { rowCount } = await pool.query('select from public.effects where job_id = $1', [jobId])
  return rowCount ?? 0
}

const conflict = { code: 'DATABASE_CONFLICT', details: { sqlState: '40001' } }

describe.each(isolationLevels)('a complete in a transaction that is %s', (isolation) => {
  it('WORK-5 commits together with the writes before it, and is seen by nobody until then', async () => {
    const { store, connect, pool } = opened()
    const user = await connect()
    const lease = await startOne(store)

    await beginWork(user, lease, isolation)
    expect(await store.completeJobs([leaseOf(lease)], { tx: user.client })).toMatchObject([
      { outcome: 'completed' },
    ])
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'running', leaseId: lease.leaseId })
    await user.commit()

    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'succeeded', leaseId: null })
    expect(await effectsOf(pool, lease)).toBe(1)
  })

  it('WORK-5 is undone together with the writes before it, and the lease goes on', async () => {
    const { store, connect, pool } = opened()
    const user = await connect()
    const lease = await startOne(store)

    await beginWork(user, lease, isolation)
    expect(await complete(user.store, lease)).toBe('completed')
    await user.rollback()

    expect(await effectsOf(pool, lease)).toBe(0)
    expect(await beat(store, lease)).toBe('kept')
    expect(await complete(store, lease)).toBe('completed')
  })

  it('WORK-5, LEASE-4 delays no beat: the other jobs of the worker are kept at once, this one is busy', async () => {
    const { store, connect } = opened()
    const [user, beater] = [await connect(), await connect()]
    const leases = (await startMany(store, 5)).map(leaseOf)
    const [done] = leases.slice(2)
    if (done === undefined) throw new Error('there are no jobs')

    await beginWork(user, done, isolation)
    expect(await complete(user.store, done)).toBe('completed')
    const { answers } = await beater.store.heartbeatJobs(leases)
    expect(answers.map(({ answer }) => answer)).toEqual(['kept', 'kept', 'busy', 'kept', 'kept'])
    await user.commit()

    const { answers: later } = await beater.store.heartbeatJobs(leases)
    expect(later.map(({ answer }) => answer)).toEqual(['kept', 'kept', 'finished', 'kept', 'kept'])
  })

  it('WORK-5, LEASE-5 answers lease-lost to a lease that was gone before the transaction began', async () => {
    const { store, elapse, connect, pool } = opened()
    const user = await connect()
    const lease = await startOne(store)
    await elapse(2 * MINUTE)
    await sweep(store)

    await beginWork(user, lease, isolation)
    expect(await complete(user.store, lease)).toBe('lease-lost')
    await user.rollback()

    expect(await effectsOf(pool, lease)).toBe(0)
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'waiting', crashes: 1 })
  })

  it('WORK-5 repeated with its writes after a lost answer does not answer completed again, so the writes stay single', async () => {
    const { store, connect, pool } = opened()
    const user = await connect()
    const lease = await startOne(store)

    await beginWork(user, lease, isolation)
    expect(await complete(user.store, lease)).toBe('completed')
    await user.commit()
    await beginWork(user, lease, isolation)
    expect(await complete(user.store, lease)).toBe('already-done')
    await user.rollback()

    expect(await effectsOf(pool, lease)).toBe(1)
  })

  it('WORK-5, REAP-4 keeps the reaper off its job for as long as it is open, though the lease is over', async () => {
    const { store, elapse, connect, pool } = opened()
    const user = await connect()
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await beginWork(user, lease, isolation)
    expect(await complete(user.store, lease)).toBe('completed')
    expect((await sweep(store)).reaped).toEqual([])
    await user.commit()

    expect((await sweep(store)).reaped).toEqual([])
    expect(await effectsOf(pool, lease)).toBe(1)
  })

  it('WORK-5 waits for a reap that is rolled back, and is accepted', async () => {
    const { store, elapse, connect, pool, startBlocked } = opened()
    const [user, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await beginWork(user, lease, isolation)
    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toHaveLength(1)
    const late = await startBlocked(user, reaper, () => complete(user.store, lease))
    await reaper.rollback()

    expect(await late.answer).toBe('completed')
    await user.commit()
    expect(await effectsOf(pool, lease)).toBe(1)
  })
})

describe('a lease that is lost while the transaction is open', () => {
  it('WORK-5, LEASE-5 read committed: the complete answers lease-lost, and a rollback leaves no writes', async () => {
    const { store, elapse, connect, pool } = opened()
    const user = await connect()
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await beginWork(user, lease, 'read committed')
    expect((await sweep(store)).reaped).toHaveLength(1)
    expect(await complete(user.store, lease)).toBe('lease-lost')
    await user.rollback()

    expect(await effectsOf(pool, lease)).toBe(0)
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'waiting', crashes: 1 })
  })

  it('WORK-5, LEASE-5 read committed: so it does when it had to wait for the reap', async () => {
    const { store, elapse, connect, pool, startBlocked } = opened()
    const [user, reaper] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await beginWork(user, lease, 'read committed')
    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toHaveLength(1)
    const late = await startBlocked(user, reaper, () => complete(user.store, lease))
    await reaper.commit()

    expect(await late.answer).toBe('lease-lost')
    await user.rollback()
    expect(await effectsOf(pool, lease)).toBe(0)
  })

  it.each(snapshotLevels)(
    'WORK-5, LEASE-5 %s: the complete fails with 40001, and not even a commit writes anything',
    async (isolation) => {
      const { store, elapse, connect, pool } = opened()
      const user = await connect()
      const lease = await startOne(store)
      await elapse(2 * MINUTE)

      await beginWork(user, lease, isolation)
      expect((await sweep(store)).reaped).toHaveLength(1)
      await expect(complete(user.store, lease)).rejects.toMatchObject(conflict)
      await user.commit()

      expect(await effectsOf(pool, lease)).toBe(0)
      expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'waiting', crashes: 1 })
    },
  )

  it.each(snapshotLevels)(
    'WORK-5, LEASE-5 %s: so it does when it had to wait for the reap',
    async (isolation) => {
      const { store, elapse, connect, pool, startBlocked } = opened()
      const [user, reaper] = [await connect(), await connect()]
      const lease = await startOne(store)
      await elapse(2 * MINUTE)

      await beginWork(user, lease, isolation)
      await reaper.begin()
      expect((await sweep(reaper.store)).reaped).toHaveLength(1)
      const late = await startBlocked(user, reaper, () => complete(user.store, lease))
      await reaper.commit()

      await expect(late.answer).rejects.toMatchObject(conflict)
      await user.rollback()
      expect(await effectsOf(pool, lease)).toBe(0)
    },
  )
})

describe('beats of a job while the transaction that completes it is open', () => {
  it('WORK-5 read committed: a beat after the first write changes nothing for the complete', async () => {
    const { store, connect } = opened()
    const user = await connect()
    const lease = await startOne(store)

    await beginWork(user, lease, 'read committed')
    expect(await beat(store, lease)).toBe('kept')
    expect(await complete(user.store, lease)).toBe('completed')
    await user.commit()
  })

  it.each(snapshotLevels)(
    'WORK-5 %s: a beat after the snapshot costs the caller a 40001, which is why such beats pause',
    async (isolation) => {
      const { store, connect, pool } = opened()
      const user = await connect()
      const lease = await startOne(store)

      await beginWork(user, lease, isolation)
      expect(await beat(store, lease)).toBe('kept')
      await expect(complete(user.store, lease)).rejects.toMatchObject(conflict)
      await user.rollback()

      expect(await effectsOf(pool, lease)).toBe(0)
      await beginWork(user, lease, isolation)
      expect(await complete(user.store, lease)).toBe('completed')
      await user.commit()
      expect(await effectsOf(pool, lease)).toBe(1)
    },
  )
})

describe('callers beside each other', () => {
  it.each(['read committed', 'repeatable read'] as const)(
    'WORK-5 %s: two that complete jobs of their own both commit',
    async (isolation) => {
      const { store, connect, pool } = opened()
      const [ann, bob] = [await connect(), await connect()]
      const [first, second] = await startMany(store, 2)
      if (first === undefined || second === undefined) throw new Error('there are no jobs')

      await beginWork(ann, first, isolation)
      await beginWork(bob, second, isolation)
      expect(await complete(ann.store, first)).toBe('completed')
      expect(await complete(bob.store, second)).toBe('completed')
      await ann.commit()
      await bob.commit()

      expect([await effectsOf(pool, first), await effectsOf(pool, second)]).toEqual([1, 1])
    },
  )

  // PostgreSQL remembers what a serializable transaction read by pages of the index, so neighbours may refuse each other.
  it('WORK-5 serializable: of two that complete jobs of their own one may meet 40001, and then has written nothing', async () => {
    const { store, connect, pool } = opened()
    const [ann, bob] = [await connect(), await connect()]
    const jobs = await startMany(store, 40)
    for (let round = 0; round < 20; round++) {
      const [first, second] = jobs.slice(2 * round)
      if (first === undefined || second === undefined) throw new Error('there are no jobs')

      const ends = await Promise.allSettled([finishWork(ann, first), finishWork(bob, second)])

      expect(ends.some(({ status }) => status === 'fulfilled')).toBe(true)
      for (const [index, lease] of [first, second].entries()) {
        const end = ends[index]
        if (end?.status === 'rejected') expect(sqlStateOf(end.reason)).toBe('40001')
        const isDone = end?.status === 'fulfilled'
        expect(await effectsOf(pool, lease)).toBe(isDone ? 1 : 0)
        expect((await readJob(store, lease.jobId)).status).toBe(isDone ? 'succeeded' : 'running')
      }
    }
  })
})

async function finishWork(user: Connection, lease: Lease): Promise<void> {
  await beginWork(user, lease, 'serializable')
  try {
    expect(await complete(user.store, lease)).toBe('completed')
    await user.commit()
  } catch (error) {
    await user.rollback()
    throw error
  }
}

/** SQLSTATE of an error of the store, or of the bare client that commits. */
function sqlStateOf(error: unknown): unknown {
  const { code, details } = error as { code?: string; details?: { sqlState?: string } }
  return details?.sqlState ?? code
}
