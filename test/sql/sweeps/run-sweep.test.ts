// The reaper from SQL alone, as pg_cron calls it: what it knows of its past is the pulse it left.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { HOUR, MINUTE, plainPolicy, SECOND, startMany } from '../../../src/store/conformance/builders.ts'
import type { StoreHarness } from '../../../src/store/conformance/harness.ts'
import type { SqlClient } from '../../../src/store/postgres/connection/executor.ts'
import { createPostgresBench, type PostgresBench } from '../../support/postgres-harness.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let bench: PostgresBench
let harness: StoreHarness<SqlClient>

beforeAll(async () => {
  bench = await createPostgresBench({ profile, table })
})
beforeEach(async () => {
  harness = await bench.open()
  await harness.store.writePolicy({ ...plainPolicy, reapBackoffStepsMs: [HOUR] })
})
afterAll(() => bench.close())

/** So many jobs, half of them for each of two workers. */
async function startOfTwo(count: number) {
  const ofFirst = await startMany(harness.store, count / 2, { workerId: 'worker-1' })
  return [...ofFirst, ...(await startMany(harness.store, count / 2, { workerId: 'worker-2' }))]
}

async function runSweep(reaperId: string): Promise<{ running: number; holdReason: string | null }> {
  await bench.database.pool.query('call unstuck.run_sweep($1)', [reaperId])
  const { running, holdReason } = await harness.store.readHealth()
  return { running, holdReason }
}

describe('run_sweeps', () => {
  it('REAP-6 each of its sweeps judges by the time at which it begins', async () => {
    const { database } = bench
    await database.pool.query(`
      create table pulses (late_ms float8);
      create function note_pulse() returns trigger language plpgsql as $$
      begin
        insert into public.pulses values (extract(epoch from clock_timestamp() - now()) * 1000);
        return null;
      end $$;
      create trigger note_pulse after update on unstuck.sweeps execute function note_pulse()`)
    const cron = await database.connect()
    const { rows } = await cron.query<{ pid: number }>('select pg_backend_pid() as pid')
    const swept = cron.query('call unstuck.run_sweeps(3)').catch((error: unknown) => error)
    const lateMs = async () =>
      (await database.pool.query<{ late_ms: number }>('select late_ms from pulses')).rows.map(
        ({ late_ms }) => late_ms,
      )
    await expect.poll(async () => (await lateMs()).length, { timeout: 30_000 }).toBeGreaterThan(1)
    await database.pool.query('select pg_cancel_backend($1)', [rows[0]?.pid])
    await swept
    const latestMs = Math.max(...(await lateMs()))
    await database.pool.query('drop function note_pulse cascade; drop table pulses')
    expect(latestMs).toBeLessThan(3_000)
  })
})

describe('run_sweep', () => {
  it('C9 holds a mass of leases that ended since its own last sweep, for one lease', async () => {
    const { elapse } = harness
    await startOfTwo(12)
    await elapse(30 * SECOND)
    await runSweep('cron')
    await elapse(MINUTE)
    expect(await runSweep('cron')).toEqual({ running: 12, holdReason: 'mass-expiry' })
    await elapse(30 * SECOND)
    expect(await runSweep('cron')).toEqual({ running: 12, holdReason: 'mass-expiry' })
    await elapse(31 * SECOND)
    expect(await runSweep('cron')).toEqual({ running: 0, holdReason: null })
  })

  it('C9 a worker that comes back within the hold keeps its jobs', async () => {
    const { store, elapse } = harness
    const leases = await startOfTwo(12)
    await runSweep('cron')
    await elapse(MINUTE + SECOND)
    await runSweep('cron')
    const { answers } = await store.heartbeatJobs(leases)
    expect(new Set(answers.map(({ answer }) => answer))).toEqual(new Set(['kept']))
    await elapse(40 * SECOND)
    expect(await runSweep('cron')).toMatchObject({ running: 12 })
  })

  it('REAP-16 the jobs of one worker are taken at once', async () => {
    const { store, elapse } = harness
    await startMany(store, 10)
    await runSweep('cron')
    await elapse(MINUTE + SECOND)
    expect(await runSweep('cron')).toEqual({ running: 0, holdReason: null })
  })

  it('C9 REAP-6 its first sweep is not held, nor one after the sweep of another reaper', async () => {
    const { elapse } = harness
    await startOfTwo(12)
    await elapse(MINUTE + SECOND)
    expect(await runSweep('cron')).toEqual({ running: 0, holdReason: null })
    await startOfTwo(12)
    await elapse(MINUTE + SECOND)
    expect(await runSweep('by-hand')).toMatchObject({ running: 0 })
  })

  it('C9 is no sign that anybody came through over the network', async () => {
    const { store, elapse } = harness
    await startMany(store, 3)
    await elapse(50 * SECOND)
    await runSweep('cron')
    await elapse(15 * SECOND)
    const reaper = { reaperId: 'reaper-1', failingForMs: MINUTE }
    expect(await store.sweepJobs({ reaper })).toMatchObject({ held: 3, holdReason: 'sweeps-failed' })
  })

  it.each([
    ['was down', '-1 hour'],
    ['was replaced by one that had been started before it', '1 hour'],
  ])('C9 holds what ended while the server %s', async (_, shift) => {
    const { store, elapse } = harness
    const { pool } = bench.database
    await startMany(store, 3)
    await runSweep('cron')
    await pool.query('update unstuck.sweeps set server_started_at = server_started_at + $1::interval', [
      shift,
    ])
    await elapse(MINUTE + SECOND)
    expect(await runSweep('cron')).toEqual({ running: 3, holdReason: 'server-restarted' })
  })

  const restart = () =>
    bench.database.pool.query(
      "update unstuck.sweeps set server_started_at = server_started_at - interval '1 h'",
    )

  it('C9 a server that restarts before every sweep holds leases until it stops doing so, and for one lease', async () => {
    const { store, elapse } = harness
    await startMany(store, 3)
    await runSweep('cron')
    for (let count = 0; count < 10; count++) {
      await elapse(30 * SECOND)
      await restart()
      expect(await runSweep('cron')).toMatchObject({ running: 3 })
    }
    await elapse(MINUTE + SECOND)
    expect(await runSweep('cron')).toEqual({ running: 0, holdReason: null })
  })

  it('C9 restarts end a hold once sweeps have seen the database up for a lease in all', async () => {
    const { store, elapse } = harness
    await startMany(store, 3)
    await runSweep('cron')
    await elapse(MINUTE + SECOND)
    for (const running of [3, 3, 0]) {
      await restart()
      expect(await runSweep('cron')).toMatchObject({ running })
      await elapse(40 * SECOND)
      await runSweep('cron')
      await elapse(5 * SECOND)
    }
  })
})
