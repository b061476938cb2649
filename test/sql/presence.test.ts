// The rules by which presence may end a lease early (C24), with plain sessions that stand for workers.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { whenBlocked } from '../support/lock-wait.ts'
import type { TestDatabase } from '../support/test-database.ts'

const GRACE_MS = 2_000

let database: TestDatabase
let pool: pg.Pool
let sessions: Map<string, pg.Client>

beforeAll(async () => {
  database = await createInstalledDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
})
beforeEach(async () => {
  sessions = new Map()
  await pool.query('delete from unstuck.jobs; delete from unstuck.workers; delete from unstuck.events')
  await pool.query(`select unstuck.write_policy('native', '{"presence": "auto"}')`)
})
afterEach(async () => {
  await Promise.all([...sessions.values()].map((session) => session.end()))
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

async function connect(name: string): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: database.url })
  await session.connect()
  sessions.set(name, session)
  return session
}

/** A worker takes its lock, as its process does at the start and when it returns. */
async function arrive(name: string): Promise<void> {
  await connect(name)
  await takeLock(name)
}

async function takeLock(name: string): Promise<void> {
  const key = name.charCodeAt(0) * 1024
  await sessions.get(name)?.query(`select unstuck.take_presence('native', $1, $2, $3)`, [name, key, GRACE_MS])
}

/** The process dies; PostgreSQL notices when the session has ended. */
async function die(name: string): Promise<void> {
  const session = sessions.get(name)
  const { rows } = (await session?.query('select pg_backend_pid() as pid').then((found) => found)) ?? {
    rows: [],
  }
  sessions.delete(name)
  await session?.end()
  const isLeft = async () =>
    (await pool.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid])).rowCount
  await expect.poll(isLeft, { interval: 10 }).toBe(0)
}

async function claimAs(name: string): Promise<string> {
  await pool.query(`select unstuck.enqueue_jobs('[{"type": "encode"}]')`)
  const { rows } = await pool.query(`select id from unstuck.claim_jobs($1, '{encode}', 1)`, [name])
  return rows[0].id
}

const look = async () =>
  (await pool.query(`select newly_gone from unstuck.look_at_workers('native')`)).rows[0].newly_gone

/** As if everything so far had happened this much earlier. */
async function elapse(ms: number): Promise<void> {
  const earlier = (column: string) => `${column} = ${column} - ${ms} * interval '1 ms'`
  await pool.query(
    `update unstuck.workers set ${['vanished_at', 'absent_at', 'seen_at'].map(earlier).join()}`,
  )
  await pool.query(`update unstuck.jobs set ${['heartbeat_at', 'started_at'].map(earlier).join()}`)
}

/** Absent at every look for the grace. */
async function lookForTheGrace(): Promise<number> {
  let gone = await look()
  for (const ms of [1_000, 1_000]) {
    await elapse(ms)
    gone += await look()
  }
  return gone
}

async function sweep(): Promise<{ id: string; action: string; reason: string }[]> {
  const { rows } = await pool.query(
    `select (unstuck.sweep_jobs('{"reaper_id": "test"}')) -> 'reaped' as reaped`,
  )
  return rows[0].reaped
}

describe('a worker whose session has ended', () => {
  it('LEASE-10 loses its jobs after the grace, by the ordinary reap', async () => {
    await arrive('a')
    const id = await claimAs('a')
    await die('a')
    expect(await lookForTheGrace()).toBe(1)
    expect(await sweep()).toMatchObject([{ id, action: 'requeued', reason: 'worker_gone' }])
    const { rows } = await pool.query(
      `select data -> 'details' as details from unstuck.events where type = 'reaper:requeued'`,
    )
    expect(rows).toMatchObject([{ details: { cause: 'worker-gone', locked_by: 'a' } }])
    const job = await pool.query('select status, crashes, lease_id from unstuck.jobs')
    expect(job.rows).toEqual([{ status: 'waiting', crashes: 1, lease_id: null }])
  })

  it('LEASE-10 keeps them until the grace is over', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    expect(await look()).toBe(0)
    await elapse(1_000)
    expect(await look()).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 keeps them if it returns, even if no look saw it', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await look()
    await elapse(1_000)
    await arrive('a')
    await die('a')
    expect(await lookForTheGrace()).toBe(1)
    expect(await sweep()).toHaveLength(1)
  })

  it('LEASE-10 is judged anew if nobody has looked for long', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await look()
    await elapse(60_000)
    expect(await look()).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 keeps a job that it claimed or beat for since', async () => {
    await arrive('a')
    const beaten = await claimAs('a')
    await claimAs('a')
    await die('a')
    await look()
    await pool.query('update unstuck.jobs set heartbeat_at = clock_timestamp() where id = $1', [beaten])
    const claimed = await claimAs('a')
    for (const ms of [1_000, 1_000]) {
      await elapse(ms)
      await look()
    }
    const taken = (await sweep()).map(({ id }) => id)
    expect(taken).toHaveLength(1)
    expect(taken).not.toContain(beaten)
    expect(taken).not.toContain(claimed)
  })

  it('LEASE-10 lives as long as it shows life over another connection', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await look()
    for (let second = 0; second < 5; second++) {
      await elapse(1_000)
      await pool.query(`select unstuck.show_life('native', 'a')`)
      expect(await look()).toBe(0)
    }
    expect(await sweep()).toEqual([])
    expect(await lookForTheGrace()).toBe(1)
    expect(await sweep()).toHaveLength(1)
  })

  it('LEASE-10 was seen in another run of the server: its lease decides', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await pool.query(`update unstuck.workers set presence_epoch = 'another'`)
    expect(await lookForTheGrace()).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 keeps its jobs if the policy turns presence off', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await lookForTheGrace()
    await pool.query(`select unstuck.write_policy('native', '{"presence": "off"}')`)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 left in order: nothing is judged', async () => {
    await arrive('a')
    await claimAs('a')
    await sessions.get('a')?.query(`select unstuck.leave_presence('native', 'a')`)
    await die('a')
    expect(await lookForTheGrace()).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 is forgotten once it holds nothing', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await lookForTheGrace()
    await sweep()
    const { rows } = await pool.query('select presence_key from unstuck.workers')
    expect(rows).toEqual([{ presence_key: null }])
  })
})

