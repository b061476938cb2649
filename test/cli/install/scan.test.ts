// `unstuck scan` on tables of other queues.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import type { ScannedTable, ScanReport } from '../../../src/compose/index.ts'
import { withReadOnlySession } from '../../../src/store/postgres/connection/read-only-session.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { foreignQueues, handRolledTables } from '../../support/tables/foreign-queues.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { runInProcess } from '../support/in-process.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  for (const { sql } of foreignQueues) await database.pool.query(sql)
  await database.pool.query(handRolledTables)
  await database.pool.query(clipTables)
  await database.pool.query(executorTables)
  await database.pool.query(
    `insert into executor_jobs (type, status, locked_at, locked_by) values
       ('run_tsa', 'running', now() - interval '35 minutes', 'w-dead'), ('run_tsa', 'processing', now(), 'w'),
       ('run_tsa', 'queued', null, null);
     insert into asr_jobs (status, last_heartbeat_at, started_at, updated_at) values
       ('processing', null, now() - interval '35 minutes', null), ('processing', now(), now() - interval '2 hours', null)`,
  )
})
afterAll(() => database.drop())

async function scan(url = database.url, ...args: string[]): Promise<ScanReport> {
  const { stdout, stderr, exitCode } = await runInProcess(['scan', url, '--json', ...args])
  expect([stderr, exitCode]).toEqual(['', exitCode === 0 ? 0 : 1])
  return JSON.parse(stdout) as ScanReport
}

function find({ tables }: ScanReport, schema: string, table: string): ScannedTable {
  const found = tables.find((candidate) => candidate.schema === schema && candidate.table === table)
  if (found === undefined) throw new Error(`${schema}.${table} was not found`)
  return found
}

describe('tables of other queues', () => {
  let report: ScanReport
  beforeAll(async () => {
    report = await scan()
  })

  it.each(foreignQueues)(
    'REAP-13 $table of $name is recognised, and its stuck job told by its own rule',
    ({ name, schema, table, isUncounted = false }) => {
      const found = find(report, schema, table)
      expect(found).toMatchObject({ kind: 'known queue', name, certainty: 'sure', next: null })
      expect(found.remedy).not.toBe('')
      if (isUncounted) {
        expect(found).toMatchObject({ counts: null, problem: 'its rows do not say which of them run' })
        return
      }
      expect(found.problem).toBeNull()
      expect(found.counts).toMatchObject({ running: 2, stuck: 1, unjudged: 0 })
    },
  )

  it('REAP-13 other tables of a queue are neither counted nor proposed', () => {
    const told = report.tables.map(({ schema, table }) => `${schema}.${table}`)
    for (const part of ['boss9.archive', 'pgmq.a_mail', 'absurd.t_default', 'absurd.c_default'])
      expect(told).not.toContain(part)
    expect(told).not.toContain('hatchet.v1_tasks_olap')
  })

  it('REAP-13 a silent job within the limit of its queue is not counted as stuck', () => {
    expect(find(report, 'graphile_worker', '_private_jobs').counts).toMatchObject({ stuck: 1, silent: 1 })
    expect(find(report, 'pgboss', 'job').counts).toMatchObject({ stuck: 1, silent: 0 })
  })

  it('REAP-13 a partition is counted through its parent, not once more', () => {
    expect(report.tables.filter(({ schema }) => schema === 'pgboss')).toHaveLength(1)
  })

  it('REAP-8 a hand-rolled table is judged by the newest of its times', () => {
    const found = find(report, 'public', 'video_jobs')
    expect(found).toMatchObject({
      kind: 'hand-rolled',
      certainty: 'likely',
      evidence: ['status', 'heartbeat_at', 'locked_at', 'locked_by', 'attempts'],
      next: 'unstuck attach --plan --table public.video_jobs',
      counts: { running: 2, stuck: 1, stuckIds: ['1'] },
    })
    expect(found.counts?.oldestStuckMs).toBeCloseTo(35 * 60_000, -5)
  })

  it('REAP-8 the tables of a profile are found by it', () => {
    expect(find(report, 'public', 'asr_jobs')).toMatchObject({
      kind: 'profile',
      name: 'clip',
      counts: { running: 2, stuck: 1 },
      next: 'unstuck attach --plan --table public.asr_jobs --profile clip',
    })
    expect(find(report, 'public', 'executor_jobs')).toMatchObject({
      kind: 'profile',
      name: 'executor',
      counts: { running: 2, stuck: 1 },
      next: 'unstuck attach --plan --table public.executor_jobs --profile executor',
    })
  })

  it('REAP-13 users and subscriptions are no job tables', () => {
    expect(report.tables.map(({ table }) => table)).not.toContain('users')
    expect(report.tables.map(({ table }) => table)).not.toContain('subscriptions')
  })
})

