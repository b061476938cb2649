// `unstuck doctor`: each test breaks one thing and repairs it.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Finding } from '../../../src/doctor/finding.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { createAttachedDatabase, createInstalledDatabase } from '../../support/installed-database.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { runInProcess } from '../support/in-process.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase
let store: JobStore

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
  // A sweep counts for three intervals: longer than the tests take.
  await store.writePolicy({ sweepIntervalMs: 600_000 })
  await database.pool.query('call unstuck.run_sweep()')
})
afterAll(() => database.drop())

interface Diagnosis {
  exitCode: number | null
  problems: Finding[]
  warnings: Finding[]
  fine: Finding[]
}

async function doctor(env: Record<string, string> = {}): Promise<Diagnosis> {
  const { exitCode, stdout, stderr } = await runInProcess(['doctor', '--json'], {
    DATABASE_URL: database.url,
    ...env,
  })
  expect(stderr).toBe('')
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  const of = (level: Finding['level']) => findings.filter((finding) => finding.level === level)
  return { exitCode, problems: of('problem'), warnings: of('warning'), fine: of('fine') }
}

/** Runs a statement now, and another one after the test. */
async function breakIt(sql: string, mend: string): Promise<void> {
  await database.pool.query(sql)
  onTestFinished(async () => {
    await database.pool.query(mend)
  })
}

