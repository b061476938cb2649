// A pooler in transaction mode is no place for an install: it says so before anything is changed.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../../cli/support/run-command.ts'
import { describeSchema, schemaExists } from '../../migrate/describe.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { throughPgBouncer } from './through-pgbouncer.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
})
afterAll(() => database.drop())

it('OPS-7 an attach through PgBouncer is refused with the remedy, and the plan works through it', async () => {
  const before = await describeSchema(database.pool, 'public')
  const env = { DATABASE_URL: throughPgBouncer(database.url), UNSTUCK_PROFILE: 'clip' }
  const plan = await runCommand(['attach', '--plan'], env)
  expect([plan.exitCode, plan.stderr]).toEqual([0, ''])
  const refused = await runCommand(['attach'], env)
  expect([refused.exitCode, refused.stderr]).toEqual([
    3,
    expect.stringContaining('A pooler answers here: set UNSTUCK_MIGRATE_URL to a direct address.'),
  ])
  expect(await schemaExists(database.pool)).toBe(false)
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
  const attached = await runCommand(['attach'], { ...env, UNSTUCK_MIGRATE_URL: database.url })
  expect(attached.exitCode).toBe(0)
})
