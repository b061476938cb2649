// Tables and profiles that would be attached and then not work: refused by one error that says what is wrong and what
// to do, with nothing left behind.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Profile, TableProfile } from '../../../src/profile/profile.ts'
import { migrateDown, migrateUp } from '../../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'
import { clipWords, teamProfile } from '../team-table.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  // Detaches an unexpected table, so that it fails one test and not all that follow.
  if (await schemaExists(database.pool)) await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  await database.pool.query('drop schema public cascade; create schema public')
})
afterAll(() => database.drop())

interface Refusal {
  message: RegExp
  hint: RegExp
  code?: string
}

async function expectRefusal(profile: Profile, { message, hint, code }: Refusal): Promise<void> {
  const before = await describeSchema(database.pool, 'public')
  const outcome = migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
  await expect(outcome).rejects.toMatchObject({
    name: 'UnstuckError',
    code: code ?? 'TABLE_UNSUPPORTED',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  })
  expect(await schemaExists(database.pool)).toBe(false)
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
}

const table = (columns: string, rest = '') => `create table team_jobs (${columns}) ${rest};`
const plain = table(`id uuid primary key default gen_random_uuid(), status text not null default 'queued'`)
const events = (columns: string) => `create table team_events (${columns});`
const teamEvents = { schema: 'public', table: 'team_events', jobIdColumn: 'job_id', dataColumn: 'data' }

type Row = [name: string, sql: string, profile: Partial<TableProfile>, refusal: Refusal]

async function refuses(sql: string, profile: Partial<TableProfile>, refusal: Refusal): Promise<void> {
  await database.pool.query(sql)
  await expectRefusal(teamProfile(profile), refusal)
}

describe('a status column', () => {
  it.each<Row>([
    [
      'cuts a word short',
      table('id uuid primary key, status varchar(6)'),
      {},
      { message: /status column does not take 'processing', 'completed'$/, hint: /type/ },
    ],
    [
      'has a domain that refuses a word',
      `create domain word as text check (value in ('queued', 'processing')); ${table('id uuid primary key, status word')}`,
      {},
      { message: /status column does not take 'completed', 'failed'$/, hint: /type/ },
    ],
    [
      'pads its words',
      table('id uuid primary key, status char(10)'),
      {},
      { message: /status is character\(n\), which pads/, hint: /text/ },
    ],
  ])('OPS-7 that %s is refused', async (_, sql, profile, refusal) => refuses(sql, profile, refusal))

  it('OPS-7 of a domain or a varchar that takes every word is fine', async () => {
    await database.pool.query(
      `create domain word as varchar(10) check (value <> ''); ${table('id uuid primary key, status word')}`,
    )
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: teamProfile({}) })
  })
})

describe('a table', () => {
  const hash = `${table(`id uuid primary key, status text default 'queued'`, 'partition by hash (id)')}
    create table team_jobs_0 partition of team_jobs for values with (modulus 1, remainder 0)`
  it.each<Row>([
    [
      'is unlogged',
      table('id uuid primary key, status text').replace('create', 'create unlogged'),
      {},
      { message: /it is unlogged/, hint: /alter table public\.team_jobs set logged/ },
    ],
    [
      'has more in its key than the id',
      table('tenant int, id uuid, status text, primary key (tenant, id)'),
      {},
      { message: /primary key is \(tenant, id\), more than id/, hint: /make it the primary key/ },
    ],
    [
      'is partitioned by what stands before the id in its key',
      `${table('tenant int, id uuid, status text, primary key (tenant, id)', 'partition by list (tenant)')}
       create table team_jobs_1 partition of team_jobs default`,
      {},
      { message: /primary key is \(tenant, id\), more than id/, hint: /put id first in the key/ },
    ],
    [
      'is partitioned by what a job changes',
      table(
        'id uuid, status text, worker_id text, primary key (id, worker_id)',
        'partition by list (worker_id)',
      ),
      {},
      { message: /it is partitioned by LIST \(worker_id\)/, hint: /A job changes its worker_id/ },
    ],
    [
      'has partitions of partitions',
      `${table(`id uuid primary key, status text`, 'partition by hash (id)')}
       create table team_jobs_0 partition of team_jobs for values with (modulus 1, remainder 0) partition by hash (id)`,
      {},
      { message: /its partition team_jobs_0 is partitioned itself/, hint: /plain tables/ },
    ],
    ['is a partition', hash, { table: 'team_jobs_0' }, { message: /it is a partition/, hint: /as a whole/ }],
    [
      'others inherit from',
      `${plain} create table more_jobs () inherits (team_jobs)`,
      {},
      { message: /inherited from/, hint: /plain table/ },
    ],
    [
      'has numbers for ids and no sequence',
      table('id bigint primary key, status text'),
      { idType: 'bigint' },
      {
        message: /column id has no sequence/,
        hint: /alter table public\.team_jobs alter column id add generated by default as identity/,
      },
    ],
    [
      'counts in bigint',
      table('id uuid primary key, status text, attempt bigint not null default 0'),
      {},
      { message: /column attempt is bigint, and the engine writes int/, hint: /Map attempt/ },
    ],
    [
      'has a column too short for what is written into it',
      table('id uuid primary key, status text, error_code varchar(3)'),
      {},
      { message: /a function does not work on its columns: value too long/, hint: /taken back/ },
    ],
  ])('OPS-7 that %s is refused', async (_, sql, profile, refusal) => refuses(sql, profile, refusal))

  it.each(['priority int', 'created_at timestamptz', 'type text'])(
    'LEASE-1 that allows NULL in %s is refused: no claim would see such a row',
    async (column) => {
      const name = String(column.split(' ')[0])
      await refuses(
        table(`id uuid primary key, status text, ${column}`),
        {},
        { message: new RegExp(`column ${name} may be NULL`), hint: /NOT NULL, or map/ },
      )
    },
  )

  it('OPS-7 with two unfinished jobs of one dedupe key is refused where the profile calls keys unique, and nothing stays of the indexes', async () => {
    await refuses(
      `${table(`id uuid primary key default gen_random_uuid(), status text default 'queued', type text not null default 'a', k text`)}
       insert into team_jobs (k) values ('x'), ('x')`,
      { columns: { dedupe_key: 'k' }, hasUniqueDedupeKey: true },
      {
        message: /index unstuck_team_dedupe cannot be built.*\(a, x\)/,
        hint: /public\.team_jobs was taken back/,
      },
    )
  })
})