describe('a worker that is judged', () => {
  it('REAP-3 LEASE-10 with its lock, or without ever having had one, keeps its jobs', async () => {
    await arrive('a')
    await claimAs('a')
    await claimAs('foreign')
    expect(await lookForTheGrace()).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 and returns before the reap keeps its jobs', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await lookForTheGrace()
    const session = await connect('a')
    await session.query('select pg_advisory_lock_shared(unstuck.presence_class(), 97 * 1024)')
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 returns only after the transaction that takes its jobs', async () => {
    await arrive('a')
    await claimAs('a')
    await die('a')
    await lookForTheGrace()
    const reaper = await pool.connect()
    try {
      await reaper.query('begin')
      const { rowCount } = await reaper.query('select * from unstuck.reap_jobs()')
      expect(rowCount).toBe(1)
      const session = await connect('a')
      const { rows } = await session.query('select pg_backend_pid() as pid')
      const returned = takeLock('a')
      await whenBlocked(pool, rows[0].pid)
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
    for (const name of [...dying, ...staying]) await arrive(name)
    for (const name of dying) await claimAs(name)
    for (const name of dying) await die(name)
    return lookForTheGrace()
  }

  it('LEASE-10 C26 three of five are a proxy or the server: leases decide', async () => {
    expect(await vanish(['a', 'b', 'c'], ['d', 'e'])).toBe(0)
    expect(await sweep()).toEqual([])
    expect(await lookForTheGrace()).toBe(0)
  })

  it('LEASE-10 C26 all of two are a proxy or the server', async () => {
    expect(await vanish(['a', 'b'], [])).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it.each([
    ['one of two', ['a'], ['b']],
    ['two of five', ['a', 'b'], ['c', 'd', 'e']],
    ['three of six', ['a', 'b', 'c'], ['d', 'e', 'f']],
  ])('LEASE-10 %s are deaths', async (_, dying, staying) => {
    expect(await vanish(dying, staying)).toBe(dying.length)
    expect(await sweep()).toHaveLength(dying.length)
  })

  it('LEASE-10 C26 one that follows the others within a grace belongs to them', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await arrive(name)
    await claimAs('d')
    for (const name of ['a', 'b', 'c']) await die(name)
    await look()
    await elapse(1_000)
    await die('d')
    expect(await lookForTheGrace()).toBe(0)
    expect(await sweep()).toEqual([])
  })

  it('LEASE-10 C26 those that returned count as vanished', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await arrive(name)
    await claimAs('a')
    for (const name of ['a', 'b', 'c']) await die(name)
    await look()
    await arrive('b')
    await arrive('c')
    expect(await lookForTheGrace()).toBe(0)
    expect(await sweep()).toEqual([])
  })
})

it('LEASE-10 at most two sessions watch a table, and another takes the place of one that ends', async () => {
  const watch = async (name: string) => {
    const session = await connect(name)
    return (await session.query(`select unstuck.watch_workers('native') as is_watching`)).rows[0].is_watching
  }
  expect([await watch('x'), await watch('y'), await watch('z')]).toEqual([true, true, false])
  await arrive('a')
  const seen = async () =>
    (await pool.query(`select watchers from unstuck.look_at_workers('native')`)).rows[0].watchers
  expect(await seen()).toBe(2)
  await die('y')
  expect(await seen()).toBe(1)
  const again = await sessions.get('z')?.query(`select unstuck.watch_workers('native') as is_watching`)
  expect(again?.rows).toEqual([{ is_watching: true }])
})
