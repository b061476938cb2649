// `unstuck attach` and `unstuck detach` as a person meets them: in a folder, with a database that has a job table.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand, startCommand } from '../../cli/support/run-command.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { type CommandFolder, openCommandFolder } from '../command-folder.ts'
import { describeSchema, schemaExists } from '../describe.ts'

const videoJobs = `
  create table video_jobs (
    id bigserial primary key, state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed')),
    "lockedBy" text, "lockedAt" timestamptz, attempts int not null default 0, args jsonb, updated_at timestamp);
  insert into video_jobs (state, "lockedAt") values ('pending', null), ('running', now()), ('done', null);`

let { database, folder, run, close } = {} as CommandFolder

beforeEach(async () => {
  ;({ database, folder, run, close } = await openCommandFolder())
})
afterEach(() => close())

const describePublic = () => describeSchema(database.pool, 'public')

async function expectUntouched(before: string[]): Promise<void> {
  expect(await schemaExists(database.pool)).toBe(false)
  expect(await describePublic()).toEqual(before)
}

describe('a table that no profile knows', () => {
  it('OPS-7 gets a profile in a config file, then its leases, and loses them again', async () => {
    await database.pool.query(videoJobs)
    const before = await describePublic()

    const proposed = await run('attach', '--table', 'public.video_jobs')
    expect(proposed).toMatchObject({
      exitCode: 0,
      stdout: 'Next:  review it, then  unstuck attach --plan\n',
    })
    expect(proposed.stderr).toContain('wrote unstuck.config.mjs: a draft profile for public.video_jobs')
    expect(proposed.stderr).toContain('timeZone: updated_at: no time zone. Does the application write UTC')
    await expectUntouched(before)

    const attached = await run('attach')
    expect(attached).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('attached public.video_jobs'),
    })
    expect(attached.stdout).toContain('public.video_jobs: observe mode.')
    expect(await run('attach')).toMatchObject({
      stdout: expect.stringContaining('nothing to do'),
      stderr: '',
    })
    expect(await run('migrate', 'status')).toMatchObject({ exitCode: 0 })
    expect(await run('reap', '--once')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /video_jobs: observe mode, nothing was changed · unstuck mode reap --table video_jobs/,
      ),
    })
    expect(await run('mode', 'reap', '--table', 'video_jobs')).toMatchObject({ exitCode: 0 })

    const { rows } = await database.pool.query(
      `select id, attempt from unstuck.claim_jobs__video_jobs('w', array['job'], 5)`,
    )
    expect(rows).toEqual([{ id: '1', attempt: 1 }])
    await database.pool.query(`update video_jobs set lease_expires_at = now() - interval '1 s' where id = 1`)
    const reaped = await run('reap', '--once', '--json')
    expect(JSON.parse(reaped.stdout)).toMatchObject({ tables: [{ table: 'video_jobs', requeuedIds: ['1'] }] })

    expect(await run('detach')).toMatchObject({
      exitCode: 0,
      stdout: 'removed from schema unstuck; your rows and columns stay\n',
    })
    await expectUntouched(before)
    const { rows: states } = await database.pool.query('select state from video_jobs order by id')
    expect(states.map(({ state }: { state: string }) => state)).toEqual(['pending', 'running', 'done'])
  })

  it('OPS-7 is attached in one go with --yes, also where it is the only one and is not named', async () => {
    await database.pool.query(videoJobs)
    const { exitCode, stdout } = await run('attach', '--yes')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('attached public.video_jobs')])
    expect(existsSync(join(folder, 'unstuck.config.mjs'))).toBe(true)
    expect(await run('status')).toMatchObject({ exitCode: expect.any(Number), stderr: '' })
  })

  it('OPS-7 is worked on by a worker, which reads the same profile', async () => {
    await database.pool.query(videoJobs)
    await run('attach', '--yes', '--features', 'results')
    await run('mode', 'reap')
    const handlers = `export default (q) => q.handle('job', async () => ({ ok: true }))`
    writeFileSync(join(folder, 'handlers.mjs'), handlers)
    const worker = startCommand(['worker', './handlers.mjs'], { DATABASE_URL: database.url }, folder)
    const read = async () =>
      (await database.pool.query('select state, result from video_jobs where id = 1')).rows
    await expect.poll(read, { timeout: 30_000 }).toEqual([{ state: 'done', result: { ok: true } }])
    worker.kill('SIGTERM')
    expect(await worker.result).toMatchObject({ exitCode: 0 })
  })

  it('OPS-7 finds a config file that is there left as it is, and gets the text for it', async () => {
    await database.pool.query(videoJobs)
    const before = await describePublic()
    const text = 'export default { workerConcurrency: 2 }\n'
    writeFileSync(join(folder, 'unstuck.config.mjs'), text)
    const refused = await run('attach', '--table', 'video_jobs', '--yes')
    expect(refused).toMatchObject({
      exitCode: 4,
      stdout: expect.stringContaining(`table: 'video_jobs'`),
      stderr: expect.stringContaining('unstuck.config.mjs already exists and was not changed'),
    })
    expect(readFileSync(join(folder, 'unstuck.config.mjs'), 'utf8')).toBe(text)
    await expectUntouched(before)
  })

  it('OPS-7 --plan shows profile and SQL, and writes nothing anywhere', async () => {
    await database.pool.query(videoJobs)
    const before = await describePublic()
    const { exitCode, stdout } = await run('attach', '--plan', '--table', 'video_jobs')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^-- unstuck attach on database unstuck_test_\w+, profile video_jobs: 4 steps/)
    expect(stdout).toContain('-- Nothing was run. The database was read in a read-only transaction.')
    expect(stdout).toContain(`--         table: 'video_jobs',`)
    expect(stdout).toContain('alter table "public"."video_jobs" add column if not exists "lease_id" uuid;')
    expect(stdout).not.toContain('add column if not exists "attempts"')
    const json = await run('attach', '--plan', '--table', 'video_jobs', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({
      profile: 'video_jobs',
      tables: ['public.video_jobs'],
      proposal: { certainty: 'sure', questions: expect.any(Array) },
      isUnwritten: true,
    })
    expect(readdirSync(folder)).toEqual([])
    await expectUntouched(before)
  })
})