describe('the command', () => {
  it('REAP-13 shows stuck jobs, the rule, the recovery and the next command, and exits with 1', async () => {
    const { exitCode, stdout } = await runInProcess(['scan'], { DATABASE_URL: database.url })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(
      /public\.video_jobs {2}looks hand-rolled \(status, heartbeat_at, locked_at, locked_by, attempts\)\n {2}2 running · 1 stuck, silent for up to 35 min/,
    )
    expect(stdout).toContain('the newest of heartbeat_at, locked_at, updated_at is older than 15 min')
    expect(stdout).toMatch(/public\.river_job {2}River\n {2}2 running · 1 stuck, silent for up to 91 d/)
    expect(stdout).toContain('recovery: The job rescuer of the elected leader')
    expect(stdout).toContain('unstuck attach --plan --table public.video_jobs')
    expect(stdout).toContain('Nothing was written')
  })

  it('REAP-8 --older-than moves the line for rows without a lease', async () => {
    const report = await scan(database.url, '--older-than', '1h')
    expect(find(report, 'public', 'video_jobs').counts).toMatchObject({ stuck: 0 })
    const refused = await runInProcess(['scan', database.url, '--older-than', 'long'])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  })

  it('REAP-13 exits with 0 where nothing is stuck, and with 3 where nobody answers', async () => {
    const empty = await createTestDatabase()
    onTestFinished(() => empty.drop())
    const fine = await runInProcess(['scan', empty.url])
    expect(fine.exitCode).toBe(0)
    expect(fine.stdout).toContain('No job table is visible')
    expect(fine.stdout).toMatch(
      /\nNot understood: no other table has signs of jobs\.\nNot looked at: other databases of this server\.\n$/,
    )
    const nobody = await runInProcess(['scan', 'postgres://nobody@127.0.0.1:1/nothing'])
    expect(nobody).toMatchObject({ exitCode: 3, stdout: '' })
  })
})

describe('a table without a status that is understood', () => {
  it('OPS-13 REAP-8 is judged by its times, or named in the last line: never an all-clear', async () => {
    const own = await createTestDatabase()
    onTestFinished(() => own.drop())
    await own.pool.query(`
      create table sync_jobs (id serial primary key, attempts int not null default 0, reserved_at timestamp, failed_at timestamp,
        done_at timestamp);
      insert into sync_jobs (reserved_at, done_at) values
        ((now() - interval '2 hours') at time zone 'UTC', null), (now() at time zone 'UTC', null),
        ((now() - interval '2 hours') at time zone 'UTC', now() at time zone 'UTC'), (null, null);
      create table sends (id serial primary key, state int not null default 1, locked_at timestamptz, locked_by text);`)
    const { exitCode, stdout } = await runInProcess(['scan', own.url])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('2 running · 1 stuck, silent for up to 2 h')
    expect(stdout.trimEnd().split('\n').at(-2)).toMatch(
      /^Not understood: public\.sends \(no word of state that is known means running\)\. If they hold jobs/,
    )
  })
})