describe('an events table', () => {
  it.each<Row>([
    ['is not there', plain, { teamEvents }, { message: /team_events: not found/, hint: /teamEvents/ }],
    [
      'is a view',
      `${plain} create view team_events as select id as job_id, null::jsonb as data from team_jobs`,
      { teamEvents },
      { message: /it is not a table/, hint: /behind it/ },
    ],
    [
      'lacks the column of the job',
      `${plain} ${events('job uuid, data jsonb')}`,
      { teamEvents },
      { message: /no column job_id/, hint: /teamEvents/ },
    ],
    [
      'lacks the column of the data',
      `${plain} ${events('job_id uuid, details jsonb')}`,
      { teamEvents },
      { message: /no column data/, hint: /teamEvents/ },
    ],
    [
      'has ids of another type',
      `${plain} ${events('job_id bigint, data jsonb')}`,
      { teamEvents },
      { message: /job_id is bigint/, hint: /uuid/ },
    ],
    [
      'has data of another type',
      `${plain} ${events('job_id uuid, data text')}`,
      { teamEvents },
      { message: /data is text/, hint: /jsonb/ },
    ],
    [
      'wants more',
      `${plain} ${events('id int primary key, job_id uuid not null, data jsonb not null, kind text not null')}`,
      { teamEvents },
      { message: /wants a value for id, kind too/, hint: /default to id, kind/ },
    ],
    [
      'refers to another table',
      `${plain} create table other_jobs (id uuid primary key); ${events('job_id uuid references other_jobs, data jsonb')}`,
      { teamEvents },
      {
        message: /constraint team_events_job_id_fkey lets job_id name rows of public.other_jobs only/,
        hint: /^alter table public\.team_events drop constraint team_events_job_id_fkey;$/,
      },
    ],
  ])('OPS-7 that %s is refused', async (_, sql, profile, refusal) => refuses(sql, profile, refusal))

  it('OPS-7 may refer to the job table itself, number itself, and keep json', async () => {
    await database.pool.query(
      `${plain} ${events('id int generated always as identity, job_id uuid not null references team_jobs, data json not null, at timestamptz not null default now()')}`,
    )
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: teamProfile({ teamEvents }) })
  })
})

describe('a profile', () => {
  it.each<Row>([
    [
      'waits and runs under one word',
      plain,
      { statuses: { ...clipWords, running: ['queued'] } },
      { message: /status word 'queued' plays two roles/, hint: /a word each/ },
    ],
    [
      'is dead and succeeded under one word',
      plain,
      { statuses: { ...clipWords, dead: 'completed' } },
      { message: /status word 'completed' plays two roles/, hint: /a word each/ },
    ],
    [
      'is cancelled and dead under one word',
      plain,
      { statuses: { ...clipWords, cancelled: 'failed' } },
      { message: /status word 'failed' plays two roles/, hint: /null for cancelled/ },
    ],
    ['is attached as native', plain, { attachment: 'native' }, { message: /native/, hint: /another name/ }],
  ])('OPS-7 that %s is refused', async (_, sql, profile, refusal) => refuses(sql, profile, refusal))

  it.each<[string, Partial<TableProfile>]>([
    ['the name of a column', { columns: { owner: 'own$$er' } }],
    ['the name of a table', { table: 'team$$jobs' }],
    ['a status word', { statuses: { ...clipWords, dead: '$$dead$$' } }],
    ['its default type', { defaultType: 'a$$b' }],
  ])('OPS-7 with $$ in %s is refused: it would end the body of a function', async (_, fields) => {
    const outcome = migrateUp({
      databaseUrl: database.url,
      schema: 'unstuck',
      profile: teamProfile(fields),
    })
    await expect(outcome).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/takes text without \$\$$/),
    })
  })

  const twice = { message: /is there twice/, hint: /of its own/ }

  it('OPS-7 with two tables under one attachment is refused', async () => {
    await database.pool.query(`${plain} create table other_jobs (like team_jobs including all)`)
    await expectRefusal(teamProfile({}, { table: 'other_jobs' }), twice)
  })

  it('OPS-7 with one table under two attachments is refused', async () => {
    await database.pool.query(plain)
    await expectRefusal(teamProfile({ attachment: 'one' }, { attachment: 'two' }), twice)
  })

  it('OPS-7 that attaches a table, or takes a name, of an earlier run is refused', async () => {
    await database.pool.query(`${plain} create table other_jobs (like team_jobs including all)`)
    const up = (fields: Partial<TableProfile>) =>
      migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: teamProfile(fields) })
    await up({ attachment: 'one' })
    await expect(up({ attachment: 'two' })).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: 'table public.team_jobs: it is attached as one already',
      hint: expect.stringContaining(`detach_table('one')`),
    })
    await expect(up({ attachment: 'one', table: 'other_jobs' })).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: 'table public.other_jobs: the attachment one is that of public.team_jobs',
    })
  })
})
