// An upgrade bounds the attempts of a native table, and of nobody who did not ask for it.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const profile = nativeProfile('unstuck')
let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
  const target = { databaseUrl: database.url, schema: 'unstuck', profile }
  await migrateUp({ ...target, upTo: '0020_outages' })
  await database.pool.query(
    `insert into unstuck.attachments (name, profile, table_schema, table_name)
     values ('native', 'native', 'unstuck', 'jobs'), ('team_jobs', 'clip', 'public', 'team_jobs');
     insert into unstuck.policies (attachment) values ('native'), ('team_jobs')`,
  )
})
afterEach(() => database.drop())

async function upgrade(): Promise<Record<string, number>> {
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile, upTo: '0025_total_deadline' })
  const { rows } = await database.pool.query('select attachment, max_runtime_ms::int from unstuck.policies')
  return Object.fromEntries(rows.map((row) => [row.attachment, row.max_runtime_ms]))
}

it('LEASE-11 an upgrade gives the native table a day, and leaves attached tables without a total deadline', async () => {
  expect(await upgrade()).toEqual({ native: 86_400_000, team_jobs: 0 })
})

it.each(['default_deadline_ms = 0', `stage_deadlines_ms = '{"render": 172800000}'`])(
  'LEASE-11 an upgrade leaves a native table alone where %s was set',
  async (change) => {
    await database.pool.query(`update unstuck.policies set ${change}`)
    expect(await upgrade()).toEqual({ native: 0, team_jobs: 0 })
  },
)
