// Roles of a running installation, after an upgrade that brings tables which their calls need.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const granted = `unstuck_test_${randomBytes(6).toString('hex')}`
const stranger = `unstuck_test_${randomBytes(6).toString('hex')}`
let database: TestDatabase

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query(`
    create role ${granted}; create role ${stranger};
    alter default privileges grant all on tables to ${stranger};
    grant select, insert on unstuck.deliveries, unstuck.dedupe_locks, unstuck.kept_workers to ${granted}`)
})
afterAll(async () => {
  await database.pool.query(`drop owned by ${granted}, ${stranger}; drop role ${granted}, ${stranger}`)
  await database.drop()
})

async function rightsOf(role: string, table: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ right: string }>(
    `select privilege as right
       from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) privilege
      where has_table_privilege($1, $2, privilege)`,
    [role, `unstuck.${table}`],
  )
  return rows.map(({ right }) => right)
}

it.each([
  ['0012_waits', ['waits']],
  ['0013_retry_and_time', ['dedupe_windows']],
  ['0016_groups', ['queue_limits', 'claim_locks']],
])(
  'OPS-7 C20 the tables of %s come with the rights on the table whose callers use them',
  async (name, tables) => {
    for (const table of tables) await database.pool.query(`drop table unstuck.${table}`)
    await database.pool.query('delete from unstuck.migrations where name = $1', [name])
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: nativeProfile('unstuck') })
    for (const table of tables) {
      expect([table, await rightsOf(granted, table)]).toEqual([table, ['SELECT', 'INSERT']])
      expect([table, await rightsOf(stranger, table)]).toEqual([table, []])
    }
  },
)
