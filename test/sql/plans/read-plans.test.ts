// Pages that a read touches beside a backlog. Both tables are beyond every bound of a read, so three times the rows may cost
// one more level of an index and no more.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COUNT_LIMIT } from '../../../src/store/ports/call-options.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { createLargeTable } from './million-rows.ts'
import { accessPaths, nestedPlans, pagesOf, switchOnNestedPlans } from './nested-plans.ts'

interface Bench {
  database: TestDatabase
  client: pg.Client
  waitingId: string
}

const SMALL = 12_000
const LARGE = 36_000
const limit = 1_000

let small: Bench
let large: Bench

beforeAll(async () => {
  small = await openBench(SMALL)
  large = await openBench(LARGE)
}, 120_000)

afterAll(() => Promise.all([large.database.drop(), small.database.drop()]))

/** As many waiting as finished jobs, a tenth of them dead, and the same few running ones. */
async function openBench(rows: number): Promise<Bench> {
  const database = await createLargeTable(rows * 10, { waiting: rows, running: 300, inBackoff: rows })
  const client = await database.connect()
  const found = await client.query<{ id: string }>(
    `select id from unstuck.jobs where status = 'waiting' order by id limit 1`,
  )
  await switchOnNestedPlans(client)
  return { database, client, waitingId: found.rows[0]?.id ?? '' }
}

const listed = (filter: object) => `select unstuck.list_jobs('${JSON.stringify(filter)}', 50)`

const planned = (action: string, filter: object) =>
  `select unstuck.begin_operation('${JSON.stringify({ action, filter, q: 'q', is_plan: true, count_limit: limit })}')`

const reads: [name: string, call: string | ((bench: Bench) => string)][] = [
  ['read_health', `select * from unstuck.read_health(null, ${limit})`],
  ['list_queues', `select * from unstuck.list_queues(null, ${limit})`],
  ['list_queues of one', `select * from unstuck.list_queues('{clip}', ${limit})`],
  ['read_slo', 'select * from unstuck.read_slo()'],
  ['list_workers', 'select * from unstuck.list_workers()'],
  ['list_stale_jobs', 'select * from unstuck.list_stale_jobs()'],
  ['preview_sweep', 'select * from unstuck.preview_sweep()'],
  ['list_jobs', listed({})],
  ...['waiting', 'running', 'succeeded', 'dead', 'cancelled'].map((status): [string, string] => [
    `list_jobs, ${status}`,
    listed({ status }),
  ]),
  ['list_jobs, waiting in a queue', listed({ status: 'waiting', queue: 'clip' })],
  ['list_jobs, waiting of an absent type', listed({ status: 'waiting', type: 'absent' })],
  ['list_jobs, absent type', listed({ type: 'absent' })],
  ['list_jobs, absent owner', listed({ owner: 'nobody' })],
  ['list_jobs, absent worker', listed({ worker_id: 'nobody' })],
  ['list_jobs, absent error', listed({ error_code: 'NONE' })],
  ['list_jobs, absent cause', listed({ cause_id: 'none' })],
  ['list_jobs, past their lease', listed({ is_overdue: true })],
  ['group_dead_jobs', 'select * from unstuck.group_dead_jobs()'],
  ['explain_job', ({ waitingId }) => `select unstuck.explain_job('${waitingId}')`],
  ['find_job_ids', `select * from unstuck.find_job_ids('018b')`],
  ['begin_operation, plan for an absent type', planned('discard', { type: 'absent' })],
  ['begin_operation, plan for waiting jobs', planned('cancel', { type: 'clip' })],
  ['begin_operation, plan for dead jobs', planned('retry', { status: 'dead' })],
  ['list_reclaims', 'select unstuck.list_reclaims()'],
  ['read_observations', 'select * from unstuck.read_observations()'],
]

