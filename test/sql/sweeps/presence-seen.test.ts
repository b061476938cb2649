// Presence as people see it: in the list of workers, in why, and in the rescues, with plain sessions that stand for workers.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { PresenceBench } from '../../support/presence-bench.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const GRACE_MS = 2_000

let database: TestDatabase
let bench: PresenceBench

beforeAll(async () => {
  database = await createInstalledDatabase()
  bench = new PresenceBench(database.url)
})
beforeEach(() => bench.reset())
afterEach(() => bench.endSessions())
afterAll(async () => {
  await bench?.pool.end()
  await database?.drop()
})

describe('as people see it', () => {
  const listed = async (name: string) =>
    (
      await bench.pool.query('select presence, state from unstuck.list_workers() where worker_id = $1', [
        name,
      ])
    ).rows[0]

  it('SEE-5 LEASE-10 a worker is present, absent from the end of its session, then gone at once', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    expect(await listed('a')).toEqual({ presence: 'present', state: 'live' })
    await bench.die('a')
    // Before any look.
    expect(await listed('a')).toEqual({ presence: 'absent', state: 'live' })
    await bench.lookForTheGrace()
    expect(await listed('a')).toEqual({ presence: 'gone', state: 'gone' })
    await bench.sweep()
    expect(await listed('a')).toEqual({ presence: 'gone', state: 'gone' })
    await bench.arrive('a')
    expect(await listed('a')).toEqual({ presence: 'present', state: 'live' })
  })

  it('SEE-5 LEASE-10 a worker whose lock two of its sessions hold is listed once', async () => {
    await bench.arrive('a')
    const another = await bench.connect('another session of a')
    await another.query(`select pg_advisory_lock_shared(unstuck.lock_class('presence'), 97 * 1024)`)
    const { rows } = await bench.pool.query('select presence from unstuck.list_workers()')
    expect(rows).toEqual([{ presence: 'present' }])
  })

  it('SEE-5 LEASE-10 pooled, off, and left in order', async () => {
    await bench.pool.query(`select unstuck.take_presence('native', 'pooled', null, null)`)
    await bench.pool.query(`select unstuck.report_worker('native',
      '{"worker_id": "plain", "phase": "running", "types": [], "concurrency": 1, "running": 0, "report_ms": 15000}')`)
    await bench.arrive('a')
    await bench.sessions.get('a')?.query(`select unstuck.leave_presence('native', 'a')`)
    expect(await listed('pooled')).toEqual({ presence: 'pooled', state: 'live' })
    expect(await listed('plain')).toEqual({ presence: 'off', state: 'live' })
    expect(await listed('a')).toEqual({ presence: 'off', state: 'live' })
  })

  it('OPS-9 LEASE-10 why explains that the worker of a running job has ended, until it is requeued', async () => {
    await bench.arrive('a')
    const id = await bench.claimAs('a')
    const why = async () => {
      const { rows } = await bench.pool.query('select unstuck.explain_job($1) as facts', [id])
      return rows[0].facts
    }
    expect(await why()).not.toHaveProperty('absence')
    await bench.die('a')
    await bench.look()
    await bench.elapse(1_200)
    const { since_ms: sinceMs, grace_left_ms: leftMs } = (await why()).absence
    expect(sinceMs).toBeGreaterThanOrEqual(1_200)
    expect(sinceMs + leftMs).toBeCloseTo(GRACE_MS, 3)
    await bench.look()
    await bench.elapse(1_000)
    await bench.look()
    expect((await why()).absence).toMatchObject({ grace_left_ms: null })
    await bench.pool.query(`select unstuck.write_policy('native', '{"presence": "off"}')`)
    expect(await why()).not.toHaveProperty('absence')
    await bench.pool.query(`select unstuck.write_policy('native', '{"presence": "auto"}')`)
    await bench.pool.query('update unstuck.jobs set heartbeat_at = clock_timestamp() where id = $1', [id])
    expect(await why()).not.toHaveProperty('absence')
    await bench.elapse(10)
    await bench.pool.query(
      `update unstuck.jobs set heartbeat_at = heartbeat_at - interval '1 min' where id = $1`,
      [id],
    )
    await bench.sweep()
    expect(await why()).toMatchObject({ last_event: { details: { cause: 'worker-gone', locked_by: 'a' } } })
  })

  it('SEE-6 REAP-10 LEASE-10 its rescue is counted as worker-gone, and was not late', async () => {
    await bench.arrive('a')
    const id = await bench.claimAs('a')
    await bench.die('a')
    await bench.lookForTheGrace()
    await bench.sweep()
    await bench.pool.query('update unstuck.jobs set run_at = null')
    await bench.pool.query(`select unstuck.claim_jobs('b', '{encode}', 1)`)
    const slo = await bench.pool.query('select rescued, in_time, by_cause from unstuck.read_slo()')
    expect(slo.rows).toEqual([
      { rescued: 1, in_time: 1, by_cause: { crash: 0, timeout: 0, 'worker-gone': 1 } },
    ])
    const { rows } = await bench.pool.query('select unstuck.list_reclaims() as page')
    expect(rows[0].page.reclaims).toMatchObject([
      { job_id: id, reason: 'worker_gone', action: 'requeued', lateness_ms: null, claimed_by: 'b' },
    ])
  })

  it('OPS-9 LEASE-10 a gone worker counts as no live one', async () => {
    await bench.arrive('a')
    await bench.pool.query(`update unstuck.workers set types = '{encode}'`)
    await bench.claimAs('a')
    const [id] = (await bench.pool.query(`select (unstuck.enqueue_jobs('[{"type": "encode"}]')).id`)).rows
    const facts = async () =>
      (await bench.pool.query('select unstuck.explain_job($1) -> $2 as workers', [id.id, 'workers'])).rows[0]
        .workers
    expect(await facts()).toMatchObject({ live: 1, handling: 1 })
    await bench.die('a')
    await bench.lookForTheGrace()
    expect(await facts()).toMatchObject({ live: 0, handling: 0 })
  })
})
