// Any number of reapers at once, and rows and pulses that others have locked: nobody waits, nothing is taken twice.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  MINUTE,
  readJob,
  type Sweep,
  startMany,
  startOne,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import type { ReapedJob } from '../../../src/store/job-store.ts'
import { type Race, raceBench } from '../race-bench.ts'

const JOBS = 500

const opened = raceBench()

async function startExpired({ store, elapse }: Race, count: number): Promise<string[]> {
  const claimed = await startMany(store, count)
  await elapse(2 * MINUTE)
  return claimed.map(({ jobId }) => jobId).toSorted()
}

const idsOf = (reaped: ReapedJob[]) => reaped.map(({ jobId }) => jobId).toSorted()
const union = (sweeps: Sweep[]) => idsOf(sweeps.flatMap(({ reaped }) => reaped))

/** Every job went back once, and its one event says so. */
async function expectReapedOnce({ pool }: Race, jobIds: string[]): Promise<void> {
  const { rows } = await pool.query<{ id: string; status: string; crashes: number; events: string[] }>(
    `select id, status, crashes, array(select type from unstuck.events where job_id = job.id::text) as events
       from unstuck.jobs job where id = any ($1) order by id`,
    [jobIds],
  )
  expect(rows).toEqual(
    jobIds.map((id) => ({ id, status: 'waiting', crashes: 1, events: ['reaper:requeued'] })),
  )
}

describe('reapers beside each other', () => {
  it('REAP-4 four reapers at once take each of 500 jobs once, and all of them', async () => {
    const race = opened()
    const jobIds = await startExpired(race, JOBS)
    const reapers = await race.connectMany(4)

    const sweeps = await Promise.all(
      reapers.map(({ store, pid }) => sweep(store, { limit: 20, reaper: { reaperId: `reaper-${pid}` } })),
    )

    expect(union(sweeps)).toEqual(jobIds)
    await expectReapedOnce(race, jobIds)
  })

  it('REAP-4 a reaper takes what another has not locked, and neither waits', async () => {
    const race = opened()
    const jobIds = await startExpired(race, JOBS)
    const [slow, quick] = [await race.connect(), await race.connect()]

    await slow.begin()
    const { reaped: first } = await slow.store.sweepJobs({ limit: 100 })
    const { reaped: others } = await sweep(quick.store, { limit: 150 })
    expect(first).toHaveLength(100)
    expect(others).toHaveLength(400)
    await slow.commit()

    expect(idsOf([...first, ...others])).toEqual(jobIds)
    expect((await sweep(quick.store)).reaped).toEqual([])
    await expectReapedOnce(race, jobIds)
  })

  it('REAP-4 what a reaper that was rolled back had locked is taken by the next sweep', async () => {
    const race = opened()
    const jobIds = await startExpired(race, 50)
    const [failing, quick] = [await race.connect(), await race.connect()]

    await failing.begin()
    expect((await failing.store.sweepJobs({ limit: 20 })).reaped).toHaveLength(20)
    const first = await sweep(quick.store)
    await failing.rollback()
    const second = await sweep(quick.store)

    expect([first.reaped.length, second.reaped.length]).toEqual([30, 20])
    expect(union([first, second])).toEqual(jobIds)
    await expectReapedOnce(race, jobIds)
  })

  it('REAP-4, OPS-3 the reaper in SQL takes what a TypeScript sweep has not locked', async () => {
    const race = opened()
    const jobIds = await startExpired(race, JOBS)
    const [typescript, cron] = [await race.connect(), await race.connect()]

    await typescript.begin()
    const { reaped } = await typescript.store.sweepJobs({ limit: 100 })
    await cron.query("call unstuck.run_sweep('cron', 150)")
    const { rows } = await race.pool.query<{ count: number }>(
      "select count(*)::int as count from unstuck.jobs where status = 'waiting'",
    )
    expect([reaped.length, rows[0]?.count]).toEqual([100, 400])
    await typescript.commit()

    await expectReapedOnce(race, jobIds)
  })

  it('REAP-4, OPS-3 TypeScript sweeps and reapers in SQL, all at once, take every job once', async () => {
    const race = opened()
    const jobIds = await startExpired(race, JOBS)
    const [one, two, three, four] = await race.connectMany(4)
    if (one === undefined || two === undefined || three === undefined || four === undefined)
      throw new Error('there are not four connections')

    const [sweptByOne, sweptByTwo] = await Promise.all([
      sweep(one.store, { limit: 15, reaper: { reaperId: 'one' } }),
      sweep(two.store, { limit: 25 }),
      three.query("call unstuck.run_sweep('cron-1', 20)"),
      four.query("call unstuck.run_sweep('cron-2', 30)"),
    ])

    const taken = union([sweptByOne, sweptByTwo])
    expect(new Set(taken).size).toBe(taken.length)
    await expectReapedOnce(race, jobIds)
  })
})