/** The least of three calls: the first fills the caches of the session, and other test files may empty them. */
async function measure(bench: Bench, call: string | ((bench: Bench) => string)) {
  const text = typeof call === 'string' ? call : call(bench)
  const calls = [
    await nestedPlans(bench.client, text, []),
    await nestedPlans(bench.client, text, []),
    await nestedPlans(bench.client, text, []),
  ]
  return { pages: Math.min(...calls.map(pagesOf)), paths: accessPaths(calls.flat(), 'jobs') }
}

describe.each(['auto', 'force_generic_plan'])('beside a backlog, plan_cache_mode %s', (mode) => {
  beforeAll(async () => {
    for (const { client } of [small, large]) await client.query(`set plan_cache_mode = ${mode}`)
  })

  it.each(reads)('OPS-16 %s touches no more pages beside three times the jobs', async (_, call) => {
    const [few, many] = [await measure(small, call), await measure(large, call)]
    expect([...many.paths]).not.toContain('seq scan')
    expect(many.pages).toBeLessThanOrEqual(1.3 * few.pages + 100)
  })
})

it('OPS-16 read_health counts the waiting jobs once, for itself and its queues', async () => {
  const [queues, health] = [
    await measure(large, `select * from unstuck.list_queues(null, ${limit})`),
    await measure(large, `select * from unstuck.read_health(null, ${limit})`),
  ]
  const [{ pages: running }, { pages: oldest }] = [
    await measure(large, `select * from unstuck.lease_health()`),
    await measure(large, 'select * from unstuck.oldest_due()'),
  ]
  expect(health.pages).toBeLessThanOrEqual(queues.pages + running + oldest + 20)
})

describe('odd shapes', () => {
  async function withJobs(columns: string, rows: number, work: (client: pg.Client) => Promise<void>) {
    const database = await createInstalledDatabase()
    try {
      const client = await database.connect()
      await client.query(
        `insert into unstuck.jobs (id, ${columns.split('=')[0]}) select gen_random_uuid(), ${columns.split('=')[1]}
           from generate_series(1, ${rows}) n`,
      )
      await client.query('vacuum analyze unstuck.jobs')
      await switchOnNestedPlans(client)
      await work(client)
    } finally {
      await database.drop()
    }
  }

  it('OPS-16 a job of the last of 3,000 priorities is not looked for, and the answer says so', () =>
    withJobs("type, priority='clip', n", 3_000, async (client) => {
      const [health] = (await client.query('select * from unstuck.read_health()')).rows
      expect(health).toMatchObject({ waiting: 3_000, due: 3_000, at_least: ['oldest_due_ms'] })
      expect(health.oldest_due_ms).toBeGreaterThanOrEqual(0)
      expect(pagesOf(await nestedPlans(client, 'select * from unstuck.read_health()', []))).toBeLessThan(
        10_000,
      )
    }))

  it('OPS-16 of 1,200 queues 1,000 are listed, and the answer says so', () =>
    withJobs("type='queue-' || n", 1_200, async (client) => {
      const { rows } = await client.query('select * from unstuck.list_queues()')
      expect(rows).toHaveLength(1_000)
      expect(rows[0]).toMatchObject({ queue: 'queue-1', waiting: 1, at_least: [], is_complete: false })
      const [health] = (await client.query('select * from unstuck.read_health()')).rows
      expect(health).toMatchObject({
        waiting: 1_000,
        at_least: ['waiting', 'due', 'released_often', 'oldest_due_ms'],
      })
      const named = await client.query(`select * from unstuck.list_queues('{queue-999}')`)
      expect(named.rows).toMatchObject([{ queue: 'queue-999', waiting: 1, is_complete: true }])
    }))

  it('OPS-16 the limit of counts is the same in SQL and in TypeScript', async () => {
    const { rows } = await small.client.query<{ name: string; defaults: string }>(
      `select proname as name, pg_get_expr(proargdefaults, 0) as defaults from pg_proc
        where pronamespace = 'unstuck'::regnamespace and 'p_count_limit' = any (proargnames) order by proname`,
    )
    expect(rows.map(({ name }) => name)).toEqual(['list_queues', 'read_health'])
    for (const { defaults } of rows) expect(defaults).toMatch(new RegExp(`, ${COUNT_LIMIT}$`))
  })
})
