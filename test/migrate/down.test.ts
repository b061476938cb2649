// Taking it out again: the application's tables as they were, its rows untouched, native jobs kept unless purged.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { Profile } from '../../src/profile/profile.ts'
import { migrateDown, migrateStatus, migrateUp } from '../../src/store/postgres/index.ts'
import { createAttachedDatabase, createInstalledDatabase, exchange } from '../support/installed-database.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { describeFreshInstall, describeRows, describeSchema, schemaExists } from './describe.ts'
import { hurry } from './hurry.ts'

const schema = 'unstuck'
const native = nativeProfile(schema)

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await database.drop()
})

const up = (profile: Profile) => migrateUp({ databaseUrl: database.url, schema, profile })
const down = (isPurge = false) => migrateDown({ databaseUrl: database.url, schema, isPurge })

const clipRows = `
  insert into jobs (status, payload, attempt_count) values ('queued', '{"n": 1}', 0), ('failed', '{"n": 2}', 3);
  insert into asr_jobs (status, video_url) values ('processing', 'https://example.com/1');
  insert into job_events (job_id, data) select id, '{"type": "queued"}' from jobs`

describe('migrateDown of the clip tables', () => {
  beforeEach(async () => {
    await database.pool.query(clipTables + clipRows)
  })
  const startAttached = async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query(clipRows)
  }

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
    await startAttached()
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

  it('OPS-5 reports each step, and can be followed by a new install', async () => {
    await startAttached()
    const steps: string[] = []
    await migrateDown({ databaseUrl: database.url, schema, onStep: (step) => steps.push(step) })
    expect(steps).toEqual(['detach public.jobs', 'detach public.asr_jobs', 'remove the engine'])
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
    await startAttached()
    const read = async () => [
      await describeSchema(database.pool, 'public'),
      await describeSchema(database.pool, schema),
    ]
    const before = await read()
    const reader = await database.connect()
    await reader.query('begin')
    await reader.query('select from jobs')
    hurry()
    await expect(migrateDown({ databaseUrl: database.url, schema, lockTimeoutMs: 20 })).rejects.toMatchObject(
      {
        code: 'LOCK_TIMEOUT',
        message: 'public.jobs: a lock was not granted within 20 ms, 10 times; nothing was changed',
      },
    )
    expect(await read()).toEqual(before)
    await reader.query('rollback')
    expect(await down()).toBe(true)
  })

  it('OPS-5 waits for a lock by giving way, and goes on where a run stopped', async () => {
    hurry()
    await startAttached()
    const reader = await database.connect()
    await reader.query('begin')
    await reader.query('select from asr_jobs')
    const quick = { databaseUrl: database.url, schema, lockTimeoutMs: 20 }
    await expect(migrateDown(quick)).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      message: expect.stringMatching(/^public\.asr_jobs: .*; only public\.jobs was taken off before$/),
    })
    const onStep = (step: string) => {
      if (step.startsWith('a lock')) void reader.query('rollback')
    }
    expect(await migrateDown({ ...quick, onStep })).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it('OPS-5 finds a table though it was renamed, and does without one that was dropped', async () => {
    const before = (await describeSchema(database.pool, 'public')).filter((line) =>
      line.startsWith('column jobs.'),
    )
    await up(clipProfile)
    await database.pool.query('alter table jobs rename to tasks; drop table asr_jobs')
    expect(await down()).toBe(true)
    const after = (await describeSchema(database.pool, 'public')).filter((line) =>
      line.startsWith('column tasks.'),
    )
    expect(after).toEqual(before.map((line) => line.replace('jobs.', 'tasks.')))
  })

  it.each([
    ['a function', 'create view report as select * from unstuck.read_health()'],
    ['a table', 'create view report as select * from unstuck.events'],
    ['a column', 'create view report as select fence from jobs'],
  ])('OPS-5 does not drop what the team built upon %s of ours: it names it and stops', async (_, view) => {
    await startAttached()
    await database.pool.query(view)
    await expect(down()).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      hint: expect.stringMatching(/view public\.report depends on .* Drop it first/),
    })
    await database.pool.query('select * from report; drop view report')
    expect(await down()).toBe(true)
  })

  it('OPS-5 takes events of attached tables with it, and keeps those of native jobs', async () => {
    await startAttached()
    await database.pool.query(`select from unstuck.enqueue_jobs('[{"type": "a"}]')`)
    await database.pool.query(`select from unstuck.cancel_jobs(array(select id from unstuck.jobs))`)
    await database.pool.query(`select from unstuck.cancel_jobs__jobs(array(select id from jobs))`)
    await down()
    const { rows } = await database.pool.query('select distinct attachment from unstuck.events')
    expect(rows).toEqual([{ attachment: 'native' }])
  })
})