describe('a deployment that is well', () => {
  it('OPS-8 every check is printed with its finding, and the exit code is 0', async () => {
    const { exitCode, stdout } = await runInProcess(['doctor'], { DATABASE_URL: database.url })
    expect(exitCode).toBe(0)
    for (const line of [
      /✓ connection +PostgreSQL \d+.*; clock skew -?\d+\.\d\d s/,
      /✓ pooler +none/,
      /✓ migrations +\d+ of \d+ applied, no drift/,
      /✓ claim index +claims of unstuck\.jobs .*jobs_ready/,
      /✓ sweep index +sweeps of unstuck\.jobs .*jobs_running/,
      /✓ lease vs beat +unstuck\.jobs: lease 60 s, heartbeat 15 s/,
      /✓ reaper +unstuck\.jobs was swept/,
      /✓ over 2x TTL /,
      /✓ status words /,
      /✓ autovacuum /,
      /✓ fillfactor +unstuck\.jobs: 70/,
      /✓ policy drift /,
      /✓ permissions /,
      /✓ long transactions /,
      /^0 warnings, 0 problems$/m,
    ])
      expect(stdout).toMatch(line)
  })

  it('OPS-8 --quiet is silent on success and gives one line per problem otherwise', async () => {
    const quiet = () => runInProcess(['doctor', '--quiet'], { DATABASE_URL: database.url })
    expect(await quiet()).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    await breakIt(
      "update unstuck.sweeps set swept_at = now() - interval '1 hour'",
      'update unstuck.sweeps set swept_at = now()',
    )
    const { exitCode, stdout, stderr } = await quiet()
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^unstuck: no reaper: no sweep of unstuck\.jobs for 60 min .*unstuck reaper\n$/)
  })

  it('OPS-8 a small table may be read in any way; on a large one the claim and the sweep use their indexes', async () => {
    await store.enqueueJobs([{ type: 'asr' }, { type: 'clip' }])
    await database.pool.query('analyze unstuck.jobs')
    onTestFinished(async () => {
      await database.pool.query('truncate unstuck.jobs; analyze unstuck.jobs')
    })
    expect(await doctor()).toMatchObject({ exitCode: 0, problems: [], warnings: [] })
    await database.pool.query(
      `insert into unstuck.jobs (id, type, status) select gen_random_uuid(), 'asr', 'succeeded' from generate_series(1, 20000);
       analyze unstuck.jobs`,
    )
    const { fine, warnings } = await doctor()
    expect(warnings).toEqual([])
    expect(fine.filter(({ check }) => check.endsWith('index')).map(({ message }) => message)).toEqual([
      'claims of unstuck.jobs use jobs_ready',
      'sweeps of unstuck.jobs use jobs_running',
    ])
  })

  it('OPS-8 exits with 3 where nobody answers', async () => {
    const nobody = await runInProcess(['doctor'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    expect(nobody).toMatchObject({ exitCode: 3, stdout: '' })
  })
})

describe('one thing is broken', () => {
  it('OPS-8 nothing is installed', async () => {
    const empty = await createTestDatabase()
    onTestFinished(() => empty.drop())
    const { exitCode, problems } = await doctor({ DATABASE_URL: empty.url })
    expect(exitCode).toBe(1)
    expect(problems).toMatchObject([
      { check: 'migrations', message: 'nothing is installed', fix: 'unstuck migrate up' },
    ])
  })

  it('OPS-8 a function was changed by hand', async () => {
    await breakIt(
      "create or replace function unstuck.count_dispatches(p_attachment text) returns int language sql stable as 'select 0'",
      'select 1',
    )
    onTestFinished(() => migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile }))
    const { exitCode, problems } = await doctor()
    expect(exitCode).toBe(1)
    expect(problems[0]).toMatchObject({ check: 'migrations', message: 'engine: functions differ' })
  })

  it('OPS-8 the index of the claim is gone: the statement makes it again', async () => {
    await database.pool.query('drop index unstuck.jobs_ready')
    const { exitCode, problems } = await doctor()
    expect(exitCode).toBe(1)
    const found = problems.find(({ check }) => check === 'claim index')
    expect(found?.message).toContain('unstuck.jobs has no valid index jobs_ready')
    await database.pool.query(found?.fix ?? '')
    expect(await doctor()).toMatchObject({ exitCode: 0, problems: [] })
  })

  it('LEASE-4 too few heartbeats fit into a lease', async () => {
    await store.writePolicy({ heartbeatMs: 20_000, stageLeasesMs: { asr: 30_000, clip: 50_000 } })
    onTestFinished(async () => {
      await database.pool.query(`update unstuck.policies set heartbeat_ms = 15000, stage_leases_ms = '{}'`)
    })
    const { exitCode, problems, warnings } = await doctor()
    expect(exitCode).toBe(1)
    expect(problems).toMatchObject([
      {
        check: 'lease vs beat',
        message: 'unstuck.jobs: stage asr: a lease of 30 s has fewer than 2 heartbeats of 20 s',
        fix: expect.stringMatching(/^set heartbeatMs \(HEARTBEAT_SEC\) to at most 15 s/) as string,
      },
    ])
    expect(warnings).toMatchObject([
      { check: 'lease vs beat', message: expect.stringContaining('stage clip') as string },
    ])
  })

  it('OPS-4 nobody sweeps, and a job is past its lease by more than another lease', async () => {
    await breakIt(
      `insert into unstuck.jobs (id, type, status, lease_id, worker_id, lease_expires_at, heartbeat_at)
         values (gen_random_uuid(), 'asr', 'running', gen_random_uuid(), 'w-dead', now() - interval '11 minutes', now());
       update unstuck.sweeps set swept_at = now() - interval '31 minutes'`,
      'delete from unstuck.jobs; update unstuck.sweeps set swept_at = now()',
    )
    const { exitCode, problems } = await doctor()
    expect(exitCode).toBe(1)
    expect(problems.map(({ check, fix }) => [check, fix])).toEqual([
      ['no reaper', 'Start a worker, or: unstuck reaper'],
      ['over 2x TTL', 'unstuck reap --once'],
    ])
    expect(problems[1]?.message).toContain('unstuck.jobs: 1 job overdue by more than the lease')
  })

  it('OPS-4 a job that is late by less than another lease is no problem yet', async () => {
    await breakIt(
      `insert into unstuck.jobs (id, type, status, lease_id, worker_id, lease_expires_at, heartbeat_at)
         values (gen_random_uuid(), 'asr', 'running', gen_random_uuid(), 'w', now() - interval '30 seconds', now())`,
      'delete from unstuck.jobs',
    )
    expect(await doctor()).toMatchObject({ exitCode: 0, problems: [] })
  })

  it('OPS-8 the table is unlogged, has no primary key, no room on its pages and no autovacuum', async () => {
    await breakIt(
      `alter table unstuck.jobs set unlogged; alter table unstuck.jobs drop constraint jobs_pkey;
       alter table unstuck.jobs set (fillfactor = 100, autovacuum_enabled = off)`,
      'select 1',
    )
    const { exitCode, problems, warnings } = await doctor()
    expect(exitCode).toBe(1)
    expect(problems.map(({ check }) => check)).toEqual(['unlogged', 'primary key', 'autovacuum'])
    expect(warnings.map(({ check }) => check)).toEqual(['fillfactor'])
    for (const { fix } of [...problems, ...warnings]) await database.pool.query(fix ?? '')
    expect(await doctor()).toMatchObject({ exitCode: 0, problems: [], warnings: [] })
  })

  it('LEASE-4 an index over what heartbeats write is named with its cost, also where only its condition holds it', async () => {
    await database.pool.query(
      `create index by_beat on unstuck.jobs (status, heartbeat_at);
       create index by_condition on unstuck.jobs (id) where lease_expires_at is not null;
       create index by_type on unstuck.jobs (type)`,
    )
    const { exitCode, warnings } = await doctor()
    expect(exitCode).toBe(0)
    expect(warnings.map(({ check, fix }) => [check, fix])).toEqual([
      ['heartbeat index', 'drop index concurrently unstuck.by_beat'],
      ['heartbeat index', 'drop index concurrently unstuck.by_condition'],
    ])
    expect(warnings[0]?.message).toContain('by_beat of unstuck.jobs contains heartbeat_at')
    for (const { fix } of warnings) await database.pool.query(fix ?? '')
    await database.pool.query('drop index unstuck.by_type')
    expect((await doctor()).warnings).toEqual([])
  })

  it('OPS-8 the environment says something else than the stored policy: the statement stores it', async () => {
    const env = { HEARTBEAT_SEC: '20', DEFAULT_LEASE_SEC: '60' }
    const { exitCode, warnings } = await doctor(env)
    expect(exitCode).toBe(0)
    expect(warnings).toMatchObject([
      { check: 'policy drift', message: 'unstuck.jobs: heartbeatMs is 20000 here and 15000 in the database' },
    ])
    await database.pool.query(warnings[0]?.fix ?? '')
    onTestFinished(async () => {
      await store.writePolicy({ heartbeatMs: 15_000 })
    })
    expect((await doctor(env)).warnings).toEqual([])
  })

  it('BREAK-2 a held breaker and a paused queue are reported, but not as problems', async () => {
    await store.mapDependency('convert', 'gateway')
    await store.holdBreaker('gateway', { actor: 'ana', reason: 'INC-431' })
    await store.pauseQueue('asr', { actor: 'ben', reason: 'new model' })
    onTestFinished(async () => {
      await database.pool.query('truncate unstuck.breakers, unstuck.dependencies, unstuck.pauses cascade')
    })
    const { exitCode, warnings } = await doctor()
    expect(exitCode).toBe(0)
    expect(warnings.map(({ message, fix }) => [message, fix])).toEqual([
      [
        'queue asr of unstuck.jobs is paused by ben: new model, until it is resumed; jobs due: 0',
        'unstuck queues resume asr --reason …',
      ],
      [
        'breaker gateway is held by ana: INC-431; queues on hold: convert',
        'unstuck breaker resume gateway --reason …',
      ],
    ])
  })

  it('REAP-12 jobs not yet sent to the outside queue are counted', async () => {
    await store.writePolicy({ dispatch: 'requeued' })
    const [lease] = await claimOne()
    if (lease === undefined) throw new Error('nothing was claimed')
    await store.releaseJobs([lease])
    onTestFinished(async () => {
      await store.writePolicy({ dispatch: 'off' })
      await database.pool.query('delete from unstuck.jobs; delete from unstuck.dispatches')
    })
    const { exitCode, warnings } = await doctor()
    expect(exitCode).toBe(0)
    expect(warnings).toMatchObject([
      { check: 'dispatches', message: 'unstuck.jobs: 1 job not yet dispatched to the outside queue' },
    ])
  })

  async function claimOne() {
    await store.enqueueJobs([{ type: 'asr' }])
    return store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })
  }

  it('OPS-8 a role without permissions gets the missing grants, and passes with them', async () => {
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    await database.pool.query(
      `create role ${role} login password 'of-a-test'; grant usage on schema unstuck to ${role};
       grant select on all tables in schema unstuck to ${role};
       grant insert, update, delete on all tables in schema unstuck to ${role};
       revoke update on unstuck.jobs, unstuck.sweeps from ${role};
       revoke all on unstuck.trends from ${role}`,
    )
    onTestFinished(async () => {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`)
    })
    const url = new URL(database.url)
    url.username = role
    url.password = 'of-a-test'
    const env = { DATABASE_URL: url.href, UNSTUCK_MIGRATE_URL: database.url }
    const { exitCode, problems } = await doctor(env)
    expect(exitCode).toBe(1)
    expect(problems).toMatchObject([
      { check: 'permissions', fix: `grant update on unstuck.jobs to ${role}` },
      { check: 'permissions', fix: `grant update on unstuck.sweeps to ${role}` },
      { check: 'permissions', fix: `grant select, insert, update, delete on unstuck.trends to ${role}` },
    ])
    for (const { fix } of problems) await database.pool.query(fix ?? '')
    expect(await doctor(env)).toMatchObject({ exitCode: 0, problems: [] })
  })

  it('OPS-8 an abandoned replication slot is reported with the statement that drops it', async () => {
    const slot = `unstuck_test_${randomBytes(6).toString('hex')}`
    await database.pool.query('select pg_create_physical_replication_slot($1, true)', [slot])
    const { exitCode, warnings } = await doctor()
    expect(exitCode).toBe(0)
    const found = warnings.filter(({ message }) => message.includes(slot))
    expect(found).toMatchObject([
      { check: 'long transactions', fix: `select pg_drop_replication_slot('${slot}')` },
    ])
    await database.pool.query(found[0]?.fix ?? '')
    expect((await doctor()).warnings).toEqual([])
  })

  it('OPS-8 a statement that takes too long is reported, and the rest is checked', async () => {
    const client = await database.connect()
    await client.query('begin; lock table unstuck.pauses in access exclusive mode')
    const { exitCode, problems, fine } = await doctor()
    await client.query('rollback')
    expect(exitCode).toBe(1)
    expect(problems).toMatchObject(
      ['health of unstuck.jobs', 'waiting jobs of unstuck.jobs'].map((subject) => ({
        check: 'unreadable',
        message: expect.stringContaining(subject) as string,
      })),
    )
    expect(fine.map(({ check }) => check)).toContain('status words')
  }, 120_000)
})

describe('an attached table', () => {
  let clip: TestDatabase
  beforeAll(async () => {
    clip = await createAttachedDatabase()
    // Each commits on its own, so they cannot be sent together.
    for (const name of ['jobs', 'asr_jobs']) await clip.pool.query(`call unstuck.run_sweep__${name}()`)
  })
  afterAll(() => clip.drop())

  const doctorOfClip = () => doctor({ DATABASE_URL: clip.url, UNSTUCK_PROFILE: 'clip' })

  it('OPS-8 the index of document 000 over the heartbeat is named, and what a team’s table lacks', async () => {
    const { exitCode, problems, warnings } = await doctorOfClip()
    expect([exitCode, problems]).toEqual([0, []])
    expect(warnings.map(({ check, message }) => [check, message.split(' ').slice(0, 3).join(' ')])).toEqual([
      ['fillfactor', 'public.jobs: 100 leaves'],
      ['heartbeat index', 'idx_jobs_status_heartbeat of public.jobs'],
      ['fillfactor', 'public.asr_jobs: 100 leaves'],
    ])
  })

  it('OPS-8 a role that may not write the application’s events gets the missing grant', async () => {
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    await clip.pool.query(
      `create role ${role} login password 'of-a-test'; grant usage on schema unstuck to ${role};
       grant select, insert, update, delete on all tables in schema unstuck, public to ${role};
       revoke all on job_events from ${role}`,
    )
    onTestFinished(async () => {
      await clip.pool.query(`drop owned by ${role}; drop role ${role}`)
    })
    const url = new URL(clip.url)
    url.username = role
    url.password = 'of-a-test'
    const env = { DATABASE_URL: url.href, UNSTUCK_MIGRATE_URL: clip.url, UNSTUCK_PROFILE: 'clip' }
    const { problems } = await doctor(env)
    expect([...new Set(problems.map(({ fix }) => fix))]).toEqual([
      `grant insert on public.job_events to ${role}`,
    ])
  })

  it('REAP-8 a status that the profile does not know is named with its rows', async () => {
    await clip.pool.query("insert into asr_jobs (status) values ('paused'), ('paused'), ('queued')")
    onTestFinished(async () => {
      await clip.pool.query('delete from asr_jobs')
    })
    const { exitCode, problems } = await doctorOfClip()
    expect(exitCode).toBe(1)
    expect(problems).toMatchObject([
      {
        check: 'status words',
        message: expect.stringMatching(/^public\.asr_jobs .*: 'paused' \(2\)$/) as string,
      },
    ])
  })

  it('OPS-8 tables of the profile that are not attached are reported', async () => {
    const half = await createTestDatabase()
    onTestFinished(() => half.drop())
    await half.pool.query(clipTables)
    await migrateUp({ databaseUrl: half.url, schema: 'unstuck', profile })
    const { exitCode, problems } = await doctor({ DATABASE_URL: half.url, UNSTUCK_PROFILE: 'clip' })
    expect(exitCode).toBe(1)
    expect(problems.map(({ message }) => message)).toEqual([
      'public.jobs: not attached',
      'public.asr_jobs: not attached',
    ])
  })
})
