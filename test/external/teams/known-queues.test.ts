// Databases with the queues that teams have, made by those queues themselves where they run here: scan tells what is stuck in
// them, and attach leaves their tables alone, whoever asks.
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ScanReport } from '../../../src/compose/index.ts'
import { completeProfile, type OwnTable } from '../../../src/profile/own-profile.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { type CommandFolder, openCommandFolder } from '../../migrate/command-folder.ts'
import { describeSchema, schemaExists } from '../../migrate/describe.ts'
import { foreignQueues } from '../../support/tables/foreign-queues.ts'

const require = createRequire(new URL('queues/package.json', import.meta.url))

let { database, folder, run, close } = {} as CommandFolder
beforeEach(async () => {
  ;({ database, folder, run, close } = await openCommandFolder())
})
afterEach(() => close())

async function scan(): Promise<ScanReport['tables']> {
  const { stdout } = await run('scan', '--json')
  return (JSON.parse(stdout) as ScanReport).tables
}

const ourWords: OwnTable['statuses'] = {
  waiting: 'created',
  running: ['active'],
  succeeded: 'completed',
  dead: 'failed',
}

/** As somebody writes it who takes the table for their own. */
function writeConfig(schema: string, table: string): void {
  const profile = {
    name: 'ours',
    tables: [
      {
        schema,
        table,
        idType: 'uuid',
        columns: { status: 'state' },
        statuses: ourWords,
        ignoredStatuses: ['retry', 'cancelled'],
      },
    ],
  }
  writeFileSync(join(folder, 'unstuck.config.mjs'), `export default ${JSON.stringify({ profile })}`)
}

/** With --json the error is an object on stderr. */
async function expectRefusal(args: string[], table: string, queue: string): Promise<void> {
  const { exitCode, stdout, stderr } = await run('attach', ...args, '--json')
  expect([exitCode, stdout]).toEqual([4, ''])
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string } }
  expect(error).toMatchObject({
    code: 'TABLE_OF_ANOTHER_QUEUE',
    message: `table ${table}: it belongs to ${queue}`,
  })
}

/** Every way to ask for it. */
async function expectUntouched(schema: string, table: string, queue: string): Promise<void> {
  const before = await describeSchema(database.pool, schema)
  const name = `${schema}.${table}`
  rmSync(join(folder, 'unstuck.config.mjs'), { force: true })
  await expectRefusal(['--table', name, '--yes'], name, queue)
  await expectRefusal(['--table', name, '--plan'], name, queue)
  writeConfig(schema, table)
  await expectRefusal([], name, queue)
  await expectRefusal(['--plan'], name, queue)
  await expectRefusal(['--layout', 'plain'], name, queue)
  expect(await describeSchema(database.pool, schema)).toEqual(before)
  expect(await schemaExists(database.pool)).toBe(false)
}

interface Boss {
  start(): Promise<unknown>
  stop(options: { graceful: boolean }): Promise<void>
  createQueue(name: string): Promise<void>
  send(name: string, data: object): Promise<string>
  fetch(name: string): Promise<{ id: string }[]>
  complete(name: string, id: string): Promise<void>
  on(event: 'error', listener: () => void): void
}

