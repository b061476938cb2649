// A database of an earlier version, whose native table had the times that attached tables still have.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { attachedPolicy, nativePolicy } from '../../../src/policy/policy.ts'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { readSqlFolder } from '../../../src/store/postgres/sql-files.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const schema = 'unstuck'
const profile = nativeProfile(schema)
const [table] = profile.tables
const migrations = readSqlFolder('migrations').filter(({ name }) => name !== '0006_native_defaults')

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  await migrateUp({ databaseUrl: database.url, schema, profile, migrations })
  await createPostgresStore({ client: database.pool, table }).writePolicy(attachedPolicy)
})
afterEach(() => database.drop())

const change = (policy: string) => database.pool.query(`select unstuck.write_policy('native', '${policy}')`)
const upgrade = () => migrateUp({ databaseUrl: database.url, schema, profile })
const readPolicy = () => createPostgresStore({ client: database.pool, table }).readPolicy()

it('OPS-7 LEASE-3 REAP-5 REAP-6 an upgrade gives the native table its new times', async () => {
  expect(await readPolicy()).toEqual(attachedPolicy)
  await upgrade()
  expect(await readPolicy()).toEqual(nativePolicy)
})

it('OPS-7 an upgrade keeps other settings that an operator changed', async () => {
  await change('{"max_attempts": 7, "stage_leases_ms": {"asr": 900000}}')
  await upgrade()
  expect(await readPolicy()).toEqual({ ...nativePolicy, maxAttempts: 7, stageLeasesMs: { asr: 900_000 } })
})

it.each([
  ['the lease', '{"default_lease_ms": 600000}', { defaultLeaseMs: 600_000 }],
  ['the heartbeat', '{"heartbeat_ms": 60000}', { heartbeatMs: 60_000 }],
  ['the sweep', '{"sweep_interval_ms": 30000}', { sweepIntervalMs: 30_000 }],
  ['the backoff', '{"reap_backoff_steps_ms": [5000]}', { reapBackoffStepsMs: [5_000] }],
  ['the base', '{"reap_backoff_base_ms": 5000}', { reapBackoffBaseMs: 5_000 }],
  ['the cap', '{"reap_backoff_max_ms": 700000}', { reapBackoffMaxMs: 700_000 }],
])('OPS-7 an upgrade changes no time if an operator changed %s', async (_, changed, own) => {
  await change(changed)
  await upgrade()
  expect(await readPolicy()).toEqual({ ...attachedPolicy, ...own })
})

it('OPS-7 REAP-5 an upgrade leaves the times of attached tables alone', async () => {
  await database.pool.query(clipTables)
  await migrateUp({ databaseUrl: database.url, schema, profile: clipProfile, migrations })
  await migrateUp({ databaseUrl: database.url, schema, profile: clipProfile })
  for (const attached of clipProfile.tables)
    expect(await createPostgresStore({ client: database.pool, table: attached }).readPolicy()).toEqual(
      attached.policy,
    )
})

it('OPS-7 the defaults of the columns are those of the native policy', async () => {
  await upgrade()
  await database.pool.query(`
    delete from unstuck.policies where attachment = 'native';
    insert into unstuck.policies (attachment) values ('native')`)
  expect(await readPolicy()).toEqual(nativePolicy)
})