describe('the row of the reaper', () => {
  it('REAP-4 a reaper does not wait for its locked row', async () => {
    const race = opened()
    const [jobId] = await startExpired(race, 1)
    const [holder, reaper] = [await race.connect(), await race.connect()]

    await holder.begin()
    await holder.query("select from unstuck.sweeps where attachment = 'native' for update")
    const { reaped } = await sweep(reaper.store, { reaper: { reaperId: 'reaper' } })
    expect(idsOf(reaped)).toEqual([jobId])
    expect((await race.store.readHealth()).reaperAgeMs).toBeNull()
    await holder.commit()

    await sweep(reaper.store, { reaper: { reaperId: 'reaper' } })
    expect((await race.store.readHealth()).reaperAgeMs).not.toBeNull()
  })

  it('REAP-4 the SQL reaper does not wait for it either', async () => {
    const race = opened()
    const jobIds = await startExpired(race, 1)
    const [holder, cron] = [await race.connect(), await race.connect()]

    await holder.begin()
    await holder.query("select from unstuck.sweeps where attachment = 'native' for update")
    await cron.query('call unstuck.run_sweep()')
    await holder.commit()

    await expectReapedOnce(race, jobIds)
  })

  it('REAP-4, LEASE-4 a reaper with an uncommitted heartbeat delays neither reapers nor workers', async () => {
    const race = opened()
    const [slow, quick] = [await race.connect(), await race.connect()]

    await slow.begin()
    await sweep(slow.store, { reaper: { reaperId: 'slow' } })
    const jobId = await race.plantJob({
      status: 'running',
      leaseId: randomUUID(),
      leaseExpiresAt: new Date('2000-01-01'),
    })
    expect(idsOf((await sweep(quick.store, { reaper: { reaperId: 'quick' } })).reaped)).toEqual([jobId])
    const lease = await startOne(race.store, { type: 'other' })
    expect((await quick.store.heartbeatJobs([lease])).answers).toMatchObject([{ answer: 'kept' }])
    await slow.commit()

    const { rows } = await race.pool.query('select reaper_id from unstuck.sweeps')
    expect(rows).toEqual([{ reaper_id: 'slow' }])
  })
})

describe('a job whose row a half-open session has locked past its lease', () => {
  it.each(['update', 'no key update', 'share'])(
    'REAP-1, REAP-4 for %s: it is skipped and reaped when the lock goes, and the others at once',
    async (strength) => {
      const race = opened()
      const [locked, ...others] = await startExpired(race, 3)
      const [halfOpen, reaper] = [await race.connect(), await race.connect()]

      await halfOpen.begin()
      await halfOpen.query(`select from unstuck.jobs where id = $1 for ${strength}`, [locked])
      expect(idsOf((await sweep(reaper.store)).reaped)).toEqual(others)
      expect(await race.store.readHealth()).toMatchObject({ running: 1, overdue: 1 })
      expect(await race.store.previewSweep()).toMatchObject([{ jobId: locked, action: 'requeued' }])

      await halfOpen.client.end()
      await expect
        .poll(async () => idsOf((await sweep(reaper.store)).reaped), { interval: 5 })
        .toEqual([locked])
      expect(await readJob(race.store, String(locked))).toMatchObject({ status: 'waiting', crashes: 1 })
    },
  )

  it('REAP-4 a batch is filled from behind a locked row: it takes no place in the limit', async () => {
    const race = opened()
    const [locked, ...others] = await startExpired(race, 3)
    const [halfOpen, reaper] = [await race.connect(), await race.connect()]

    await halfOpen.begin()
    await halfOpen.query('select from unstuck.jobs where id = $1 for update', [locked])
    const { reaped } = await reaper.store.sweepJobs({ limit: 2 })
    expect(idsOf(reaped)).toEqual(others)
  })
})