describe('pg-boss 10, running', () => {
  const schema = 'work_queue'
  let boss: Boss
  beforeEach(async () => {
    const PgBoss = require('pg-boss10') as new (options: object) => Boss
    boss = new PgBoss({ connectionString: database.url, schema, supervise: false, schedule: false })
    boss.on('error', () => {})
    await boss.start()
    await boss.createQueue('mail')
  })
  afterEach(() => boss.stop({ graceful: false }))

  async function fetchTwo(): Promise<string> {
    await boss.send('mail', { to: 'ana' })
    await boss.send('mail', { to: 'bo' })
    const [first] = await boss.fetch('mail')
    await boss.fetch('mail')
    await database.pool.query(
      `update ${schema}.job set started_on = now() - interval '20 minutes' where id = $1`,
      [first?.id],
    )
    return String(first?.id)
  }

  it('REAP-13 scan knows it in a schema of any name, with what is past its expiry and who rescues it', async () => {
    const id = await fetchTwo()
    const tables = await scan()
    expect(tables).toHaveLength(1)
    expect(tables[0]).toMatchObject({
      schema,
      table: 'job',
      kind: 'known queue',
      name: 'pg-boss',
      next: null,
      counts: { running: 2, stuck: 1, unjudged: 0, stuckIds: [`mail,${id}`] },
    })
    expect(tables[0]?.remedy).toMatch(/^Every running pg-boss retries or fails expired jobs/)
    const { exitCode, stdout } = await run('scan')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('2 running · 1 stuck, silent for up to 20 min')
    expect(stdout).not.toContain('hand-rolled')
  })

  it('OPS-7 attach refuses its table and each of its partitions, and pg-boss works on', async () => {
    await expectUntouched(schema, 'job', 'pg-boss')
    const { rows } = await database.pool.query<{ name: string }>(
      `select relname as name from pg_class join pg_inherits on pg_class.oid = inhrelid
        where inhparent = '${schema}.job'::regclass`,
    )
    expect(rows).toHaveLength(1)
    await expectUntouched(schema, rows[0]?.name ?? '', 'pg-boss')
    await boss.send('mail', { to: 'ana' })
    const [job] = await boss.fetch('mail')
    await boss.complete('mail', job?.id ?? '')
    expect(await boss.fetch('mail')).toEqual([])
  })

  it('OPS-7 the refusal names the setting that helps and the page about moving', async () => {
    const { exitCode, stderr } = await run('attach', '--table', `${schema}.job`)
    expect(exitCode).toBe(4)
    expect(stderr).toContain(`table ${schema}.job: it belongs to pg-boss`)
    expect(stderr).toContain('expireInSeconds')
    expect(stderr).toContain('docs/migrate/pg-boss.md')
  })

  it('OPS-7 without a name attach proposes none of its tables, and says whose they are', async () => {
    const { exitCode, stderr } = await run('attach', '--yes')
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`no table looks like a job table; found ${schema}.job (pg-boss`)
    expect(await schemaExists(database.pool)).toBe(false)
  })
})

describe('pg-boss 12, as it installs itself', () => {
  beforeEach(async () => {
    const { getConstructionPlans } = (await import(require.resolve('pg-boss12'))) as {
      getConstructionPlans: (schema: string) => string
    }
    await database.pool.query(getConstructionPlans('pgboss'))
    await database.pool.query(
      `insert into pgboss.queue (name, policy, retry_limit, retry_delay, retry_backoff, expire_seconds, retention_seconds,
                                 deletion_seconds, partition, table_name)
       values ('mail', 'standard', 2, 0, false, 900, 1209600, 604800, false, 'job_common');
       insert into pgboss.job (name, state, started_on, heartbeat_on, heartbeat_seconds) values
         ('mail', 'active', now() - interval '20 minutes', null, null),
         ('mail', 'active', now() - interval '5 minutes', now() - interval '2 minutes', 60),
         ('mail', 'active', now() - interval '5 minutes', now(), 60), ('mail', 'created', null, null, null)`,
    )
  })

  it('REAP-13 scan knows it, and judges by expiry and by heartbeat', async () => {
    expect(await scan()).toMatchObject([
      { schema: 'pgboss', table: 'job', name: 'pg-boss', counts: { running: 3, stuck: 2, unjudged: 0 } },
    ])
  })

  it('OPS-7 attach refuses its tables', async () => {
    await expectUntouched('pgboss', 'job', 'pg-boss')
    await expectUntouched('pgboss', 'job_common', 'pg-boss')
    await expectUntouched('pgboss', 'bam', 'pg-boss')
  })
})

describe('graphile-worker, as it migrates itself', () => {
  it('REAP-13 OPS-7 scan counts its jobs and queues, and attach refuses both', async () => {
    const { makeWorkerUtils } = require('graphile-worker') as {
      makeWorkerUtils: (options: object) => Promise<{
        migrate(): Promise<void>
        addJob(name: string, payload: object, spec: object): Promise<unknown>
        release(): Promise<void>
      }>
    }
    const logger = { scope: () => logger, error() {}, warn() {}, info() {}, debug() {} }
    const utils = await makeWorkerUtils({ connectionString: database.url, schema: 'jobs_of_ours', logger })
    await utils.migrate()
    await utils.addJob('mail', {}, { queueName: 'letters' })
    await utils.addJob('mail', {}, {})
    await utils.release()
    await database.pool.query(
      `update jobs_of_ours._private_jobs set locked_by = 'w', locked_at = now() - interval '5 hours' where id = 1;
       update jobs_of_ours._private_job_queues set locked_by = 'w', locked_at = now() - interval '1 hour'`,
    )
    expect(await scan()).toMatchObject([
      { table: '_private_job_queues', name: 'graphile-worker queues', counts: { running: 1, stuck: 0 } },
      { table: '_private_jobs', name: 'graphile-worker', counts: { running: 1, stuck: 1 } },
    ])
    await expectUntouched('jobs_of_ours', '_private_jobs', 'graphile-worker')
    await expectUntouched('jobs_of_ours', '_private_job_queues', 'graphile-worker queues')
  })
})

