// `unstuck scan` on tables whose status words it does not all know.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ScanReport } from '../../../src/compose/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { runInProcess } from '../support/in-process.ts'

describe('status words of unknown meaning', () => {
  it('OPS-13 are named beside the counts and in the last line: their rows may be running', async () => {
    const own = await createTestDatabase()
    onTestFinished(() => own.drop())
    await own.pool.query(`
      create table clip_tasks (id serial primary key, status text, locked_at timestamptz, locked_by text, attempts int);
      insert into clip_tasks (status, locked_at) values ('done', null), ('In Arbeit', now() - interval '3 hours');
      create table plain_jobs (id serial primary key, state text, updated_at timestamptz not null default now());
      insert into plain_jobs (state) select 'done' from generate_series(1, 12000);
      insert into plain_jobs (state, updated_at) values ('transcoding', now() - interval '3 hours');
      create table mail_jobs (id serial primary key, status text, claimed_at timestamptz, attempts int);
      insert into mail_jobs (status) values ('queued'), ('CLAIMED'), ('In-Progress'), ('failed'), (null);`)
    const { stdout } = await runInProcess(['scan', own.url])
    expect(stdout).toMatch(
      /public\.clip_tasks .*\n {2}0 running · 0 stuck\n {2}! unknown status 'In Arbeit': such rows may be running too/,
    )
    expect(stdout).not.toMatch(/mail_jobs.*\n.*\n {2}! unknown/)
    expect(stdout).toContain('2 running · 0 stuck')
    expect(stdout.trimEnd().split('\n').at(-2)).toMatch(
      /^Not understood: public\.clip_tasks \(unknown status 'In Arbeit'\), public\.plain_jobs \(unknown status 'transcoding'\)\. If/,
    )
  })
})

describe('a rare word in the middle of a large table, outside its statistics', () => {
  let own: TestDatabase
  beforeAll(async () => {
    own = await createTestDatabase()
    await own.pool.query(`
      create type render_state as enum ('queued', 'processing', 'done', 'rendering');
      create table plain_jobs (id int primary key, state text, locked_at timestamptz, attempts int)
        with (autovacuum_enabled = off);
      insert into plain_jobs select i, case when i = 30000 then 'encoding' else 'done' end, now() - interval '3 hours', 1
        from generate_series(1, 60000) i;
      create table indexed_jobs (like plain_jobs including all) with (autovacuum_enabled = off);
      insert into indexed_jobs table plain_jobs;
      create index on indexed_jobs (state, id);
      create table enum_jobs (id int primary key, state render_state, locked_at timestamptz, attempts int)
        with (autovacuum_enabled = off);
      insert into enum_jobs select i, case when i = 30000 then 'rendering' else 'done' end::render_state, now(), 1
        from generate_series(1, 60000) i;
      create index on enum_jobs (state);
      create table odd_index_jobs (like plain_jobs including all) with (autovacuum_enabled = off);
      insert into odd_index_jobs table plain_jobs;
      create index on odd_index_jobs (state text_pattern_ops);
      create index on odd_index_jobs (state) where state = 'done';
      create table notes (id int);`)
  })
  afterAll(() => own.drop())

  it.each([
    ['plain_jobs', 'encoding'],
    ['indexed_jobs', 'encoding'],
    ['enum_jobs', 'rendering'],
    ['odd_index_jobs', 'encoding'],
  ])('OPS-13 is found in %s', async (table, word) => {
    const { stdout } = await runInProcess(['scan', own.url, '--json'])
    const { tables, notUnderstood } = JSON.parse(stdout) as ScanReport
    expect(tables.find((found) => found.table === table)).toMatchObject({
      unknownWords: [word],
      wordsRead: 'all',
    })
    expect(notUnderstood).toContainEqual(expect.objectContaining({ table }))
  })

  it('OPS-13 is looked for by the index where there is one: few pages are read', async () => {
    // The build of the index read all rows, and the server counts that up to a second later.
    const counted = async () => (await readsOf('indexed_jobs'))[0]?.rows
    await expect.poll(counted, { timeout: 30_000 }).toBeGreaterThanOrEqual(60_000)
    const [before] = await readsOf('indexed_jobs')
    await runInProcess(['scan', own.url, '--json'])
    const reads = async () => (await readsOf('indexed_jobs'))[0]?.rows ?? 0
    await expect.poll(reads, { timeout: 30_000 }).toBeGreaterThan(before?.rows ?? 0)
    // The count of running rows and the words both go by the index.
    expect((await reads()) - (before?.rows ?? 0)).toBeLessThan(1_000)
  })

  const readsOf = async (table: string) =>
    (
      await own.pool.query<{ rows: number }>(
        `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables where relname = $1`,
        [table],
      )
    ).rows

  it('OPS-13 tables without signs of jobs, and other databases, are counted in the last line', async () => {
    const { stdout } = await runInProcess(['scan', own.url])
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'Not looked at: 1 table without signs of jobs; other databases of this server.',
    )
  })

  it('OPS-13 a table that is too large to read is named in the last line, and its ends are read', async () => {
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    // For this role the middle of the table takes hours to read. Only the count of running rows finds an index.
    await own.pool.query(`
      create table slow_jobs (like plain_jobs including all) with (autovacuum_enabled = off);
      alter table slow_jobs alter state set statistics 1;
      insert into slow_jobs table plain_jobs;
      update slow_jobs set state = 'zipping' where id = 60000;
      create index on slow_jobs using hash (state);
      analyze slow_jobs;
      alter table slow_jobs enable row level security;
      create policy slow on slow_jobs
        using (id not between 15000 and 45000 or pg_sleep(1) is not null);
      create role ${role} login password 'of-a-test';
      grant select on slow_jobs to ${role};`)
    onTestFinished(async () => {
      await own.pool.query(`drop table slow_jobs; drop role ${role}`)
    })
    const url = new URL(own.url)
    url.username = role
    url.password = 'of-a-test'
    const { stdout } = await runInProcess(['scan', url.href])
    expect(stdout).toContain("! unknown status 'zipping'")
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^Not looked at: .*rare status words in the middle of public\.slow_jobs \(too large to read, no index on the status\); /,
    )
  }, 120_000)
})
