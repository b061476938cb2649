// A table that nobody can write to is an outage for its leases, however many workers there are (C26). No sweep waits for
// it: the sweeps that meet the lock note it, and the first one that gets through holds what ended meanwhile.
import { describe, expect, it } from 'vitest'
import { beat, HOUR, MINUTE, SECOND, startOne, sweep } from '../../../src/store/conformance/builders.ts'
import type { ReaperFacts } from '../../../src/store/job-store.ts'
import { whenBlocked } from '../../support/lock-wait.ts'
import { type Connection, raceBench } from '../race-bench.ts'

const opened = raceBench({ policy: { reapBackoffStepsMs: [HOUR] } })
const reaper: ReaperFacts = { reaperId: 'reaper-1' }
const locked = { reaped: [], held: 0, holdReason: 'table-locked' }

/** Lock modes that writers of the table wait for: DDL, VACUUM FULL, CREATE INDEX, CREATE TRIGGER, REFRESH. */
const modes = ['access exclusive', 'exclusive', 'share row exclusive', 'share'] as const

/** Somebody has the table while `meanwhile` runs. */
async function withLock<T>(mode: string, meanwhile: () => Promise<T>): Promise<T> {
  const locker = await opened().connect()
  await locker.begin()
  await locker.query(`lock table unstuck.jobs in ${mode} mode`)
  const result = await meanwhile()
  await locker.commit()
  return result
}

/** A job whose lease of a minute ends five seconds after the lock that a sweep met, which is then gone. */
async function outliveLock(mode: string, by: ReaperFacts = reaper) {
  const { store, elapse, connect } = opened()
  const claimed = await startOne(store)
  const sweeper = await connect()
  await sweep(store, { reaper })
  await elapse(55 * SECOND)
  expect(await withLock(mode, () => sweep(sweeper.store, { reaper: by }))).toMatchObject(locked)
  await elapse(10 * SECOND)
  return claimed
}

describe('a locked table', () => {
  it.each(modes)('REAP-16 a lease that ended while it was locked in %s mode is held', async (mode) => {
    const { store, elapse } = opened()
    const { jobId } = await outliveLock(mode)
    expect(await sweep(store, { reaper })).toMatchObject({ reaped: [], held: 1, holdReason: 'table-locked' })
    await elapse(50 * SECOND)
    expect(await sweep(store, { reaper })).toMatchObject({ reaped: [], held: 1 })
    await elapse(11 * SECOND)
    expect((await sweep(store, { reaper })).reaped).toMatchObject([{ jobId, action: 'requeued' }])
  })

  it('REAP-16 a worker that comes back within the hold keeps its job', async () => {
    const { store, elapse } = opened()
    const claimed = await outliveLock('access exclusive')
    await sweep(store, { reaper })
    expect(await beat(store, claimed)).toBe('kept')
    await elapse(55 * SECOND)
    expect((await sweep(store, { reaper })).reaped).toEqual([])
  })

  it('REAP-16 a reaper that was not there holds what another one has noted, and so does SQL alone', async () => {
    const { store, pool } = opened()
    await outliveLock('access exclusive', { reaperId: 'reaper-2' })
    await pool.query(`call unstuck.run_sweep('cron')`)
    expect(await store.readHealth()).toMatchObject({ running: 1, holdReason: 'table-locked' })
  })

  it('REAP-16 what waits behind a VACUUM FULL that waits itself is held too', async () => {
    const { store, elapse, pool, connectMany } = opened()
    await startOne(store)
    const [reader, vacuum, sweeper] = (await connectMany(3)) as [Connection, Connection, Connection]
    await sweep(store, { reaper })
    await elapse(55 * SECOND)
    await reader.begin()
    await reader.query('select count(*) from unstuck.jobs')
    const vacuumed = vacuum.query('vacuum full unstuck.jobs')
    await whenBlocked(pool, vacuum.pid)
    expect(await sweep(sweeper.store, { reaper })).toMatchObject(locked)
    await reader.commit()
    await vacuumed
    await elapse(10 * SECOND)
    expect(await sweep(store, { reaper })).toMatchObject({ reaped: [], held: 1, holdReason: 'table-locked' })
  })

  it('REAP-16 a lock within half a lease of a sweep that got through ends nobody’s lease, and holds nothing', async () => {
    const { store, elapse } = opened()
    const { jobId } = await startOne(store)
    await elapse(50 * SECOND)
    await sweep(store, { reaper })
    await elapse(5 * SECOND)
    await withLock('access exclusive', async () => {
      const sweeper = await opened().connect()
      expect(await sweep(sweeper.store, { reaper })).toMatchObject(locked)
    })
    await elapse(6 * SECOND)
    expect(await sweep(store, { reaper })).toMatchObject({ reaped: [{ jobId }], held: 0, holdReason: null })
  })

  it('REAP-16 a lock that is gone holds nothing once a sweep has got through', async () => {
    const { store, elapse } = opened()
    await outliveLock('access exclusive')
    await sweep(store, { reaper })
    await elapse(2 * MINUTE)
    await sweep(store, { reaper })
    const { jobId } = await startOne(store)
    await elapse(MINUTE + SECOND)
    expect(await sweep(store, { reaper })).toMatchObject({ reaped: [{ jobId }], held: 0 })
  })

  it('REAP-16 a sweep that had to wait for a moment holds what ended since the last one', async () => {
    const { store, elapse, pool, connectMany } = opened()
    await startOne(store)
    const [locker, sweeper] = (await connectMany(2)) as [Connection, Connection]
    await sweep(store, { reaper })
    await elapse(MINUTE + SECOND)
    await locker.begin()
    await locker.query('lock table unstuck.jobs in access exclusive mode')
    const swept = sweep(sweeper.store, { reaper })
    // It gives up by itself where this is slow, and has noted the lock then.
    await Promise.race([whenBlocked(pool, sweeper.pid).catch(() => {}), swept])
    await locker.commit()
    expect(await swept).toMatchObject({ reaped: [], holdReason: 'table-locked' })
    expect(await sweep(store, { reaper })).toMatchObject({ reaped: [], held: 1, holdReason: 'table-locked' })
  })

  it('REAP-16 locks of rows and of readers are no such lock', async () => {
    const { store, elapse } = opened()
    const { jobId } = await startOne(store)
    await sweep(store, { reaper })
    await elapse(MINUTE + SECOND)
    for (const mode of ['row exclusive', 'share update exclusive'])
      await withLock(mode, async () => {
        expect(await sweep(store, { reaper: { reaperId: mode }, limit: 1 })).toMatchObject({ held: 0 })
      })
    expect((await store.getJob(jobId))?.status).toBe('waiting')
  })
})