describe('queues whose state is in their times', () => {
  it.each([
    // Reserved again after 90 s.
    ['Laravel', `update shop_jobs set reserved_at = null, attempts = attempts + 1 where id = 2`],
    // Taken again after 4 hours.
    ['Delayed Job', `update shop_delayed_jobs set locked_at = null, locked_by = null where id = 2`],
  ])(
    'REAP-13 OPS-7 OPS-13 %s: scan names the stuck job, attach refuses, and its writer goes on',
    async (name, write) => {
      const queue = foreignQueues.find((known) => known.name === name)
      await database.pool.query(queue?.sql ?? '')
      const { schema = '', table = '' } = queue ?? {}
      expect(await scan()).toMatchObject([
        { table, name, counts: { running: 2, stuck: 1, stuckIds: ['1'] }, next: null },
      ])
      await expectUntouched(schema, table, name)
      expect((await database.pool.query(write)).rowCount).toBe(1)
      expect(await scan()).toMatchObject([{ table, counts: { running: 1, stuck: 1 } }])
    },
  )
})

describe('tables as other queues make them', () => {
  const attach = (schema: string, table: string) =>
    migrateUp({
      databaseUrl: database.url,
      schema: 'unstuck',
      profile: completeProfile({
        name: 'ours',
        tables: [{ schema, table, idType: 'uuid', columns: { status: 'state' }, statuses: ourWords }],
      }),
    })

  it('OPS-7 are refused by the names of their queues, in whatever schema and under whatever prefix', async () => {
    for (const { sql } of foreignQueues) await database.pool.query(sql)
    for (const { schema, table, name } of foreignQueues) {
      await expect(attach(schema, table)).rejects.toMatchObject({
        code: 'TABLE_OF_ANOTHER_QUEUE',
        message: `table ${schema}.${table}: it belongs to ${name}`,
      })
    }
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it.each([
    ['boss9.archive', 'pg-boss'],
    ['pgmq.a_mail', 'pgmq'],
    ['absurd.t_default', 'absurd'],
    ['absurd.c_default', 'absurd'],
    ['hatchet.v1_tasks_olap', 'Hatchet'],
  ])('OPS-7 %s, which holds no running job, is refused too', async (part, name) => {
    const [schema = '', table = ''] = part.split('.')
    for (const { sql } of foreignQueues.filter((queue) => queue.schema === schema))
      await database.pool.query(sql)
    await expect(attach(schema, table)).rejects.toMatchObject({
      code: 'TABLE_OF_ANOTHER_QUEUE',
      message: `table ${part}: it belongs to ${name}`,
    })
  })
})

describe('a table that an earlier version attached', () => {
  it('OPS-7 is refused with the command that takes it off', async () => {
    const [queue] = foreignQueues.filter(({ name }) => name === 'River')
    await database.pool.query(queue?.sql ?? '')
    await run('migrate', 'up')
    await database.pool.query(
      `select unstuck.register_table('river_job', 'ours', 'public', 'river_job', '{}')`,
    )
    writeConfig('public', 'river_job')
    const refused = await run('attach')
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toContain('unstuck detach --table public.river_job')
    expect(await run('detach', '--table', 'public.river_job')).toMatchObject({ exitCode: 0 })
  })
})

describe('a composite primary key', () => {
  const columns = 'tenant text not null, id uuid not null, status text not null'
  it.each([
    ['of a plain table', `create table team_jobs (${columns}, primary key (tenant, id))`],
    [
      'of a table partitioned by what stands before the id',
      `create table team_jobs (${columns}, primary key (tenant, id)) partition by list (tenant);
       create table team_jobs_a partition of team_jobs default`,
    ],
  ])('OPS-7 %s is refused, and nothing is changed', async (_, sql) => {
    await database.pool.query(sql)
    const before = await describeSchema(database.pool, 'public')
    const profile = completeProfile({
      name: 'team',
      tables: [
        {
          table: 'team_jobs',
          idType: 'uuid',
          statuses: { waiting: 'queued', running: ['running'], succeeded: 'done', dead: 'dead' },
        },
      ],
    })
    await expect(migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: 'table public.team_jobs: its primary key is (tenant, id), more than id',
    })
    expect(await run('attach', '--table', 'team_jobs', '--yes')).toMatchObject({ exitCode: 4 })
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
    expect(await schemaExists(database.pool)).toBe(false)
  })
})
