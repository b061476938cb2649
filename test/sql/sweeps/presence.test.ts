// The rules by which presence may end a lease early (C24), with plain sessions that stand for workers.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { whenBlocked } from '../../support/lock-wait.ts'
import { PresenceBench } from '../../support/presence-bench.ts'
import type { TestDatabase } from '../../support/test-database.ts'

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

describe('a worker whose session has ended', () => {
  it('LEASE-10 loses its jobs after the grace, by the ordinary reap', async () => {
    await bench.arrive('a')
    const id = await bench.claimAs('a')
    await bench.die('a')
    expect(await bench.lookForTheGrace()).toBe(1)
    expect(await bench.sweep()).toMatchObject([{ id, action: 'requeued', reason: 'worker_gone' }])
    const { rows } = await bench.pool.query(
      `select data -> 'details' as details from unstuck.events where type = 'reaper:requeued'`,
    )
    expect(rows).toMatchObject([{ details: { cause: 'worker-gone', locked_by: 'a' } }])
    const job = await bench.pool.query('select status, crashes, lease_id from unstuck.jobs')
    expect(job.rows).toEqual([{ status: 'waiting', crashes: 1, lease_id: null }])
  })

  it('LEASE-10 keeps them until the grace is over', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    expect(await bench.look()).toBe(0)
    await bench.elapse(1_000)
    expect(await bench.look()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 keeps them if it returns, even if no look saw it', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.look()
    await bench.elapse(1_000)
    await bench.arrive('a')
    await bench.die('a')
    expect(await bench.lookForTheGrace()).toBe(1)
    expect(await bench.sweep()).toHaveLength(1)
  })

  it('LEASE-10 is judged anew if nobody has looked for long', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.look()
    await bench.elapse(60_000)
    expect(await bench.look()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 keeps a job that it claimed or beat for since', async () => {
    await bench.arrive('a')
    const beaten = await bench.claimAs('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.look()
    await bench.pool.query('update unstuck.jobs set heartbeat_at = clock_timestamp() where id = $1', [beaten])
    const claimed = await bench.claimAs('a')
    for (const ms of [1_000, 1_000]) {
      await bench.elapse(ms)
      await bench.look()
    }
    const taken = (await bench.sweep()).map(({ id }) => id)
    expect(taken).toHaveLength(1)
    expect(taken).not.toContain(beaten)
    expect(taken).not.toContain(claimed)
  })

  it('LEASE-10 lives as long as it shows life over another connection', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.look()
    for (let second = 0; second < 5; second++) {
      await bench.elapse(1_000)
      await bench.pool.query(`select unstuck.show_life('native', 'a')`)
      expect(await bench.look()).toBe(0)
    }
    expect(await bench.sweep()).toEqual([])
    expect(await bench.lookForTheGrace()).toBe(1)
    expect(await bench.sweep()).toHaveLength(1)
  })

  it('LEASE-10 was seen in another run of the server: its lease decides', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.pool.query(`update unstuck.workers set presence_epoch = 'another'`)
    expect(await bench.lookForTheGrace()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 keeps its jobs if the policy turns presence off', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.lookForTheGrace()
    await bench.pool.query(`select unstuck.write_policy('native', '{"presence": "off"}')`)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 left in order: nothing is judged', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.sessions.get('a')?.query(`select unstuck.leave_presence('native', 'a')`)
    await bench.die('a')
    expect(await bench.lookForTheGrace()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 is reported again after a sweep that met a locked row', async () => {
    await bench.arrive('a')
    const id = await bench.claimAs('a')
    await bench.die('a')
    expect(await bench.lookForTheGrace()).toBe(1)
    const client = await bench.pool.connect()
    try {
      await client.query('begin')
      await client.query('select from unstuck.jobs where id = $1 for update', [id])
      expect(await bench.sweep()).toEqual([])
      await client.query('commit')
    } finally {
      client.release()
    }
    expect(await bench.look()).toBe(1)
    expect(await bench.sweep()).toHaveLength(1)
    expect(await bench.look()).toBe(0)
  })

  it('LEASE-10 is judged by a sweep from SQL alone, after the grace', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.pool.query('call unstuck.run_sweep()')
    const { rows } = await bench.pool.query('select status, crashes from unstuck.jobs')
    expect(rows).toEqual([{ status: 'waiting', crashes: 1 }])
  })

  it('LEASE-10 is forgotten once it holds nothing', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.lookForTheGrace()
    await bench.sweep()
    const { rows } = await bench.pool.query('select presence_key from unstuck.workers')
    expect(rows).toEqual([{ presence_key: null }])
  })
})

it('LEASE-10 a worker takes its lock again while its old session lingers behind a silent network', async () => {
  await bench.arrive('a')
  const old = bench.sessions.get('a')
  const session = await bench.connect('a')
  await session.query(`set lock_timeout = '20s'`)
  await bench.takeLock('a')
  await old?.end()
  expect(await bench.lookForTheGrace()).toBe(0)
})

