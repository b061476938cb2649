// What is attached though it will not work, or refused by PostgreSQL in words of its own, or half-installed. Each is a
// test that passes when it is refused like those of bad-input.test.ts: `it.fails` then reports it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { Profile, TableProfile } from '../../src/profile/profile.ts'
import { migrateDown, migrateUp } from '../../src/store/postgres/index.ts'
import { clipTables } from '../support/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { describeSchema, schemaExists } from './describe.ts'
import { clipWords, teamProfile } from './team-table.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

const up = (profile: Profile) => migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })

async function expectRefusal(profile: Profile, code = 'TABLE_UNSUPPORTED'): Promise<void> {
  const before = await describeSchema(database.pool, 'public')
  await expect(up(profile)).rejects.toMatchObject({ name: 'UnstuckError', code })
  expect(await schemaExists(database.pool)).toBe(false)
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
}

const table = (columns: string, rest = '') => `create table team_jobs (${columns}) ${rest};`
const plain = table(`id uuid primary key default gen_random_uuid(), status text not null default 'queued'`)
const events = (columns: string) => `create table team_events (${columns});`
const teamEvents = { schema: 'public', table: 'team_events', jobIdColumn: 'job_id', dataColumn: 'data' }

describe('a table that will not work', () => {
  it.fails.each<[name: string, sql: string, profile: Partial<TableProfile>]>([
    // 22001 of a cast, and nothing written.
    ['cuts a status word short', table('id uuid primary key, status varchar(6)'), {}],
    // 23514 of a cast, and nothing written.
    [
      'has a domain that refuses a word',
      `create domain word as text check (value in ('queued', 'processing')); ${table('id uuid primary key, status word')}`,
      {},
    ],
    // Attached: the word comes back with blanks behind it, and getJob throws.
    ['pads its status words', table('id uuid primary key, status char(10)'), {}],
    // Attached (C14 refuses it): a crash of the server empties it.
    ['is unlogged', table('id uuid primary key, status text').replace('create', 'create unlogged'), {}],
    // Attached: an id alone names two jobs, and a completion of one ends both.
    [
      'has more in its key than the id',
      table('tenant int, id uuid, status text, primary key (tenant, id)'),
      {},
    ],
    // 0A000, "cannot create index on partitioned table concurrently", with everything but the indexes installed.
    [
      'is partitioned, by whatever column',
      `${table(`id uuid primary key, status text default 'queued'`, 'partition by hash (id)')}
       create table team_jobs_0 partition of team_jobs for values with (modulus 1, remainder 0)`,
      {},
    ],
    // 23505, with everything but that index installed.
    [
      'has two unfinished jobs with one dedupe key',
      `${table(`id uuid primary key default gen_random_uuid(), status text default 'queued', type text default 'a', k text`)}
       insert into team_jobs (k) values ('x'), ('x')`,
      { columns: { dedupe_key: 'k' } },
    ],
    // Attached: a sweep fails when it has something to tell (42P01, 42703, 23502, 23503).
    ['has no events table', plain, { teamEvents }],
    ['has an events table without the column', `${plain} ${events('job uuid, data jsonb')}`, { teamEvents }],
    [
      'has an events table that wants more',
      `${plain} ${events('job_id uuid, data jsonb, kind text not null')}`,
      { teamEvents },
    ],
    [
      'has an events table that refers to another table',
      `${plain} create table other_jobs (id uuid primary key); ${events('job_id uuid references other_jobs, data jsonb')}`,
      { teamEvents },
    ],
    // Attached: enqueue fails with 23502.
    [
      'has numbers for ids and no sequence',
      table('id bigint primary key, status text'),
      { idType: 'bigint' },
    ],
    // Attached: a claimed job would be claimed again.
    ['waits and runs under one word', plain, { statuses: { ...clipWords, running: ['queued'] } }],
    // Attached: a dead job counts as succeeded.
    ['is dead and succeeded under one word', plain, { statuses: { ...clipWords, dead: 'completed' } }],
    // Attached: its functions take the place of the native table's.
    ['is attached as native', plain, { attachment: 'native' }],
  ])('OPS-7 that %s should be refused', async (_, sql, profile) => {
    await database.pool.query(sql)
    await expectRefusal(teamProfile(profile))
  })

  // Attached: the functions of the second take the place of the first's.
  it.fails('OPS-7 two tables under one attachment should be refused', async () => {
    await database.pool.query(`${plain} create table other_jobs (like team_jobs including all)`)
    await expectRefusal(teamProfile({}, { table: 'other_jobs' }))
  })

  // 23505 of our own table of attachments.
  it.fails('OPS-7 one table under two attachments should be refused', async () => {
    await database.pool.query(plain)
    await expectRefusal(teamProfile({ attachment: 'one' }, { attachment: 'two' }))
  })
})

