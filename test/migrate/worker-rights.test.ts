// A role of workers that was granted its rights before an upgrade.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const schema = 'unstuck'
const profile = nativeProfile(schema)
const worker = `unstuck_test_${randomBytes(6).toString('hex')}`
const reader = `${worker}_reader`
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await migrateUp({ databaseUrl: database.url, schema, profile, upTo: '0030_locked_tables' })
  await database.pool.query(`
    create role ${worker}; create role ${reader};
    grant usage on schema unstuck to ${worker}, ${reader};
    grant select on unstuck.pauses to ${reader};
    grant select, insert, update, delete on unstuck.pauses to ${worker}`)
  await migrateUp({ databaseUrl: database.url, schema, profile })
})
afterAll(async () => {
  for (const role of [worker, reader]) await database.pool.query(`drop owned by ${role}; drop role ${role}`)
  await database.drop()
})

it.each([
  ['may write what claims write since', worker, true],
  ['that may only read does not get to write it', reader, false],
])('OPS-7 C20 one %s', async (_, role, mayWrite) => {
  const { rows } = await database.pool.query<{ reads: boolean; writes: boolean }>(
    `select has_table_privilege($1, 'unstuck.kept_workers', 'select') as reads,
            has_table_privilege($1, 'unstuck.kept_workers', 'insert')
              and has_table_privilege($1, 'unstuck.kept_workers', 'update')
              and has_table_privilege($1, 'unstuck.kept_workers', 'delete') as writes`,
    [role],
  )
  expect(rows).toEqual([{ reads: true, writes: mayWrite }])
})
