// A backend that is killed takes every session with it: the server recovers, and its start time stays (C26).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { HOUR, MINUTE, plainPolicy, SECOND, startMany } from '../../../src/store/conformance/builders.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { asAdmin } from '../../support/as-admin.ts'
import { elapse } from '../../support/postgres-harness.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let server: PostgresServer
let database: TestDatabase

beforeAll(async () => {
  server = await startPostgres({
    persistent: false,
    settings: { fsync: 'off' },
    binaries: process.env['UNSTUCK_TEST_BINARIES'],
  })
  database = await createTestDatabase(server.url)
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
}, 60_000)
afterAll(async () => {
  await database?.drop()
  await server?.stop()
})

const startOf = async () =>
  (await database.pool.query<{ at: string }>('select pg_postmaster_start_time()::text as at')).rows[0]?.at

/** As the kernel does where memory runs out. A connection is accepted again once every session is gone. */
async function killBackend(): Promise<void> {
  const [client, witness] = [await database.connect(), await database.connect()]
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const isNoticed = new Promise((resolve) => witness.once('end', resolve))
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
  await isNoticed
  const isBack = () => asAdmin(database.url, (admin) => admin.query('select 1')).then(isTrue, isFalse)
  await expect.poll(isBack, { timeout: 30_000 }).toBe(true)
}

const isTrue = () => true
const isFalse = () => false

describe('a server that recovers', () => {
  it('REAP-16 holds the jobs of a single worker whose leases ended meanwhile', async () => {
    const store = createPostgresStore({ client: database.pool, table, schema: 'unstuck' })
    await store.writePolicy({ ...plainPolicy, reapBackoffStepsMs: [HOUR] })
    await startMany(store, 3)
    await database.pool.query('call unstuck.run_sweep()')
    const startedAt = await startOf()
    await killBackend()
    expect(await startOf()).toBe(startedAt)
    await elapse(database.pool, table, 'unstuck', MINUTE + SECOND)
    await database.pool.query('call unstuck.run_sweep()')
    expect(await store.readHealth()).toMatchObject({ running: 3, holdReason: 'server-restarted' })
    await elapse(database.pool, table, 'unstuck', MINUTE + SECOND)
    await database.pool.query('call unstuck.run_sweep()')
    expect(await store.readHealth()).toMatchObject({ running: 0, holdReason: null })
  })
})
