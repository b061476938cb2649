// A plan is what an attach would run on this database: run by hand it ends in the same schema, and looking runs nothing.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { fitsColumn } from '../../../src/profile/infer/column-names.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import {
  migrateDown,
  migrateStatus,
  migrateUp,
  planAttach,
  planText,
  rolesSql,
} from '../../../src/store/postgres/index.ts'
import { columnStatements } from '../../../src/store/postgres/migrate/statements/column-statements.ts'
import { migrationSql } from '../../../src/store/postgres/migrate/statements/migration-sql.ts'
import { createAttachedDatabase, exchange } from '../../support/installed-database.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'
import { splitStatements } from '../split-statements.ts'
import { clipWords, teamProfile } from '../team-table.ts'

const schema = 'unstuck'
const team = `
  create type job_status as enum ('queued', 'processing', 'completed', 'failed');
  create table team_jobs (id uuid primary key, status job_status not null default 'queued', updated_at timestamptz);
  create table parted_jobs (id uuid, status text not null default 'queued', created_at timestamptz not null default now(),
                            primary key (id, created_at)) partition by range (created_at);
  create table parted_rest partition of parted_jobs default;`

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables + team)
})
afterEach(() => database.drop())

const plan = (profile: Profile, more: object = {}) =>
  planAttach({ databaseUrl: database.url, schema, profile, ...more })
const up = (profile: Profile, more: object = {}) =>
  migrateUp({ databaseUrl: database.url, schema, profile, ...more })

async function runByHand(profile: Profile, more: object = {}): Promise<void> {
  const client = await database.connect()
  for (const statement of splitStatements(planText(await plan(profile, more)))) await client.query(statement)
}

async function describeAll(): Promise<string[]> {
  return [
    ...(await describeSchema(database.pool, schema)),
    ...(await describeSchema(database.pool, 'public')),
  ]
}

const titles = async (profile: Profile, more: object = {}) =>
  (await plan(profile, more)).steps.map(({ title }) => title)

describe('a plan', () => {
  it.each<[string, Profile, object]>([
    ['the clip tables', clipProfile, {}],
    ['the clip tables with the indexes of their document', clipProfile, { hasDocumentIndexes: true }],
    ['a table with an enum for its status', teamProfile({}), {}],
    [
      'a partitioned table with an index of its document',
      teamProfile({
        table: 'parted_jobs',
        documentIndexes: [{ name: 'parted_idx', columns: ['status', 'lease_expires_at'] }],
      }),
      { hasDocumentIndexes: true },
    ],
    ['nothing but the engine', nativeProfile(schema), {}],
  ])('OPS-7 for %s, run by hand, ends as an attach does', async (_, profile, more) => {
    await runByHand(profile, more)
    const byHand = await describeAll()
    expect(await migrateStatus({ databaseUrl: database.url, schema, profile })).toMatchObject({
      isCurrent: true,
    })
    expect(await plan(profile, more)).toMatchObject({ steps: [] })
    await migrateDown({ databaseUrl: database.url, schema, isPurge: true })
    await up(profile, more)
    expect(await describeAll()).toEqual(byHand)
    expect(await plan(profile, more)).toMatchObject({ steps: [] })
  })

  it('OPS-11 runs nothing that a name contains, not even one of several lines', async () => {
    const name = 'x\ndrop table victim; --jobs'
    await database.pool.query(`create table victim (id int); create table "${name}" (
      id uuid primary key default gen_random_uuid(), "st\natus" text not null default 'queued',
      created_at timestamptz not null default now())`)
    const words = { ...clipWords, running: ["run\n'); drop table victim; --"] as [string] }
    const profile = teamProfile({ table: name, columns: { status: 'st\natus' }, statuses: words })
    expect(planText(await plan(profile))).toMatch(
      /^-- \d\. the columns of public\.x drop table victim; --jobs$/m,
    )
    await database.pool.query(migrationSql(schema, profile).replaceAll('concurrently', ''))
    expect((await database.pool.query('select from victim')).rows).toEqual([])
  })

  it('OPS-7 runs nothing', async () => {
    const before = await describeSchema(database.pool, 'public')
    await plan(clipProfile)
    expect(await schemaExists(database.pool)).toBe(false)
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
  })

  it('OPS-7 works where nothing may be written', async () => {
    const url = new URL(database.url)
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const { steps } = await planAttach({ databaseUrl: url.href, schema, profile: clipProfile })
    expect(steps[0]?.title).toBe('the engine, in schema unstuck')
  })

  it('OPS-7 holds only what is missing', async () => {
    await up(teamProfile({}))
    expect(await titles(clipProfile)).toEqual([
      'the columns of public.jobs',
      'the indexes of public.jobs',
      'the functions of public.jobs',
      'the columns of public.asr_jobs',
      'the indexes of public.asr_jobs',
      'the functions of public.asr_jobs',
    ])
    await up(clipProfile)
    expect(await titles(clipProfile)).toEqual([])
    await database.pool.query('alter table jobs drop column fence')
    const { steps } = await plan(clipProfile)
    expect(steps.map(({ title }) => title)).toEqual(['the columns of public.jobs'])
    expect(steps[0]?.statements.filter((statement) => statement.startsWith('alter table'))).toEqual([
      'alter table "public"."jobs" add column if not exists "fence" bigint;',
    ])
  })

  it('OPS-7 replaces what another version left, and drops an index whose build failed', async () => {
    database = await exchange(database, createAttachedDatabase())
    await database.pool.query(`
      update unstuck.attachments set functions_digest = 'of another version' where name = 'asr_jobs';
      update pg_index set indisvalid = false where indexrelid = 'unstuck_jobs_keys'::regclass`)
    const { steps } = await plan(clipProfile)
    expect(steps.map(({ title }) => title)).toEqual([
      'the columns of public.jobs',
      'the indexes of public.jobs',
      'the functions of public.asr_jobs',
    ])
    expect(steps[1]?.statements).toEqual([
      'drop index concurrently if exists "public"."unstuck_jobs_keys";',
      expect.stringMatching(/^create +index concurrently/),
    ])
    await runByHand(clipProfile)
    expect(await titles(clipProfile)).toEqual([])
  })
})