describe('a worker that is judged', () => {
  it('REAP-3 LEASE-10 with its lock, or without ever having had one, keeps its jobs', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.claimAs('foreign')
    expect(await bench.lookForTheGrace()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 and returns before the reap keeps its jobs', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.lookForTheGrace()
    const session = await bench.connect('a')
    await session.query(`select pg_advisory_lock_shared(unstuck.lock_class('presence'), 97 * 1024)`)
    // By the lock alone: no look sees it first.
    expect((await bench.pool.query('select * from unstuck.reap_jobs()')).rows).toEqual([])
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 returns only after the transaction that takes its jobs', async () => {
    await bench.arrive('a')
    await bench.claimAs('a')
    await bench.die('a')
    await bench.lookForTheGrace()
    const reaper = await bench.pool.connect()
    try {
      await reaper.query('begin')
      const { rowCount } = await reaper.query('select * from unstuck.reap_jobs()')
      expect(rowCount).toBe(1)
      const session = await bench.connect('a')
      const { rows } = await session.query('select pg_backend_pid() as pid')
      const returned = bench.takeLock('a')
      await whenBlocked(bench.pool, rows[0].pid)
      await reaper.query('commit')
      await returned
    } finally {
      reaper.release()
    }
  })
})

describe('many at once', () => {
  /** Names of those that die, then of those that stay. */
  async function vanish(dying: string[], staying: string[]): Promise<number> {
    for (const name of [...dying, ...staying]) await bench.arrive(name)
    for (const name of dying) await bench.claimAs(name)
    for (const name of dying) await bench.die(name)
    return bench.lookForTheGrace()
  }

  it('LEASE-10 C26 three of five are a proxy or the server: leases decide', async () => {
    expect(await vanish(['a', 'b', 'c'], ['d', 'e'])).toBe(0)
    expect(await bench.sweep()).toEqual([])
    expect(await bench.lookForTheGrace()).toBe(0)
  })

  it('LEASE-10 C26 all of two are a proxy or the server', async () => {
    expect(await vanish(['a', 'b'], [])).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it.each([
    ['one of two', ['a'], ['b']],
    ['two of five', ['a', 'b'], ['c', 'd', 'e']],
    ['three of six', ['a', 'b', 'c'], ['d', 'e', 'f']],
  ])('LEASE-10 %s are deaths', async (_, dying, staying) => {
    expect(await vanish(dying, staying)).toBe(dying.length)
    expect(await bench.sweep()).toHaveLength(dying.length)
  })

  it('LEASE-10 C26 one that follows the others within a grace belongs to them', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await bench.arrive(name)
    await bench.claimAs('d')
    for (const name of ['a', 'b', 'c']) await bench.die(name)
    await bench.look()
    await bench.elapse(1_000)
    await bench.die('d')
    expect(await bench.lookForTheGrace()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })

  it('LEASE-10 C26 those that returned count as vanished', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await bench.arrive(name)
    await bench.claimAs('a')
    for (const name of ['a', 'b', 'c']) await bench.die(name)
    await bench.look()
    await bench.arrive('b')
    await bench.arrive('c')
    expect(await bench.lookForTheGrace()).toBe(0)
    expect(await bench.sweep()).toEqual([])
  })
})

it('LEASE-10 at most two sessions watch a table, and another takes the place of one that ends', async () => {
  const watch = async (name: string) => {
    const session = await bench.connect(name)
    return (await session.query(`select unstuck.watch_workers('native') as is_watching`)).rows[0].is_watching
  }
  expect([await watch('x'), await watch('y'), await watch('z')]).toEqual([true, true, false])
  await bench.arrive('a')
  const seen = async () =>
    (await bench.pool.query(`select watchers from unstuck.look_at_workers('native')`)).rows[0].watchers
  expect(await seen()).toBe(2)
  await bench.die('y')
  expect(await seen()).toBe(1)
  const again = await bench.sessions.get('z')?.query(`select unstuck.watch_workers('native') as is_watching`)
  expect(again?.rows).toEqual([{ is_watching: true }])
})

it('LEASE-10 a sweep records how many sessions watch, at its end, and forgets it once presence is off', async () => {
  const session = await bench.connect('x')
  await session.query(`select unstuck.watch_workers('native')`)
  await bench.arrive('a')
  const recorded = async () => (await bench.pool.query('select watchers from unstuck.sweeps')).rows
  await bench.claimAs('a')
  await bench.pool.query(`update unstuck.jobs set lease_expires_at = now() - interval '1 s'`)
  // The step that reaps is not the last one.
  const { rows } = await bench.pool.query(
    `select unstuck.sweep_jobs('{"reaper_id": "test"}') -> 'next' as next`,
  )
  await bench.pool.query(`select unstuck.sweep_jobs('{"reaper_id": "test"}', 100, $1)`, [rows[0].next])
  expect(await recorded()).toEqual([{ watchers: 1 }])
  await bench.pool.query(`select unstuck.write_policy('native', '{"presence": "off"}')`)
  await bench.sweep()
  expect(await recorded()).toEqual([{ watchers: null }])
})

it('LEASE-10 a look compares no two of 1,000 workers, whatever the planner knows of the table', async () => {
  const session = await bench.connect('a')
  await session.query(
    `select unstuck.take_presence('native', 'w' || n, 1024 * n, 2000) from generate_series(1, 1000) n`,
  )
  await session.query(`load 'auto_explain'; set client_min_messages = log; set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on; set auto_explain.log_nested_statements = on`)
  const plans: string[] = []
  session.on('notice', ({ message = '' }) => plans.push(message))
  await session.query(`select unstuck.look_at_workers('native')`)
  expect(plans.join()).toContain('hashed SubPlan')
  const compared = [...plans.join().matchAll(/Rows Removed by Join Filter: (\d+)/g)].map(([, rows]) =>
    Number(rows),
  )
  expect(Math.max(0, ...compared)).toBeLessThan(10_000)
})
