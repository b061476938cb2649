// The trigger of mode enforce goes with the mode, the table and the engine; an upgrade keeps it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { Profile } from '../../src/profile/profile.ts'
import { createPostgresStore, migrateDown, migrateUp } from '../../src/store/postgres/index.ts'
import { createAttachedDatabase, createInstalledDatabase, exchange } from '../support/installed-database.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { describeSchema, schemaExists } from './describe.ts'

const schema = 'unstuck'
const native = nativeProfile(schema)
let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

const up = (profile: Profile) => migrateUp({ databaseUrl: database.url, schema, profile })
const storeOf = (profile: Profile) => createPostgresStore({ client: database.pool, table: profile.tables[0] })
const triggers = async () => {
  const { rows } = await database.pool.query<{ on: string }>(
    `select tgrelid::regclass::text as on from pg_trigger where tgname = 'unstuck_fence' and tgenabled = 'O'`,
  )
  return rows.map(({ on }) => on)
}

describe('the trigger of mode enforce on a team’s table', () => {
  beforeEach(async () => {
    await database.pool.query(clipTables)
  })

  it('OPS-5 is on that table only, and leaving the mode takes it off', async () => {
    database = await exchange(database, createAttachedDatabase())
    const before = await describeSchema(database.pool, 'public')
    await storeOf(clipProfile).setMode('enforce')
    expect(await triggers()).toEqual(['jobs'])
    await storeOf(clipProfile).setMode('observe')
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
  })

  it('OPS-5 goes with the engine; the table is as it was before', async () => {
    const before = await describeSchema(database.pool, 'public')
    await up(clipProfile)
    await storeOf(clipProfile).setMode('enforce')
    await database.pool.query("insert into jobs (status) values ('processing')")
    await migrateDown({ databaseUrl: database.url, schema })
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
    expect(await schemaExists(database.pool)).toBe(false)
    await database.pool.query("update jobs set status = 'completed'")
  })

  it('OPS-7 stays through an upgrade with what was chosen, and comes back where somebody dropped it', async () => {
    database = await exchange(database, createAttachedDatabase())
    const store = storeOf(clipProfile)
    const set = await store.setMode('enforce', { onForeignSettle: 'refuse' })
    await up(clipProfile)
    expect(await triggers()).toEqual(['jobs'])
    await database.pool.query('drop trigger unstuck_fence on jobs')
    await up(clipProfile)
    expect(await triggers()).toEqual(['jobs'])
    expect(await store.readMode()).toEqual(set)
  })

  it('OPS-7 a table in another mode has none after an install', async () => {
    database = await exchange(database, createAttachedDatabase())
    await up(clipProfile)
    expect(await triggers()).toEqual([])
    expect(await storeOf(clipProfile).readMode()).toEqual({
      mode: 'reap',
      onForeignSettle: 'record',
      since: null,
    })
  })
})

it('OPS-5 native jobs that are kept have no trigger left, and a new install begins in reap', async () => {
  database = await exchange(database, createInstalledDatabase())
  const store = storeOf(native)
  await store.enqueueJobs([{ type: 'asr' }])
  await store.setMode('enforce', { onForeignSettle: 'refuse' })
  await migrateDown({ databaseUrl: database.url, schema })
  expect(await triggers()).toEqual([])
  await database.pool.query("update unstuck.jobs set status = 'running'")
  await up(native)
  expect(await store.readMode()).toMatchObject({ mode: 'reap', onForeignSettle: 'record' })
})

it('OPS-8 a table that is not attached has no mode', async () => {
  database = await exchange(database, createInstalledDatabase())
  const store = storeOf(clipProfile)
  await expect(store.readMode()).rejects.toMatchObject({ code: 'NOT_INSTALLED' })
  await expect(store.setMode('observe')).rejects.toMatchObject({ code: 'NOT_INSTALLED' })
})