describe('the indexes of a document', () => {
  const clipIndexes = ['idx_asr_jobs_status_lease', 'idx_jobs_status_lease']
  const found = async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select indexname as name from pg_indexes where indexname like 'idx%lease' order by 1`,
    )
    return rows.map(({ name }) => name)
  }

  it('OPS-7 are made on request, under their exact names, and come off with the rest', async () => {
    database = await exchange(database, createAttachedDatabase())
    expect(await found()).toEqual([])
    await up(clipProfile, { hasDocumentIndexes: true })
    expect(await found()).toEqual(clipIndexes)
    await migrateDown({ databaseUrl: database.url, schema })
    expect(await found()).toEqual([])
  })

  it('OPS-5 that a team had before stay when the rest comes off', async () => {
    await database.pool.query('create index idx_jobs_status_lease on jobs (status, updated_at)')
    await up(clipProfile, { hasDocumentIndexes: true })
    await migrateDown({ databaseUrl: database.url, schema })
    expect(await found()).toEqual(['idx_jobs_status_lease'])
  })
})

describe('a table that comes off alone', () => {
  it('OPS-5 leaves the others and the engine', async () => {
    database = await exchange(database, createAttachedDatabase())
    const options = { databaseUrl: database.url, schema, only: ['public.asr_jobs'] }
    await migrateDown(options)
    const { tables } = await migrateStatus({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(tables.map(({ state }) => state)).toEqual(['current', 'not attached'])
    await expect(migrateDown(options)).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND' })
  })
})

describe('a table whose rows have words that the profile does not know', () => {
  it('OPS-7 is refused by those words, unless they are to be left alone', async () => {
    await database.pool.query(`insert into asr_jobs (status) values ('procesing'), ('archived'), ('queued')`)
    await expect(plan(clipProfile)).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: `table public.asr_jobs: its rows have 'archived', 'procesing' as their status, which the profile does not know`,
      hint: expect.stringMatching(/ignoredStatuses.*Did you mean 'processing'\?$/),
    })
    const [jobs, asrJobs] = clipProfile.tables
    await plan(teamProfile({ ...jobs }, { ...asrJobs, ignoredStatuses: ['archived', 'procesing'] }))
  })
})

describe('the role of workers', () => {
  it('C20 is the one of the guide', () => {
    const page = readFileSync(
      new URL('../../../docs/guides/operate/database-roles.md', import.meta.url),
      'utf8',
    )
    const [, script] = /^```postgresql\n([\s\S]*?)^```$/m.exec(page) ?? []
    expect(rolesSql(schema, nativeProfile(schema)).replaceAll('"', '')).toBe(script)
  })

  it('C20 has what it needs on the tables of the profile, their events and their sequences', async () => {
    await database.pool.query(
      `create table numbered (id serial primary key, status text not null default 'queued')`,
    )
    const profile = teamProfile(
      { ...clipProfile.tables[0], attachment: 'clip' },
      { table: 'numbered', idType: 'bigint' },
    )
    await up(profile)
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    await database.pool.query(rolesSql(schema, profile).replaceAll('unstuck_worker', role))
    const client = await database.connect()
    await client.query(`set role ${role}`)
    for (const attachment of ['clip', 'team']) {
      await client.query(`select unstuck.enqueue_jobs__${attachment}('[{"type": "clip"}]')`)
      const { rows } = await client.query(
        `select id, lease_id from unstuck.claim_jobs__${attachment}('w', array['clip'], 1)`,
      )
      expect(rows).toHaveLength(1)
      await client.query(`select unstuck.reap_jobs__${attachment}()`)
    }
    await database.pool.query(`drop owned by ${role}; drop role ${role}`)
  })
})

it('OPS-7 a profile is made from columns of the types that an attach takes', () => {
  const types: Record<string, string> = {
    int: 'integer',
    timestamptz: 'timestamp with time zone',
    text: 'text',
    jsonb: 'jsonb',
    uuid: 'uuid',
    bigint: 'bigint',
    float8: 'double precision',
  }
  const misfits = columnStatements().filter(({ column, type }) => !fitsColumn(column, types[type] ?? type))
  expect(misfits).toEqual([])
  const fitsText = columnStatements().filter(
    ({ column, type }) => fitsColumn(column, 'text') !== (type === 'text'),
  )
  expect(fitsText).toEqual([])
})
