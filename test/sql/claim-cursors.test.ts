// A claim that starts where the last one ended.
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { nestedPlans, pagesOf, switchOnNestedPlans } from './plans/nested-plans.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createInstalledDatabase()
  client = await database.connect()
})
beforeEach(() => client.query('truncate unstuck.jobs cascade'))
afterAll(() => database.drop())

const insert = (queue: string, priority: number, minutesAgo: number) =>
  client.query(
    `insert into unstuck.jobs (id, type, priority, created_at)
     values (gen_random_uuid(), $1, $2, now() - $3 * interval '1 minute')`,
    [queue, priority, minutesAgo],
  )

const marksOf = (queue: string, priority: number, minutesAgo: number) =>
  JSON.stringify({ [queue]: { [priority]: new Date(Date.now() - minutesAgo * 60_000) } })

async function claim(queues: string[], marks: string | null): Promise<string[]> {
  const { rows } = await client.query<{ job: string }>(
    `select type || ' ' || priority || ' ' || round(extract(epoch from now() - created_at) / 60) as job
       from unstuck.claim_jobs('w', $1, 100, p_cursors => $2)`,
    [queues, marks],
  )
  return rows.map(({ job }) => job)
}

it('LEASE-1 a mark passes over what was due before it in its queue and priority, and nothing else', async () => {
  for (const minutesAgo of [30, 20, 10])
    for (const queue of ['mail', 'asr']) await insert(queue, 0, minutesAgo)
  await insert('mail', -5, 40)
  await insert('mail', 5, 40)
  const claimed = await claim(['mail', 'asr'], marksOf('mail', 0, 25))
  expect(claimed.toSorted()).toEqual(
    ['asr 0 10', 'asr 0 20', 'asr 0 30', 'mail -5 40', 'mail 0 10', 'mail 0 20', 'mail 5 40'].toSorted(),
  )
  expect(await claim(['mail', 'asr'], null)).toEqual(['mail 0 30'])
})

it('LEASE-1 marks of priorities without jobs, and of queues that are not asked for, change nothing', async () => {
  await insert('mail', 1, 10)
  expect(await claim(['mail'], marksOf('mail', 7, 0))).toEqual(['mail 1 10'])
  await insert('mail', 1, 10)
  expect(await claim(['mail'], marksOf('asr', 1, 0))).toEqual(['mail 1 10'])
})

it('LEASE-1 priorities whose jobs are all in backoff are passed over, whatever other queues and marks have there', async () => {
  for (const priority of [1, 2, 3, 5]) await insert('mail', priority, -60)
  await insert('asr', 2, 10)
  await insert('mail', 4, 20)
  await insert('mail', 6, 30)
  await insert('mail', 6, -60)
  const { rows } = await client.query<{ priority: number | null }>(
    `select priority from unnest(array[0, 4, 6]) after, unstuck.claim_level('{mail}', after, $1)`,
    [null],
  )
  expect(rows.map(({ priority }) => priority)).toEqual([4, 6, null])
  expect(await claim(['mail', 'asr'], marksOf('mail', 5, 0))).toEqual(['asr 2 10', 'mail 4 20', 'mail 6 30'])
  expect(await claim(['mail', 'asr'], null)).toEqual([])
})

it.each([
  '[]',
  '{"mail": 1}',
  '{"mail": {"x": "2026-01-01T00:00:00Z"}}',
  '{"mail": {"0": "soon"}}',
  '{"mail": {"0": 5}}',
])('LEASE-1 marks that are none are refused: %s', async (marks) => {
  await expect(claim(['mail'], marks)).rejects.toMatchObject({ code: 'UN001', message: /^marks: got / })
})

it('LEASE-1 while somebody holds a transaction open, a claim from its mark does not walk past the jobs that were claimed', async () => {
  const holder = await database.connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select pg_current_xact_id()')
  await client.query(
    `insert into unstuck.jobs (id, type, created_at)
     select gen_random_uuid(), 'mail', now() - interval '1 hour' + n * interval '1 millisecond'
       from generate_series(1, 20000) n`,
  )
  let newest = new Date(0)
  for (let round = 0; round < 38; round++) {
    const { rows } = await client.query<{ id: string; lease_id: string; created_at: Date }>(
      `select id, lease_id, created_at from unstuck.claim_jobs('w', '{mail}', 500)`,
    )
    for (const { created_at: createdAt } of rows) if (createdAt > newest) newest = createdAt
    await client.query('select unstuck.complete_jobs($1, $2)', [
      rows.map(({ id }) => id),
      rows.map(({ lease_id: leaseId }) => leaseId),
    ])
  }
  await switchOnNestedPlans(client)
  const pages = async (marks: string | null) =>
    pagesOf(
      await nestedPlans(client, `select unstuck.claim_jobs('w', '{mail}', 10, p_cursors => $1)`, [marks]),
    )
  const fromTheMark = await pages(JSON.stringify({ mail: { 0: newest } }))
  expect(await pages(null)).toBeGreaterThan(4 * fromTheMark)
  await holder.query('rollback')
})
