// Reads of the rescue history beside the events of finished jobs: only its own, through partial indexes.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../support/test-database.ts'
import { createLargeTable } from './million-rows.ts'
import { accessPaths, nestedPlans, pagesOf, switchOnNestedPlans } from './nested-plans.ts'

interface Bench {
  database: TestDatabase
  client: pg.Client
}

let small: Bench
let large: Bench

beforeAll(async () => {
  small = await openBench(0)
  large = await openBench(200_000)
}, 120_000)

afterAll(() => Promise.all([large.database.drop(), small.database.drop()]))

/** The same 500 rescues and acts, before and among the ordinary life of so many finished jobs. */
async function openBench(finishedRows: number): Promise<Bench> {
  const database = await createLargeTable(finishedRows)
  await database.pool.query('alter table unstuck.events set (autovacuum_enabled = off)')
  const recovery = `
    insert into unstuck.events (attachment, job_id, type, at, data)
    select 'native', id::text, told.type, now(), jsonb_build_object(
             'type', told.type, 'table', 'jobs', 'at', now(), 'details', jsonb_build_object(
               'actor', told.actor, 'locked_by', 'w', 'stage', 's', 'attempt', 1, 'reason', 'r', 'rescued_after_ms', 5))
      from (select id from unstuck.jobs where status = 'running' order by id limit 250) job,
           (values ('cancel-requested', 'ana'), ('reaper:requeued', null), ('processing', null)) told(type, actor)`
  const ordinary = `
    insert into unstuck.events (attachment, job_id, type, at, data)
    select 'native', id::text, 'complete', now(), '{"type": "complete", "table": "jobs", "details": {"attempt": 1}}'
      from unstuck.jobs where status in ('succeeded', 'dead')`
  for (const statement of [recovery, ordinary, recovery, 'vacuum (analyze) unstuck.events'])
    await database.pool.query(statement)
  const client = await database.connect()
  await switchOnNestedPlans(client)
  return { database, client }
}

/** The second of two calls: the first one fills the caches of the session. */
async function plansOf({ client }: Bench, call: string) {
  await nestedPlans(client, call, [])
  return nestedPlans(client, call, [])
}

const calls: [name: string, call: string, paths: string[]][] = [
  ['list_reclaims', 'select unstuck.list_reclaims()', ['events_of_job', 'events_reclaims']],
  [
    'list_reclaims of a worker',
    `select unstuck.list_reclaims('nobody')`,
    ['events_of_job', 'events_reclaims'],
  ],
  ['list_audit_entries', 'select * from unstuck.list_audit_entries()', ['events_by_actor']],
  [
    'list_audit_entries of somebody',
    `select * from unstuck.list_audit_entries(null, 'nobody')`,
    ['events_by_actor'],
  ],
  ['list_stale_jobs', 'select * from unstuck.list_stale_jobs()', []],
  ['list_sweeps', 'select * from unstuck.list_sweeps()', []],
]

describe('looking back', () => {
  it.each(calls)('SEE-6 %s reads events by its own indexes and no job by a scan', async (_, call, paths) => {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await large.client.query(`discard plans; set plan_cache_mode = ${mode}`)
      const plans = await plansOf(large, call)
      const used = [...accessPaths(plans, 'events')].filter(
        (path) => path.startsWith('events') || path === 'seq scan',
      )
      expect(paths).toEqual(expect.arrayContaining(used))
      expect([...accessPaths(plans, 'jobs')]).not.toContain('seq scan')
    }
  })

  it.each(calls)('SEE-6 %s costs the same beside 200,000 finished jobs as beside none', async (_, call) => {
    const [many, none] = [pagesOf(await plansOf(large, call)), pagesOf(await plansOf(small, call))]
    expect(many).toBeLessThanOrEqual(1.5 * none + 50)
  })
})