describe('a table that should work, or be refused in our words', () => {
  it.fails.each<[name: string, sql: string, profile: Partial<TableProfile>]>([
    // 42601: it ends the body of a function.
    ['has $$ in the name of a column', plain, { columns: { owner: 'own$$er' } }],
    ['has $$ in a status word', plain, { statuses: { ...clipWords, dead: '$$dead$$' } }],
    // 42883: has_budget takes int, and the installer takes bigint for compatible with it.
    [
      'counts in bigint',
      table(`id uuid primary key, status text not null default 'queued', attempt bigint not null default 0`),
      {},
    ],
  ])('OPS-7 that %s', async (_, sql, profile) => {
    await database.pool.query(sql)
    const outcome = await up(teamProfile(profile)).then(
      () => 'attached',
      (error: unknown) => (error as { code: string }).code,
    )
    expect(['attached', 'TABLE_UNSUPPORTED', 'INVALID_ARGUMENT']).toContain(outcome)
  })
})

describe('rows that no claim sees', () => {
  // Their columns allow it, so they are there: a comparison with NULL is never true.
  it.fails.each(['priority int', 'created_at timestamptz', 'type text'])(
    'LEASE-1 a job with a NULL in %s should be claimed all the same, or the table refused',
    async (column) => {
      await database.pool.query(
        table(`id uuid primary key default gen_random_uuid(), status text default 'queued', ${column}`),
      )
      await database.pool.query('insert into team_jobs default values')
      await up(teamProfile({ defaultType: 'clip' }))
      const { rows } = await database.pool.query(
        `select id from unstuck.claim_jobs__team('w', array['clip'], 10)`,
      )
      expect(rows).toHaveLength(1)
    },
  )
})

describe('a schema of the team’s own', () => {
  // Every table and function of the schema is dropped, whoever made it, and then the schema.
  it.fails('OPS-5 migrateDown should leave what it did not make', async () => {
    await database.pool.query(`
      create schema app;
      create table app.customers (id int primary key);
      create function app.greeting() returns text language sql as $$ select 'hello' $$;
      insert into app.customers values (1)`)
    await migrateUp({ databaseUrl: database.url, schema: 'app', profile: nativeProfile('app') })
    await migrateDown({ databaseUrl: database.url, schema: 'app' })
    const { rows } = await database.pool.query('select app.greeting() as greeting, id from app.customers')
    expect(rows).toEqual([{ greeting: 'hello', id: 1 }])
  })
})

describe('errors', () => {
  // 28P01 and 3D000 arrive as PostgreSQL made them.
  it.fails.each<[string, (url: URL) => void]>([
    ['a wrong password', (url) => (url.password = 'wrong')],
    ['a database that is not there', (url) => (url.pathname = '/nowhere')],
  ])('OPS-8 %s should be one of the catalogue', async (_, change) => {
    const url = new URL(database.url)
    change(url)
    const outcome = migrateUp({ databaseUrl: url.href, schema: 'unstuck', profile: nativeProfile('unstuck') })
    await expect(outcome).rejects.toMatchObject({ name: 'UnstuckError' })
  })
})

describe('traffic during an attach', () => {
  // All tables are changed in one transaction: while it waits for the second, nobody can read the first.
  it.fails('OPS-7 a lock that is not to be had on one table should not stop the readers of another', async () => {
    await database.pool.query(clipTables)
    const holder = await database.connect()
    await holder.query('begin')
    await holder.query('select from asr_jobs')
    const attach = up(clipProfile)
    const reader = await database.connect()
    await reader.query(`set lock_timeout = '500ms'`)
    await expect
      .poll(async () => {
        const { rows } = await database.pool.query(
          `select from pg_locks where not granted and relation = 'asr_jobs'::regclass`,
        )
        return rows.length
      })
      .toBe(1)
    const read = reader.query('select from jobs').then(
      () => 'read',
      () => 'blocked',
    )
    const answer = await read
    await holder.query('rollback')
    await attach
    expect(answer).toBe('read')
  })
})