describe('tables as people make them', () => {
  it.each<[string, string, string, string]>([
    [
      'a Prisma model with an enum, mixed-case names and times without a zone',
      `create type "JobStatus" as enum ('QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELLED');
       create table "ConversionJob" (
         id text primary key, status "JobStatus" not null default 'QUEUED', "attemptCount" integer not null default 0,
         "lockedBy" text, "startedAt" timestamp(3), "updatedAt" timestamp(3) not null default now(), type text not null);
       insert into "ConversionJob" (id, type) values ('a', 'job');`,
      'ConversionJob',
      'conversion_job',
    ],
    [
      'reserved words',
      `create table "order" ("user" uuid primary key default gen_random_uuid(), status varchar(20) not null default 'queued',
                             "select" text, priority int not null default 0);
       insert into "order" (status) values ('queued');`,
      'order',
      'order',
    ],
    [
      'a generated column, and triggers of its own',
      `create table tasks (
         id int generated by default as identity primary key, status text not null default 'queued',
         stage text generated always as (upper(status)) stored, updated_at timestamptz, attempts smallint not null default 0);
       create function touch() returns trigger language plpgsql as $$ begin new.updated_at := now(); return new; end $$;
       create trigger touch before update on tasks for each row execute function touch();
       insert into tasks default values;`,
      'tasks',
      'tasks',
    ],
    [
      'no word for cancelled, and no word but its default anywhere',
      `create table mail_queue (id bigserial primary key, status text not null default 'new', locked_until timestamptz);
       insert into mail_queue default values;`,
      'mail_queue',
      'mail_queue',
    ],
    [
      'partitions by the time of creation',
      `create table events_queue (
         id bigint generated by default as identity, status text not null default 'queued', locked_by text,
         created_at timestamptz not null default now(), primary key (id, created_at)) partition by range (created_at);
       create table events_queue_rest partition of events_queue default;
       insert into events_queue default values;`,
      'events_queue',
      'events_queue',
    ],
  ])('OPS-7 with %s are attached, worked on, and come off again', async (_, sql, table, attachment) => {
    await database.pool.query(sql)
    const before = await describePublic()
    const { exitCode, stderr } = await run('attach', '--yes', '--table', table)
    expect([exitCode, stderr]).toEqual([0, stderr])
    await run('mode', 'reap')
    const claim = `select id, lease_id from unstuck.claim_jobs__${attachment}('w', array['job'], 1)`
    const { rows } = await database.pool.query<{ id: string; lease_id: string }>(claim)
    expect(rows).toHaveLength(1)
    const [job] = rows
    const { rows: done } = await database.pool.query(
      `select outcome from unstuck.complete_jobs__${attachment}(array[$1], array[$2::uuid])`.replace(
        '$1',
        table === 'order' ? '$1::uuid' : table === 'ConversionJob' ? '$1::text' : '$1::bigint',
      ),
      [job?.id, job?.lease_id],
    )
    expect(done).toEqual([{ outcome: 'completed' }])
    await run('detach')
    expect(await describePublic()).toEqual(before)
  })
})

