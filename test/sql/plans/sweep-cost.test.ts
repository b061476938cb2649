// A sweep costs what it changes. Its pages are counted beside half a million jobs and beside none; ADR 0021 has the numbers
// for 12 million.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../support/test-database.ts'
import { createLargeTable, settle } from './million-rows.ts'
import { accessPaths, nestedPlans, pagesOf, switchOnNestedPlans } from './nested-plans.ts'

const reaper = JSON.stringify({ reaper_id: 'r', last_swept_at: '2026-01-01T00:00:00Z', elapsed_ms: 1 })
const sweep = 'select unstuck.sweep_jobs($1)'
/** By a reaper, and by hand. */
const callers = [reaper, null]
const most = 200
/** Levels of the indexes that a sweep descends. */
const depth = 10

interface Table {
  database: TestDatabase
  client: pg.Client
}

async function openTable(...rows: Parameters<typeof createLargeTable>): Promise<Table> {
  const database = await createLargeTable(...rows)
  const client = await database.connect()
  await switchOnNestedPlans(client)
  return { database, client }
}

let large: Table
let empty: Table
beforeAll(async () => {
  large = await openTable(300_000, { waiting: 200_000, running: 0, inBackoff: 20_000 })
  empty = await openTable(0, { waiting: 0, running: 0, inBackoff: 0 })
}, 120_000)
afterAll(async () => {
  await large?.database.drop()
  await empty?.database.drop()
})

/** Plans of the second call: the first one fills the session's caches. */
async function plansOf({ client }: Table, call: string, params: unknown[] = []) {
  await nestedPlans(client, call, params)
  return nestedPlans(client, call, params)
}

const pages = async (table: Table, call: string, params: unknown[] = []) =>
  pagesOf(await plansOf(table, call, params))

describe('a sweep beside 220,000 waiting and 300,000 finished jobs', () => {
  it.each(['auto', 'force_generic_plan'])(
    'REAP-17 touches at most 200 pages if it finds nothing, with plan_cache_mode %s',
    async (mode) => {
      await large.client.query(`discard plans; set plan_cache_mode = ${mode}`)
      for (const by of callers) {
        const plans = await plansOf(large, sweep, [by])
        expect([...accessPaths(plans, 'jobs')]).not.toContain('jobs_ready')
        expect(pagesOf(plans)).toBeLessThanOrEqual(most)
      }
    },
  )

  it('REAP-17 touches as many pages as beside no jobs at all', async () => {
    for (const by of callers)
      expect(await pages(large, sweep, [by])).toBeLessThanOrEqual((await pages(empty, sweep, [by])) + depth)
  })

  it('REAP-17 touches at most 200 pages in mode observe, and so does a preview', async () => {
    expect(await pages(large, 'select * from unstuck.preview_sweep()')).toBeLessThanOrEqual(most)
    await large.client.query(`select * from unstuck.set_mode('observe')`)
    expect(await pages(large, sweep, [reaper])).toBeLessThanOrEqual(most)
    await large.client.query(`select * from unstuck.set_mode('reap')`)
  })

  it('OPS-2 retention with nothing to delete touches as many pages as beside no jobs at all', async () => {
    const prune = 'select * from unstuck.prune_jobs(3650)'
    const plans = await plansOf(large, prune)
    expect([...accessPaths(plans, 'jobs')]).toContain('jobs_ended')
    expect(pagesOf(plans)).toBeLessThanOrEqual((await pages(empty, prune)) + depth)
  })

  it('REAP-17 beside a recent sweep touches no job', async () => {
    await large.client.query(sweep, [reaper])
    const again = JSON.stringify({ reaper_id: 'other', interval_ms: 3_600_000 })
    const plans = await plansOf(large, sweep, [again])
    expect([...accessPaths(plans, 'jobs')]).toEqual([])
    expect(pagesOf(plans)).toBeLessThanOrEqual(most / 10)
  })

  it('REAP-17 touches no waiting job if it takes one back', async () => {
    await large.database.pool.query(
      `insert into unstuck.jobs
         (id, type, status, worker_id, lease_id, lease_expires_at, heartbeat_at, started_at, attempt)
       values (gen_random_uuid(), 'clip', 'running', 'w', gen_random_uuid(), now() - interval '1 h',
               now() - interval '2 h', now(), 1)`,
    )
    await settle(large.database.pool)
    const plans = await plansOf(large, sweep, [reaper])
    expect([...accessPaths(plans, 'jobs')].toSorted()).toEqual(['jobs_pkey', 'jobs_running'])
    expect(pagesOf(plans)).toBeLessThanOrEqual(2 * most)
  })
})
