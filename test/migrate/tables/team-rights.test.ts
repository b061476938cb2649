// Objects in the team's schema against the rights on its table, for any PostgreSQL; test/external/teams has whole projects.
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { executorProfile } from '../../../src/profile/executor.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { deadWorkerTest, monitoring, reclaim } from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const role = `unstuck_test_${randomBytes(6).toString('hex')}`
let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await database.connect()
  await client.query(executorTables)
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: executorProfile })
  await client.query(`create role ${role}; alter table public.executor_jobs enable row level security`)
  for (const sql of [deadWorkerTest.create, reclaim, deadWorkerTest.create]) await client.query(sql)
})
afterAll(async () => {
  await client.query(`reset role; drop owned by ${role}; drop role ${role}`)
  await database.drop()
})

it('OPS-11 a view shows whoever reads it the rows that row security shows', async ({ skip }) => {
  const { rows } = await client.query<{ has: boolean }>(
    `select current_setting('server_version_num')::int >= 150000 as has`,
  )
  skip(rows[0]?.has !== true, 'PostgreSQL 14 has no views with the rights of their reader')
  await client.query(`
    grant usage on schema unstuck to ${role};
    grant select on all tables in schema unstuck, public to ${role};
    set role ${role}`)
  const counts = async () => {
    const found: unknown[] = []
    for (const look of monitoring.slice(0, 3)) found.push((await client.query(look)).rowCount)
    return found
  }
  expect(await counts()).toEqual([0, 0, 0])
  await client.query(`reset role; create policy seen on public.executor_jobs using (true); set role ${role}`)
  expect(await counts()).toEqual([1, 0, 1])
})

it('OPS-11 a function in the team’s schema is nobody’s to call but its owner’s, until it is granted', async () => {
  await client.query(`reset role; set role ${role}`)
  await expect(client.query(reclaim)).rejects.toMatchObject({ code: '42501' })
})
