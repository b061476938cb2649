// Attaching to a table that is in use: additive, without stopping its writers, and resumable.
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import { migrateStatus, migrateUp } from '../../../src/store/postgres/index.ts'
import { createAttachedDatabase, exchange } from '../../support/installed-database.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeRows, describeSchema, schemaExists } from '../describe.ts'
import { hurry } from '../hurry.ts'
import { teamProfile } from '../team-table.ts'

const schema = 'unstuck'

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await database.drop()
})

const up = (lockTimeoutMs = 2_000, profile = clipProfile) =>
  migrateUp({ databaseUrl: database.url, schema, profile, lockTimeoutMs })
const isCurrent = async (profile = clipProfile) =>
  (await migrateStatus({ databaseUrl: database.url, schema, profile })).isCurrent
const [jobs, asrJobs] = clipProfile.tables
const withUniqueKeys: Profile = {
  ...clipProfile,
  tables: [{ ...jobs, hasUniqueDedupeKey: true }, ...(asrJobs === undefined ? [] : [asrJobs])],
}

/** An application that knows nothing of leases, from the first statement to the last. */
async function workAsBefore(client: pg.Client | pg.Pool): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `insert into jobs (payload) values ('{"n": 1}') returning id`,
  )
  const id = String(rows[0]?.id)
  await client.query(
    `update jobs set status = 'processing', started_at = now(), attempt_count = attempt_count + 1, updated_at = now()
      where id = $1 and status = 'queued'`,
    [id],
  )
  await client.query('update jobs set last_heartbeat_at = now(), updated_at = now() where id = $1', [id])
  await client.query(`update jobs set status = 'completed', updated_at = now() where id = $1`, [id])
  return id
}

describe('attach', () => {
  it('OPS-7 only adds: every column, constraint and index that was there is there unchanged', async () => {
    await workAsBefore(database.pool)
    const before = await describeSchema(database.pool, 'public')
    const rows = await describeRows(database.pool, 'jobs')
    await up()
    expect(await describeSchema(database.pool, 'public')).toEqual(expect.arrayContaining(before))
    // The rows are where they were: nothing rewrote the table.
    expect(await describeRows(database.pool, 'jobs')).toEqual(rows.map((row) => expect.objectContaining(row)))
  })

  it('OPS-7 every column it adds is nullable or has a default', async () => {
    const before = new Set(await describeSchema(database.pool, 'public'))
    await up()
    const added = (await describeSchema(database.pool, 'public')).filter((line) => !before.has(line))
    const columns = added.filter((line) => line.startsWith('column '))
    expect(columns.length).toBeGreaterThan(20)
    expect(columns.filter((line) => line.includes('not null') && !line.includes(' default '))).toEqual([])
  })

  it('OPS-7 writers that hammer the table meet no error while it goes on, and work on after it', async () => {
    const writers = await Promise.all([1, 2, 3].map(() => database.connect()))
    const stop = new AbortController()
    const work = writers.map(async (writer) => {
      const ids: string[] = []
      while (!stop.signal.aborted) ids.push(await workAsBefore(writer))
      return ids
    })
    await up()
    stop.abort()
    const ids = (await Promise.all(work)).flat()
    const { rows } = await database.pool.query(`select id from jobs where status = 'completed'`)
    expect(rows).toHaveLength(ids.length)
    expect(ids.length).toBeGreaterThan(10)
    expect(await isCurrent()).toBe(true)
    await workAsBefore(database.pool)
  })

  it('OPS-7 old workers and ours share the table: each leaves the other’s running jobs alone', async () => {
    database = await exchange(database, createAttachedDatabase())
    const old = await database.pool.query<{ id: string }>(
      `insert into jobs (status, started_at, last_heartbeat_at) values ('processing', now(), now()) returning id`,
    )
    await database.pool.query(`insert into jobs (payload) values ('{}')`)
    const { rows: claimed } = await database.pool.query<{ id: string; lease_id: string }>(
      `select id, lease_id from unstuck.claim_jobs__jobs('w', array['clip'], 10)`,
    )
    expect(claimed).toHaveLength(1)
    const { rowCount } = await database.pool.query(
      `update jobs set status = 'processing' where status = 'queued'`,
    )
    expect(rowCount).toBe(0)
    const { rows: reaped } = await database.pool.query('select * from unstuck.reap_jobs__jobs()')
    expect(reaped).toEqual([])
    await database.pool.query(`update jobs set status = 'completed' where id = $1`, [old.rows[0]?.id])
    const { rows: jobs } = await database.pool.query('select status, attempt_count from jobs order by status')
    expect(jobs).toEqual([
      { status: 'completed', attempt_count: 0 },
      { status: 'processing', attempt_count: 1 },
    ])
  })
})

