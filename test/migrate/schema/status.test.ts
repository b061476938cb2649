// `migrateStatus` before and after an install, and of a changed one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import { type MigrationStatus, migrateStatus, migrateUp } from '../../../src/store/postgres/index.ts'
import { readSqlFolder } from '../../../src/store/postgres/sql-files.ts'
import {
  createAttachedDatabase,
  createInstalledDatabase,
  exchange,
} from '../../support/installed-database.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { schemaExists } from '../describe.ts'

const schema = 'unstuck'
const native = nativeProfile(schema)
const migrationNames = readSqlFolder('migrations').map(({ name }) => name)

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
})
afterEach(() => database.drop())

const up = (profile: Profile) => migrateUp({ databaseUrl: database.url, schema, profile })
const status = (profile: Profile) => migrateStatus({ databaseUrl: database.url, schema, profile })
const states = ({ tables }: MigrationStatus) =>
  Object.fromEntries(tables.map(({ attachment, state }) => [attachment, state]))

describe('migrateStatus', () => {
  it('OPS-7 says of an empty database that everything is pending, and writes nothing', async () => {
    expect(await status(clipProfile)).toEqual({
      isInstalled: false,
      applied: [],
      pending: migrationNames,
      unknown: [],
      engine: 'not installed',
      tables: [
        { attachment: 'jobs', table: 'public.jobs', state: 'not attached' },
        { attachment: 'asr_jobs', table: 'public.asr_jobs', state: 'not attached' },
      ],
      isCurrent: false,
    })
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it.each([
    { name: 'native', profile: native },
    { name: 'clip', profile: clipProfile },
  ])('OPS-7 says after an install of $name that all is current', async ({ profile }) => {
    await up(profile)
    const answer = await status(profile)
    expect(answer).toMatchObject({ isInstalled: true, applied: migrationNames, pending: [], isCurrent: true })
    expect(new Set(Object.values(states(answer)))).toEqual(new Set(['current']))
  })

  it('OPS-7 distinguishes an attached table from others', async () => {
    const [jobs] = clipProfile.tables
    await up({ ...clipProfile, tables: [jobs] })
    expect(states(await status(clipProfile))).toEqual({ jobs: 'current', asr_jobs: 'not attached' })
    await up(clipProfile)
    expect(states(await status(clipProfile))).toEqual({ jobs: 'current', asr_jobs: 'current' })
  })

  it('OPS-7 sees an index that was dropped by hand, and the next run builds it again', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query('drop index unstuck_jobs_ready')
    expect(states(await status(clipProfile))).toEqual({
      jobs: 'indexes missing or invalid',
      asr_jobs: 'current',
    })
    await up(clipProfile)
    expect((await status(clipProfile)).isCurrent).toBe(true)
  })

  it('OPS-7 sees a dropped index of the native table, and the next run builds it again', async () => {
    database = await exchange(database, createInstalledDatabase())
    await database.pool.query('drop index unstuck.jobs_running')
    expect(states(await status(native))).toEqual({ native: 'indexes missing or invalid' })
    await up(native)
    expect((await status(native)).isCurrent).toBe(true)
  })

  it('OPS-7 sees functions that another version rendered, and the next run renders them again', async () => {
    database = await exchange(database, createInstalledDatabase())
    await database.pool.query(`update unstuck.attachments set functions_digest = 'of another version'`)
    expect(states(await status(native))).toEqual({ native: 'functions differ' })
    await up(native)
    expect((await status(native)).isCurrent).toBe(true)
  })

  it('OPS-7 names a migration from a newer version, and migrateUp refuses to go back', async () => {
    database = await exchange(database, createInstalledDatabase())
    await database.pool.query(`insert into unstuck.migrations (name) values ('9999_from_the_future')`)
    expect(await status(native)).toMatchObject({ unknown: ['9999_from_the_future'], isCurrent: false })
    await expect(up(native)).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      message: 'migration 9999_from_the_future is not known to this version of unstuck',
    })
  })

  it('OPS-7 says which migrations are pending after an install by an older version', async () => {
    database = await exchange(database, createInstalledDatabase())
    await database.pool.query('delete from unstuck.migrations where name = $1', [migrationNames.at(-1)])
    expect(await status(native)).toMatchObject({
      applied: migrationNames.slice(0, -1),
      pending: migrationNames.slice(-1),
      isCurrent: false,
    })
  })

  it('OPS-7 sees a function that was changed by hand', async () => {
    database = await exchange(database, createInstalledDatabase())
    await database.pool.query(`create or replace function unstuck.job_record(p_id uuid) returns jsonb
                               language sql stable as 'select null::jsonb'`)
    expect(states(await status(native))).toEqual({ native: 'functions differ' })
  })

  it('OPS-7 sees a function that was dropped by hand', async () => {
    database = await exchange(database, createInstalledDatabase())
    await database.pool.query('drop function unstuck.read_health(jsonb, int)')
    expect(states(await status(native))).toEqual({ native: 'functions differ' })
  })

  it('OPS-7 sees a shared function that is not of this version', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query(`create or replace function unstuck.iso_utc(p_at timestamptz) returns text
                               language sql stable as 'select p_at::text'`)
    expect(await status(clipProfile)).toMatchObject({ engine: 'functions differ', isCurrent: false })
    await up(clipProfile)
    expect(await status(clipProfile)).toMatchObject({ engine: 'current', isCurrent: true })
  })

  it('OPS-7 sees a column that was dropped by hand', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query('alter table jobs drop column finished_lease_id')
    expect(states(await status(clipProfile))).toEqual({ jobs: 'columns missing', asr_jobs: 'current' })
    await up(clipProfile)
    expect((await status(clipProfile)).isCurrent).toBe(true)
  })
})