describe('what cannot be attached', () => {
  it.each<[string, string, string[], number, RegExp]>([
    ['a table that is not there', '', ['--table', 'nowhere'], 2, /table nowhere: not found/],
    ['no table that looks like one', '', [], 2, /no table looks like a job table/],
    [
      'two tables of one name',
      `${videoJobs} create schema other; create table other.video_jobs (like video_jobs including all);`,
      ['--table', 'video_jobs'],
      2,
      /--table: got "video_jobs", takes one of other\.video_jobs, public\.video_jobs/,
    ],
    [
      'a view',
      `${videoJobs} create view v as select * from video_jobs;`,
      ['--table', 'v'],
      4,
      /public\.v: it is a view/,
    ],
    [
      'a table without a status',
      'create table t (id int primary key);',
      ['--table', 't'],
      4,
      /no column looks like a status/,
    ],
    ['a table without a key', 'create table t (id int, status text);', ['--table', 't'], 4, /no primary key/],
    [
      'the table of another queue',
      `create table river_job (id bigserial primary key, state text, attempted_at timestamptz, attempted_by text[], kind text,
                               finalized_at timestamptz, max_attempts smallint);`,
      ['--table', 'river_job'],
      4,
      /belongs to River/,
    ],
    ['a name that is none', '', ['--table', '"'], 2, /--table: got .*takes a table, or schema\.table/],
    ['a profile that is none', '', ['--profile', 'clop'], 2, /takes native, clip/],
    [
      'a table that the profile has not',
      clipTables,
      ['--profile', 'clip', '--table', 'tasks'],
      2,
      /takes one of profile clip: public\.jobs, public\.asr_jobs/,
    ],
    [
      'status words that the profile does not know',
      `${clipTables} insert into asr_jobs (status) values ('in_progress');`,
      ['--profile', 'clip'],
      4,
      /public\.asr_jobs: its rows have 'in_progress' as their status, which the profile does not know/,
    ],
    [
      'events that may belong to another job table only',
      `${clipTables} alter table job_events add constraint of_jobs foreign key (job_id) references jobs;`,
      ['--profile', 'clip'],
      4,
      /job_events: its constraint of_jobs lets job_id name rows of public\.jobs only/,
    ],
  ])('OPS-7 %s is told by one message, and nothing is changed', async (_, sql, args, exitCode, message) => {
    if (sql !== '') await database.pool.query(sql)
    const before = await describePublic()
    const refused = await run('attach', ...args)
    expect([refused.exitCode, refused.stdout]).toEqual([exitCode, ''])
    expect(refused.stderr).toMatch(message)
    await expectUntouched(before)
    expect(readdirSync(folder)).toEqual([])
  })

  it('OPS-7 by a role without the rights, or on a read-only server, reports it', async () => {
    await database.pool.query(clipTables)
    const before = await describePublic()
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    const { rows } = await database.pool.query<{ name: string }>('select current_database() as name')
    await database.pool.query(
      `create role ${role} login password 'of-a-test'; grant create on database ${rows[0]?.name} to ${role};
       grant select on all tables in schema public to ${role}`,
    )
    const guest = new URL(database.url)
    guest.username = role
    guest.password = 'of-a-test'
    const denied = await runCommand(['attach', '--profile', 'clip'], { DATABASE_URL: guest.href }, folder)
    await database.pool.query(`drop owned by ${role}; drop role ${role}`)
    expect([denied.exitCode, denied.stderr]).toEqual([
      4,
      expect.stringMatching(/must be owner of table jobs/),
    ])
    await expectUntouched(before)

    const standby = new URL(database.url)
    standby.searchParams.set('options', '-c default_transaction_read_only=on')
    const refused = await runCommand(['attach', '--profile', 'clip'], { DATABASE_URL: standby.href }, folder)
    expect([refused.exitCode, refused.stderr]).toEqual([4, expect.stringMatching(/read-only.*\n.*primary/)])
    await expectUntouched(before)
  })
})