describe('a rehearsal', () => {
  it('OPS-7 runs no function on the team’s rows: no trigger fires, and nothing is reaped', async () => {
    await database.pool.query(`
      create function object() returns trigger language plpgsql as $$ begin raise 'touched'; end $$;
      insert into jobs (status, started_at, updated_at) values ('processing', now() - interval '1 year', now() - interval '1 year');
      insert into jobs (status, updated_at, attempt_count) values ('completed', now() - interval '20 years', 0), ('queued', now(), 9);
      create trigger object before insert or update or delete on jobs for each row execute function object();
      create trigger object before insert on job_events for each row execute function object()`)
    const rows = await describeRows(database.pool, 'jobs')
    await up()
    await up()
    expect(await describeRows(database.pool, 'jobs')).toEqual(rows.map((row) => expect.objectContaining(row)))
    const { rows: left } = await database.pool.query(
      `select relname from pg_class where relname like '%rehearsal%'`,
    )
    expect(left).toEqual([])
  })

  it('OPS-7 needs no lock that a writer’s open transaction has', async () => {
    database = await exchange(database, createAttachedDatabase())
    const writer = await database.connect()
    await writer.query(`begin; insert into jobs (payload) values ('{}'); update jobs set updated_at = now()`)
    await database.pool.query(`update unstuck.attachments set functions_digest = 'of another version'`)
    await up(50)
    expect(await isCurrent()).toBe(true)
    await writer.query('rollback')
  })
})

describe('traffic during an attach', () => {
  it('OPS-7 a lock that is not to be had on one table does not stop the readers of another', async () => {
    const holder = await database.connect()
    await holder.query('begin')
    await holder.query('select from asr_jobs')
    const attach = up()
    const reader = await database.connect()
    await reader.query(`set lock_timeout = '500ms'`)
    await expect
      .poll(
        async () => {
          const { rows } = await database.pool.query(
            `select from pg_locks where not granted and relation = 'asr_jobs'::regclass`,
          )
          return rows.length
        },
        { timeout: 30_000 },
      )
      .toBe(1)
    await reader.query('select from jobs')
    await holder.query('rollback')
    await attach
    expect(await isCurrent()).toBe(true)
  })
})

describe('a table that was renamed', () => {
  it('OPS-7 is known again under its new name, with what was added to it', async () => {
    database = await exchange(database, createAttachedDatabase())
    const renamed = teamProfile({ ...clipProfile.tables[0], table: 'tasks' }, { ...clipProfile.tables[1] })
    const read = async () =>
      (await database.pool.query(`select added_columns from unstuck.attachments where name = 'jobs'`)).rows
    const before = await read()
    await database.pool.query('alter table jobs rename to tasks')
    await migrateUp({ databaseUrl: database.url, schema, profile: renamed })
    expect(await read()).toEqual(before)
    const { rows } = await database.pool.query(`select from unstuck.claim_jobs__jobs('w', array['clip'], 1)`)
    expect(rows).toEqual([])
    const status = await migrateStatus({ databaseUrl: database.url, schema, profile: renamed })
    expect(status).toMatchObject({ isCurrent: true, tables: [{ table: 'public.tasks' }, {}] })
  })

  it('OPS-7 and replaced by another owes nothing of the other’s columns to us', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query(`drop table jobs; create table tasks (
      id uuid primary key, status text not null default 'queued', lease_id uuid)`)
    const moved = teamProfile({ ...clipProfile.tables[0], table: 'tasks' })
    await migrateUp({ databaseUrl: database.url, schema, profile: moved })
    const { rows } = await database.pool.query<{ added_columns: string[] }>(
      `select added_columns from unstuck.attachments where name = 'jobs'`,
    )
    expect(rows[0]?.added_columns).toContain('fence')
    expect(rows[0]?.added_columns).not.toContain('lease_id')
  })
})

