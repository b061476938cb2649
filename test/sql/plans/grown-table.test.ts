// A session keeps its plans. One that was planned while the table had a page must not read the whole table once it has
// thousands: until the next analyze a claim of 1,000 jobs took a second so, and one of a single job 0.1.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { accessPaths, nestedPlans, switchOnNestedPlans } from './nested-plans.ts'

let database: TestDatabase
let client: pg.Client

const claimed = `select array_agg(id::uuid) as ids, array_agg(lease_id) as leases from unstuck.claim_jobs('w', '{mail}', 2)`
const ids = `(select array_agg(id) from (select id from unstuck.jobs order by id limit 2) job)`
const operation = (action: string) =>
  `unstuck.begin_operation('${JSON.stringify({
    action,
    filter: { type: 'mail' },
    q: 'type:mail',
    is_plan: true,
  })}')`

const calls: [string, string][] = [
  ['claim_jobs', claimed],
  ['claim_job', `select unstuck.claim_job((${ids})[1], 'w')`],
  ['heartbeat_jobs', `select unstuck.heartbeat_jobs(ids, leases) from (${claimed}) claimed`],
  ['complete_jobs', `select unstuck.complete_jobs(ids, leases) from (${claimed}) claimed`],
  [
    'fail_jobs',
    `select unstuck.fail_jobs(jsonb_agg(jsonb_build_object('id', id, 'lease_id', lease_id, 'code', 'X')))
       from unstuck.claim_jobs('w', '{mail}', 2)`,
  ],
  ['release_jobs', `select unstuck.release_jobs(ids, leases) from (${claimed}) claimed`],
  ['cancel_jobs', `select unstuck.cancel_jobs(${ids})`],
  ['retry_jobs', `select unstuck.retry_jobs(${ids})`],
  ['discard_jobs', `select unstuck.discard_jobs(${ids})`],
  ['run_jobs_now', `select unstuck.run_jobs_now(${ids})`],
  ['sweep_jobs', 'select * from unstuck.sweep_jobs()'],
  ['begin_operation cancel', `select ${operation('cancel')}`],
  ['begin_operation retry', `select ${operation('retry')}`],
]

beforeAll(async () => {
  database = await createInstalledDatabase()
  client = await database.connect()
  await insert(10)
  await client.query('vacuum analyze unstuck.jobs')
  // Enough for PostgreSQL to settle on a plan.
  for (let round = 0; round < 7; round++) {
    for (const [, call] of calls) {
      await client.query('begin')
      await client.query(call)
      await client.query('rollback')
    }
  }
  await insert(5_000)
  await switchOnNestedPlans(client)
})
afterAll(() => database.drop())

const insert = (count: number) =>
  client.query(
    `insert into unstuck.jobs (id, type, created_at)
     select unstuck.uuid_v7(clock_timestamp()), 'mail', now() from generate_series(1, $1)`,
    [count],
  )

describe('after a table has grown', () => {
  it.each(calls)('LEASE-1 %s still goes by an index', async (_, call) => {
    const plans = await nestedPlans(client, call, [])
    const inside = plans.slice(0, -1)
    expect(inside).not.toEqual([])
    expect([...accessPaths(inside, 'jobs')]).not.toContain('seq scan')
  })
})