describe('a scan changes nothing', () => {
  it('REAP-13 no transaction gets an id and no row is written, by the word of the server', async () => {
    const { isUnwritten } = await scan()
    expect(isUnwritten).toBe(true)
    const before = await rowVersions()
    await scan()
    expect(await rowVersions()).toEqual(before)
  })

  /** xmin, xmax and ctid of every row of every table, including the catalogues. */
  async function rowVersions(): Promise<unknown> {
    const { rows } = await database.pool.query<{ name: string; versions: string }>(
      `select relation.oid::regclass::text as name, query_to_xml(format(
                'select md5(string_agg(concat(xmin, xmax, ctid), null order by ctid)) from %s', relation.oid::regclass),
                true, false, '')::text as versions
         from pg_class relation join pg_namespace namespace on namespace.oid = relnamespace
        where relkind = 'r' and (nspname !~ '^pg_|information_schema' or relname in ('pg_class', 'pg_attribute', 'pg_proc'))
        order by 1`,
    )
    return rows
  }

  it('REAP-13 a look at the database refuses every write', async () => {
    const options = { databaseUrl: database.url, applicationName: 'unstuck scan', timeoutMs: 2_000 }
    await withReadOnlySession(options, async (session) => {
      await expect(
        session.look((run) => run("insert into public.users (status, updated_at) values ('x', now())")),
      ).rejects.toThrow('read-only transaction')
      await expect(session.look((run) => run('set transaction read write'))).rejects.toThrow(
        'read-write mode must be set',
      )
      expect(
        await session.look((run) => run("select current_setting('transaction_read_only') as mode")),
      ).toEqual([{ mode: 'on' }])
    })
  })

  it('REAP-13 a role that may read some tables gets those, and the others named', async () => {
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    await database.pool.query(
      `create role ${role} login password 'of-a-test'; grant select on video_jobs to ${role};
       grant usage on schema graphile_worker to ${role}; grant select on graphile_worker._private_jobs to ${role}`,
    )
    onTestFinished(async () => {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`)
    })
    const url = new URL(database.url)
    url.username = role
    url.password = 'of-a-test'
    const report = await scan(url.href)
    expect(find(report, 'public', 'video_jobs').counts).toMatchObject({ stuck: 1 })
    expect(find(report, 'public', 'river_job')).toMatchObject({
      counts: null,
      problem: 'this role may not read it',
    })
    // Its rows are hidden, not missing: "none" would be wrong.
    expect(find(report, 'graphile_worker', '_private_jobs')).toMatchObject({ isFiltered: true })
    const { stdout } = await runInProcess(['scan', url.href])
    expect(stdout).toContain('row-level security hides rows')
    expect(stdout).toMatch(/public\.river_job {2}River\n {2}! not counted: this role may not read it/)
  })

  it('REAP-13 a table that cannot be counted in time is named, and the others are counted', async () => {
    const client = await database.connect()
    await client.query('begin; lock table river_job in access exclusive mode')
    const report = await scan()
    await client.query('rollback')
    expect(find(report, 'public', 'river_job').problem).toMatch(/locked|longer than 2 s/)
    expect(find(report, 'public', 'video_jobs').counts).toMatchObject({ stuck: 1 })
  }, 120_000)

  it('REAP-13 odd names are quoted', async () => {
    const odd = await createTestDatabase()
    onTestFinished(() => odd.drop())
    await odd.pool.query(
      `create schema "o'dd ""schema";
       create table "o'dd ""schema"."My Jobs" (
         "Id" int primary key, "jobStatus" varchar(20), "lockedAt" timestamp, "lockedBy" text, "leaseExpiresAt" timestamptz);
       insert into "o'dd ""schema"."My Jobs" values
         (1, 'PROCESSING', now(), 'w', now() - interval '1 s'), (2, 'In Progress', now(), 'w', now() + interval '1 h'),
         (3, 'in-progress', timezone('UTC', now()) - interval '16 min', 'w', null), (4, 'done', now(), 'w', null)`,
    )
    const report = await scan(odd.url)
    expect(find(report, `o'dd "schema`, 'My Jobs')).toMatchObject({
      certainty: 'likely',
      counts: { running: 3, stuck: 2, stuckIds: ['3', '1'] },
      next: String.raw`unstuck attach --plan --table '"o'\''dd ""schema"."My Jobs"'`,
    })
  })
})

describe('a standby', () => {
  let folder: string
  let server: PostgresServer
  const start = () =>
    startPostgres({ dataDir: join(folder, 'data'), binaries: process.env['UNSTUCK_TEST_BINARIES'] })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'unstuck-standby-'))
    chmodSync(folder, 0o711)
    server = await start()
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(handRolledTables)
    await client.end()
    await server.stop()
    writeFileSync(join(server.dataDir, 'standby.signal'), '')
    server = await start()
  }, 120_000)
  afterAll(async () => {
    await server?.stop({ mode: 'immediate' })
    rmSync(folder, { recursive: true, force: true })
  })

  it('REAP-13 is scanned as any other server', async () => {
    const report = await scan(server.url)
    expect(report).toMatchObject({ isStandby: true, isUnwritten: true })
    expect(find(report, 'public', 'video_jobs').counts).toMatchObject({ running: 2, stuck: 1 })
  })

  it('OPS-8 is no place to work on, says doctor', async () => {
    const { exitCode, stdout } = await runInProcess(['doctor'], { DATABASE_URL: server.url })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/✗ connection +PostgreSQL .* is a standby/)
  })
})