describe('an attach that could not finish', () => {
  it('OPS-7 at the second table leaves the first attached and says so', async () => {
    hurry()
    const before = await describeSchema(database.pool, 'public')
    const reader = await database.connect()
    await reader.query('begin')
    await reader.query('select from asr_jobs')
    await expect(up(20)).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      message: expect.stringMatching(/^table public\.asr_jobs: .*; nothing was changed on it$/),
      hint: expect.stringMatching(/public\.jobs stays attached/),
    })
    const { tables } = await migrateStatus({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(tables.map(({ state }) => state)).toEqual(['current', 'not attached'])
    const lines = (await describeSchema(database.pool, 'public')).filter((line) => line.includes('asr_jobs'))
    expect(lines).toEqual(before.filter((line) => line.includes('asr_jobs')))
    await reader.query('rollback')
    await up()
    expect(await isCurrent()).toBe(true)
  })

  it('OPS-7 at a later run, on a table that is attached, leaves it attached as it was', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query(`
      insert into jobs (type, payload) values ('clip', '{}');
      insert into jobs (type, dedupe_key) values ('clip', 'k'), ('clip', 'k')`)
    await expect(up(2_000, withUniqueKeys)).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: expect.stringMatching(/index unstuck_jobs_dedupe cannot be built/),
    })
    const lines = await describeSchema(database.pool, 'public')
    expect(lines.filter((line) => line.includes('(invalid)'))).toEqual([])
    const { rows } = await database.pool.query(`select from unstuck.claim_jobs__jobs('w', array['clip'], 1)`)
    expect(rows).toHaveLength(1)
  })

  it('OPS-7 gives way to a reader that stays: LOCK_TIMEOUT, nothing half-installed, and done when it is gone', async () => {
    hurry()
    const before = await describeSchema(database.pool, 'public')
    const reader = await database.connect()
    await reader.query('begin')
    await reader.query('select from jobs')
    await expect(up(20)).rejects.toMatchObject({
      name: 'UnstuckError',
      code: 'LOCK_TIMEOUT',
      isRetryable: true,
      message: 'table public.jobs: a lock was not granted within 20 ms, 10 times; nothing was changed on it',
      hint: expect.stringMatching(/The engine was taken out again\.$/),
    })
    expect(await schemaExists(database.pool)).toBe(false)
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
    await reader.query('rollback')
    await up(20)
    expect(await isCurrent()).toBe(true)
  })

  it('OPS-7 whose indexes waited for an old snapshot is resumed by the next run', async () => {
    hurry()
    const reader = await database.connect()
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from job_events')
    await expect(up(20)).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      message: expect.stringMatching(
        /^index unstuck_jobs_\w+: .*; public\.jobs has its columns, but not all/,
      ),
      hint: expect.stringMatching(/continues where it stopped/),
    })
    expect(await isCurrent()).toBe(false)
    await workAsBefore(database.pool)
    await reader.query('rollback')
    await up()
    expect(await isCurrent()).toBe(true)
  })

  it('OPS-7 whose index is invalid is mended by the next run', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query(`insert into jobs (type, dedupe_key) values ('clip', 'k'), ('clip', 'k')`)
    await expect(
      database.pool.query(
        `create unique index concurrently unstuck_jobs_dedupe on jobs (type, dedupe_key)
          where dedupe_key is not null and status in ('queued', 'processing')`,
      ),
    ).rejects.toMatchObject({ code: '23505' })
    const lines = await describeSchema(database.pool, 'public')
    expect(lines).toContainEqual(expect.stringMatching(/unstuck_jobs_dedupe .* \(invalid\)$/))
    expect(await isCurrent(withUniqueKeys)).toBe(false)
    await database.pool.query(
      `delete from jobs where ctid = (select max(ctid) from jobs where dedupe_key = 'k')`,
    )
    await up(2_000, withUniqueKeys)
    expect(await isCurrent(withUniqueKeys)).toBe(true)
    await expect(
      database.pool.query(`insert into jobs (type, dedupe_key) values ('clip', 'k')`),
    ).rejects.toMatchObject({ code: '23505' })
  })
})
