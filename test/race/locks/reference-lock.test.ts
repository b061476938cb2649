// A row that references a job by foreign key holds FOR KEY SHARE on it until its transaction ends. That must hide the job
// from nobody: our row locks are FOR NO KEY UPDATE, which is the strongest that goes together with it.
import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/job/lease.ts'
import {
  beat,
  cancel,
  claimOne,
  complete,
  enqueueOne,
  fail,
  MINUTE,
  readJob,
  release,
  startDead,
  startOne,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { type Connection, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench({
  // Not left standing: a table that something references cannot be emptied for the next test.
  cleanUp: (pool) => pool.query('drop table if exists public.notes'),
})

/** A user's transaction that has added a note to a job and is still open. */
async function referToJob({ pool, connect }: Race, jobId: string): Promise<Connection> {
  await pool.query('create table public.notes (job_id uuid not null references unstuck.jobs (id), body text)')
  const user = await connect()
  await user.begin()
  await user.query("insert into public.notes values ($1, 'looks odd')", [jobId])
  return user
}

async function isKeyShared(race: Race, jobId: string): Promise<boolean> {
  const { rowCount } = await race.pool.query(
    'select from unstuck.jobs where id = $1 for update skip locked',
    [jobId],
  )
  return rowCount === 0
}

describe("a user's open transaction that references the job", () => {
  it('LEASE-4 does not hide it from beats', async () => {
    const race = opened()
    const lease = await startOne(race.store)
    const user = await referToJob(race, lease.jobId)

    expect(await isKeyShared(race, lease.jobId)).toBe(true)
    expect(await beat(race.store, lease)).toBe('kept')
    await user.commit()
    expect(await beat(race.store, lease)).toBe('kept')
  })

  it('REAP-1, REAP-4 does not hide it from sweeps', async () => {
    const race = opened()
    const lease = await startOne(race.store)
    await race.elapse(2 * MINUTE)
    const user = await referToJob(race, lease.jobId)

    expect(await isKeyShared(race, lease.jobId)).toBe(true)
    expect((await sweep(race.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'requeued' }])
    await user.commit()
    expect(await readJob(race.store, lease.jobId)).toMatchObject({ status: 'waiting', crashes: 1 })
  })

  it('LEASE-1 does not hide it from claims', async () => {
    const race = opened()
    const jobId = await enqueueOne(race.store)
    const user = await referToJob(race, jobId)

    expect(await isKeyShared(race, jobId)).toBe(true)
    expect(await claimOne(race.store)).toMatchObject({ jobId })
    await user.commit()
  })

  const finishers: {
    verb: string
    finish: (store: JobStore, lease: Lease) => Promise<string>
    outcome: string
  }[] = [
    { verb: 'complete', finish: complete, outcome: 'completed' },
    { verb: 'fail', finish: async (store, lease) => (await fail(store, lease)).outcome, outcome: 'retried' },
    { verb: 'release', finish: release, outcome: 'released' },
    { verb: 'cancel', finish: (store, { jobId }) => cancel(store, jobId), outcome: 'cancel-requested' },
  ]
  it.each(finishers)('LEASE-5 does not make $verb wait', async ({ finish, outcome }) => {
    const race = opened()
    const worker = await race.connect()
    const lease = await startOne(race.store)
    const user = await referToJob(race, lease.jobId)

    expect(await isKeyShared(race, lease.jobId)).toBe(true)
    expect(await finish(worker.store, lease)).toBe(outcome)
    await user.commit()
  })

  it('OPS-1 does not make a retry wait', async () => {
    const race = opened()
    const operator = await race.connect()
    const jobId = await startDead(race.store)
    const user = await referToJob(race, jobId)

    expect(await isKeyShared(race, jobId)).toBe(true)
    expect(await operator.store.retryJobs([jobId])).toEqual([{ jobId, outcome: 'retried' }])
    await user.commit()
  })

  it('OPS-2 keeps it from being pruned for as long as it is open, without making the pruning wait', async () => {
    const race = opened()
    const lease = await startOne(race.store)
    await complete(race.store, lease)
    await race.elapse(30 * 24 * 60 * MINUTE)
    const user = await referToJob(race, lease.jobId)

    expect(await race.store.pruneJobs()).toMatchObject({ deleted: 0 })
    await user.rollback()
    expect(await race.store.pruneJobs()).toMatchObject({ deleted: 1 })
  })
})

describe('a verb that is uncommitted', () => {
  it('REAP-4 does not make a user wait who references the job meanwhile', async () => {
    const race = opened()
    const reaper = await race.connect()
    const lease = await startOne(race.store)
    await race.elapse(2 * MINUTE)
    await race.pool.query(
      'create table public.notes (job_id uuid not null references unstuck.jobs (id), body text)',
    )

    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toHaveLength(1)
    const user = await race.connect()
    await user.query("insert into public.notes values ($1, 'looks odd')", [lease.jobId])
    await reaper.commit()
    expect(await readJob(race.store, lease.jobId)).toMatchObject({ status: 'waiting' })
  })
})
