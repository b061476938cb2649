// Reads of a claim beside many groups, and beside many jobs of one.
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { accessPaths, nestedPlans, pagesOf, switchOnNestedPlans } from './nested-plans.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createInstalledDatabase()
  client = await database.connect()
  await switchOnNestedPlans(client)
})

afterAll(() => database.drop())

/** Jobs of a queue: so many groups with so many jobs each, and jobs without a group. */
async function fill(queue: string, groups: number, jobs: number, others: number): Promise<void> {
  await database.pool.query(
    `insert into unstuck.jobs (id, type, queue, group_key, created_at)
     select gen_random_uuid(), 'job', $1, 'group ' || grouped, now() - interval '1 hour'
       from generate_series(1, $2::int) grouped, generate_series(1, $3::int)`,
    [queue, groups, jobs],
  )
  await database.pool.query(
    `insert into unstuck.jobs (id, type, queue) select gen_random_uuid(), 'job', $1 from generate_series(1, $2::int)`,
    [queue, others],
  )
  await database.pool.query('vacuum analyze unstuck.jobs')
}

async function pagesOfClaim(queue: string): Promise<number> {
  const call = [`select * from unstuck.claim_jobs('w', array[$1::text], 10)`, [queue]] as const
  await nestedPlans(client, call[0], [...call[1]])
  const plans = await nestedPlans(client, call[0], [...call[1]])
  expect([...accessPaths(plans, 'jobs')]).not.toContain('seq scan')
  return pagesOf(plans)
}

describe('a claim with groups', () => {
  it.each([
    ['in turns', null, null],
    ['with a limit', 2, null],
    ['in order', 1, 'fifo'],
  ])('RATE-7 beside 10,000 groups %s it reads few pages', async (queue, places, order) => {
    await fill(queue, 10_000, 1, 0)
    await database.pool.query('select unstuck.limit_queue($1, null, $2, $3)', [queue, places, order])
    // 10 jobs of 10 groups, of 40 that were examined. One page for each job of the queue would be 10,000.
    expect(await pagesOfClaim(queue)).toBeLessThanOrEqual(1_500)
  })

  it('RATE-7 beside 100,000 jobs of one group it reads few pages, and finds the others', async () => {
    await fill('large', 1, 100_000, 1)
    await fill('large', 3, 1, 0)
    await database.pool.query(`select unstuck.limit_queue('large', null, 1, null)`)
    expect(await pagesOfClaim('large')).toBeLessThanOrEqual(1_500)
    await database.pool.query(`select from unstuck.claim_jobs('w', array['large'], 10)`)
    const { rows } = await database.pool.query(
      `select group_key from unstuck.jobs where queue = 'large' and status = 'running' order by 1`,
    )
    expect(rows.map(({ group_key: group }) => group)).toEqual(['group 1', 'group 2', 'group 3', null])
    // All that waits is blocked.
    expect(await pagesOfClaim('large')).toBeLessThanOrEqual(500)
  })

  it.each([
    ['busy', null],
    ['busy in order', 'fifo'],
  ])('RATE-7 it reads what runs once, not for each group (%s)', async (queue, order) => {
    await database.pool.query('delete from unstuck.jobs')
    await fill(queue, 3_000, 1, 0)
    await database.pool.query('select unstuck.limit_queue($1, null, 1, $2)', [queue, order])
    // Statistics from when nothing ran make the index of running jobs look as cheap as that of groups.
    await database.pool.query(`update unstuck.jobs set status = 'running' where queue = $1`, [queue])
    await database.pool.query(
      `insert into unstuck.jobs (id, type, queue, group_key)
       select gen_random_uuid(), 'job', $1, 'group ' || n from generate_series(1, 3000) n`,
      [queue],
    )
    // For each of the groups it took 100,000 pages and more. 12,000 to 41,000 now, by how many dead entries a vacuum has left.
    expect(await pagesOfClaim(queue)).toBeLessThanOrEqual(60_000)
  })

  it('RATE-7 it does not read the jobs of a group that are not due', async () => {
    await database.pool.query('delete from unstuck.jobs')
    await fill('later', 2_000, 1, 0)
    await database.pool.query(
      `insert into unstuck.jobs (id, type, queue, group_key, run_at)
       select gen_random_uuid(), 'job', 'later', 'group 0', now() + interval '1 hour' from generate_series(1, 20000)`,
    )
    expect(await pagesOfClaim('later')).toBeLessThanOrEqual(2_000)
  })

  it('RATE-7 a job without a group is found behind 100,000 that are blocked', async () => {
    await fill('mixed', 1, 100_000, 0)
    await database.pool.query(`select unstuck.limit_queue('mixed', null, 1, null)`)
    await database.pool.query(`select from unstuck.claim_jobs('w', array['mixed'], 1)`)
    await fill('mixed', 0, 0, 1)
    expect(await pagesOfClaim('mixed')).toBeLessThanOrEqual(500)
    const { rows } = await database.pool.query(`select id from unstuck.claim_jobs('w', array['mixed'], 5)`)
    expect(rows).toHaveLength(1)
  })

  it('RATE-7 behind 20,000 priorities of groups in backoff it finds the jobs that are due', async () => {
    const firstDue = async () =>
      (await database.pool.query(`select priority from unstuck.claim_jobs('w', '{deep}', 1)`)).rows
    const hasDue = async () =>
      (await database.pool.query(`select unstuck.has_due_jobs('{deep}') as is_due`)).rows[0].is_due
    await database.pool.query(
      `insert into unstuck.jobs (id, type, queue, group_key, priority, run_at)
       select gen_random_uuid(), 'job', 'deep', 'group ' || n, n, now() + interval '1 hour' from generate_series(1, 20000) n`,
    )
    await database.pool.query('vacuum analyze unstuck.jobs')
    expect(await firstDue()).toEqual([])
    expect(await hasDue()).toBe(false)
    // A step for each priority took 15,000 pages and more.
    expect(await pagesOfClaim('deep')).toBeLessThanOrEqual(4_000)
    await database.pool.query(
      `insert into unstuck.jobs (id, type, queue, group_key, priority)
       values (gen_random_uuid(), 'job', 'deep', null, 20001), (gen_random_uuid(), 'job', 'deep', 'due', 20002)`,
    )
    expect(await hasDue()).toBe(true)
    expect([...(await firstDue()), ...(await firstDue()), ...(await firstDue())]).toEqual([
      { priority: 20_001 },
      { priority: 20_002 },
    ])
  })
})
