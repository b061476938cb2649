// Claims from tables of odd shapes: a priority for every job, and a queue for every customer. Counted in pages.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { settle } from './million-rows.ts'
import { nestedPlans, pagesOf, scansOf, switchOnNestedPlans } from './nested-plans.ts'

const priorities = 20_000
const queues = 1_000

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query(`
    insert into unstuck.jobs (id, type, queue, priority, run_at)
    select unstuck.uuid_v7(), 'a', 'ranked', n, now() + interval '1 day' from generate_series(1, ${priorities}) n;
    insert into unstuck.jobs (id, type, queue, created_at)
    select unstuck.uuid_v7(), 'a', 'customer-' || n % ${queues}, now() - make_interval(secs => n)
      from generate_series(1, 10 * ${queues}) n;
    insert into unstuck.jobs (id, type, queue, created_at)
    select unstuck.uuid_v7(), 'a', 'topic-' || n % 20, now() - make_interval(secs => n)
      from generate_series(1, 10000) n;
    insert into unstuck.jobs (id, type, queue, created_at)
    select unstuck.uuid_v7(), 'a', case when n <= 70 then 'topic-3' else 'topic-4' end,
           now() - interval '1 day' - make_interval(secs => n)
      from generate_series(1, 100) n`)
  await settle(database.pool)
  client = await database.connect()
  await switchOnNestedPlans(client)
})
afterAll(() => database.drop())

const claim = 'select * from unstuck.claim_jobs($1, $2, $3)'
const customers = Array.from({ length: queues }, (_, nth) => `customer-${nth}`)

/** Counts the second call: the first one fills the session's caches. Nothing stays claimed. */
async function pagesOfClaim(names: string[], limit: number): Promise<number> {
  const params = ['w', names, limit]
  await client.query('begin')
  await nestedPlans(client, claim, params)
  await client.query('rollback; begin')
  const plans = await nestedPlans(client, claim, params)
  await client.query('rollback')
  return pagesOf(plans)
}

async function claimed(names: string[], limit: number) {
  await client.query('begin')
  const { rows } = await client.query<{ id: string; priority: number }>(claim, ['w', names, limit])
  await client.query('rollback')
  return rows
}

describe('20,000 priorities', () => {
  it('LEASE-1 a claim that finds none of them due reads little more than their index entries', async () => {
    // A probe of three levels for each priority would be 60,000.
    expect(await pagesOfClaim(['ranked'], 10)).toBeLessThanOrEqual(1_000)
  })

  it.each([50, 101, 19_000])('LEASE-1 a job that is due in priority %i is found', async (priority) => {
    await client.query(`update unstuck.jobs set run_at = null where queue = 'ranked' and priority = $1`, [
      priority,
    ])
    expect(await claimed(['ranked'], 10)).toMatchObject([{ priority }])
    await client.query(
      `update unstuck.jobs set run_at = now() + interval '1 day' where queue = 'ranked'
                         and priority = $1`,
      [priority],
    )
  })
})

describe('20 queues with a backlog', () => {
  const topics = Array.from({ length: 20 }, (_, nth) => `topic-${nth}`)

  it.each([1, 100, 150])(
    'LEASE-1 a claim of %i jobs takes those that have waited longest, most of them from two queues',
    async (limit) => {
      const { rows } = await client.query<{ id: string }>(
        `select id from unstuck.jobs where queue like 'topic-%' order by created_at, id limit $1`,
        [limit],
      )
      const ids = (await claimed(topics, limit)).map(({ id }) => id)
      expect(ids.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
    },
  )

  it('LEASE-1 a claim of 100 jobs does not read the backlog', async () => {
    // The update of 100 rows and their index entries makes up most of it. With 100 entries of each queue it was 2,006.
    expect(await pagesOfClaim(topics.slice(5), 100)).toBeLessThanOrEqual(1_700)
  })
})

describe('1,000 queues', () => {
  it('LEASE-1 a claim of 50 jobs takes those that have waited longest, over all queues', async () => {
    const { rows } = await client.query<{ id: string }>(
      `select id from unstuck.jobs where queue like 'customer-%' order by created_at, id limit 50`,
    )
    const ids = (await claimed(customers, 50)).map(({ id }) => id)
    expect(ids.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
  })

  it('LEASE-1 it reads one entry of each queue, not 50', async () => {
    // 50 entries of each queue would be 50,000 rows, in far more pages.
    expect(await pagesOfClaim(customers, 50)).toBeLessThanOrEqual(12_000)
  })

  it('LEASE-1 it searches the index once for each queue, and again for those it takes jobs from', async () => {
    await client.query('begin')
    const types = [...customers, 'a']
    const plans = await nestedPlans(client, 'select * from unstuck.claim_jobs($1, $2, 50, $3)', [
      'w',
      customers,
      types,
    ])
    await client.query('rollback')
    const scans = scansOf(plans, 'jobs_ready')
    const searches = scans.reduce((sum, scan) => sum + scan['Actual Loops'], 0)
    // 50 queues have the 50 earliest jobs: they are examined to share the limit out, and then locked.
    expect(searches).toBe(queues + 50 + 50)
    // A list of 1,000 types would be compared with each job one by one.
    expect(
      scans.map((scan) => scan.Filter ?? '').filter((filter) => /type\)?(?:::text)? = ANY/.test(filter)),
    ).toEqual([])
  })
})

describe('a table without statistics', () => {
  it('REAP-17 a prune that finds nothing to delete reads neither jobs nor events', async () => {
    const fresh = await createInstalledDatabase()
    try {
      const session = await fresh.connect()
      await session.query(`
        alter table unstuck.jobs set (autovacuum_enabled = off);
        alter table unstuck.events set (autovacuum_enabled = off);
        insert into unstuck.jobs (id, type, status, finished_at)
        select unstuck.uuid_v7(), 'a', 'succeeded', now() from generate_series(1, 20000);
        insert into unstuck.events (attachment, job_id, type, at, data)
        select 'native', n::text, 'complete', now(), '{"details": {"is_deleted": true}}'
          from generate_series(1, 20000) n`)
      await switchOnNestedPlans(session)
      // The first call of a session reads two thousand pages of the catalogs to plan its statements.
      await nestedPlans(session, 'select * from unstuck.prune_jobs()', [])
      expect(
        pagesOf(await nestedPlans(session, 'select * from unstuck.prune_jobs()', [])),
      ).toBeLessThanOrEqual(100)
    } finally {
      await fresh.drop()
    }
  })
})