describe('a schema of the team’s own', () => {
  const upInApp = () => migrateUp({ databaseUrl: database.url, schema: 'app', profile: nativeProfile('app') })

  it('OPS-5 keeps everything that migrateDown did not make', async () => {
    await database.pool.query(`
      create schema app;
      create type app.mood as enum ('good');
      create table app.customers (id int primary key, mood app.mood);
      create function app.greeting() returns text language sql as $$ select 'hello' $$;
      insert into app.customers values (1, 'good')`)
    const before = await describeSchema(database.pool, 'app')
    await upInApp()
    await migrateDown({ databaseUrl: database.url, schema: 'app', isPurge: true })
    const { rows } = await database.pool.query('select app.greeting() as greeting, * from app.customers')
    expect(rows).toEqual([{ greeting: 'hello', id: 1, mood: 'good' }])
    expect(await describeSchema(database.pool, 'app')).toEqual(before)
  })

  it.each([
    ['table', 'create table app.jobs (id int primary key)', 'a relation jobs'],
    ['table of events', 'create table app.events (id int primary key, data jsonb)', 'a relation events'],
    ['domain', 'create domain app.lease_ms as int', 'a type lease_ms'],
    [
      'function',
      `create function app.require(int) returns int language sql as 'select 1'`,
      'a routine require',
    ],
  ])('OPS-7 is refused where a %s has a name of ours', async (_, sql, what) => {
    await database.pool.query(`create schema app; ${sql}`)
    const before = await describeSchema(database.pool, 'app')
    await expect(upInApp()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(what),
    })
    await migrateDown({ databaseUrl: database.url, schema: 'app', isPurge: true })
    expect(await describeSchema(database.pool, 'app')).toEqual(before)
  })

  it('OPS-5 public is never taken for the engine’s', async () => {
    const outcome = migrateDown({ databaseUrl: database.url, schema: 'public', isPurge: true })
    await expect(outcome).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('OPS-5 that a newer version changed is left to that version', async () => {
    await upInApp()
    await database.pool.query(`insert into app.migrations (name) values ('9999_from_the_future')`)
    const before = await describeSchema(database.pool, 'app')
    const outcome = migrateDown({ databaseUrl: database.url, schema: 'app' })
    await expect(outcome).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
    expect(await describeSchema(database.pool, 'app')).toEqual(before)
  })
})

describe('migrateDown of the native table', () => {
  const addJob = () => database.pool.query(`select from unstuck.enqueue_jobs('[{"type": "a"}]')`)

  it('OPS-5 leaves nothing where there are no jobs', async () => {
    database = await exchange(database, createInstalledDatabase())
    expect(await down()).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it('OPS-5 keeps jobs and their events where there are any, and takes everything else', async () => {
    database = await exchange(database, createInstalledDatabase())
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
    expect(left).toEqual(['table events', expect.stringMatching(/^table jobs fillfactor=70\b/)])
  })

  it('OPS-5 takes jobs too when a purge is asked for', async () => {
    database = await exchange(database, createInstalledDatabase())
    await addJob()
    expect(await down(true)).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it('OPS-5 can be followed by a new install, which finds the jobs that were kept', async () => {
    database = await exchange(database, createInstalledDatabase())
    await addJob()
    await down()
    await up(native)
    expect(await describeSchema(database.pool, schema)).toEqual(await describeFreshInstall())
    const { rows } = await database.pool.query(`select type from unstuck.claim_jobs('w', array['a'], 1)`)
    expect(rows).toEqual([{ type: 'a' }])
  })

  it('OPS-5 a purge after a kept down takes what was kept', async () => {
    database = await exchange(database, createInstalledDatabase())
    await addJob()
    await down()
    expect(await down(true)).toBe(true)
    expect(await schemaExists(database.pool)).toBe(false)
  })
})