describe('progress', () => {
  it('OPS-7 each step is a line on stderr, and with --json there is none', async () => {
    await database.pool.query(clipTables)
    const installed = await run('migrate', 'up')
    expect(installed.stderr).toMatch(/^ {2}migration 0001_engine\n/)
    expect(installed.stderr).toMatch(/\n {2}attach unstuck\.jobs\n {2}test run of unstuck\.jobs\n$/)
    const attached = await run('attach', '--profile', 'clip')
    expect(attached.stderr).toContain('  functions of public.asr_jobs\n  test run of public.asr_jobs\n')

    const detached = await run('detach', '--profile', 'clip', '--yes', '--json')
    const again = await run('attach', '--profile', 'clip', '--json')
    for (const { exitCode, stdout, stderr } of [detached, again]) {
      expect([exitCode, stderr]).toEqual([0, ''])
      expect(JSON.parse(stdout)).toMatchObject({ steps: expect.arrayContaining([expect.any(String)]) })
    }
  })
})

describe('detach', () => {
  it('OPS-5 takes one table off, and says so where there is nothing', async () => {
    await database.pool.query(clipTables)
    expect(await run('detach')).toMatchObject({
      exitCode: 0,
      stdout: 'nothing is installed in schema unstuck\n',
    })
    await run('attach', '--profile', 'clip')
    expect(await run('detach', '--table', 'asr_jobs')).toMatchObject({
      exitCode: 0,
      stdout: 'asr_jobs is detached\n',
    })
    expect(await run('detach', '--table', 'asr_jobs')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('table public.asr_jobs: not attached'),
    })
    const { rows } = await database.pool.query('select name from unstuck.attachments order by 1')
    expect(rows).toEqual([{ name: 'jobs' }, { name: 'native' }])
  })
})

it('C20 --roles prints the role of workers, for the tables of the profile', async () => {
  const { exitCode, stdout } = await run('attach', '--roles', '--profile', 'clip')
  expect(exitCode).toBe(0)
  expect(stdout).toContain('create role unstuck_worker login;')
  expect(stdout).toContain('grant select, insert, update, delete on "public"."asr_jobs" to unstuck_worker;')
  expect(stdout).toContain('grant select, insert on "public"."job_events" to unstuck_worker;')
})

it('C20 --roles prints it for the native table where there is no profile', async () => {
  const { exitCode, stdout } = await run('attach', '--roles')
  expect(exitCode).toBe(0)
  expect(stdout).toContain('"unstuck".kept_workers')
})
