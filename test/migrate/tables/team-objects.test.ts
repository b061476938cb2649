// Functions and views under names of the team's own: what was there before is called, and given back as it was.
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { executorProfile } from '../../../src/profile/executor.ts'
import { migrateDown, migrateStatus, migrateUp, migrationSql } from '../../../src/store/postgres/index.ts'
import { cronWrappers, deadWorkerTest, reclaim } from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { splitStatements } from '../split-statements.ts'

let database: TestDatabase
let client: pg.Client

beforeEach(async () => {
  database = await createTestDatabase()
  client = await database.connect()
  await client.query(executorTables)
})
afterEach(() => database.drop())

const target = () => ({ databaseUrl: database.url, schema: 'unstuck', profile: executorProfile })
const up = (phases?: number[]) => migrateUp({ ...target(), ...(phases === undefined ? {} : { phases }) })
const down = () => migrateDown({ databaseUrl: database.url, schema: 'unstuck' })

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return (await client.query(text)).rows
}

/** Every function and view of the public schema, as PostgreSQL would write it, with owner, grants and comment. */
async function describePublic(): Promise<Record<string, unknown>[]> {
  return rows(
    `select proname as name, pg_get_functiondef(oid) as definition, proowner::regrole::text as owner, proacl::text as acl,
            obj_description(oid, 'pg_proc') as comment
       from pg_proc where pronamespace = 'public'::regnamespace
     union all
     select relname, pg_get_viewdef(oid), relowner::regrole::text, relacl::text, null
       from pg_class where relnamespace = 'public'::regnamespace and relkind = 'v'
     order by 1`,
  )
}

const names = async () => (await describePublic()).map(({ name }) => name)
const columns = async () =>
  (
    await rows(`select attname from pg_attribute where attrelid = 'public.executor_jobs'::regclass and attnum > 0
                  and not attisdropped order by 1`)
  ).map(({ attname }) => attname)

describe('phases', () => {
  const first = [
    'process_orchestrator_jobs',
    'process_orchestrator_jobs__after_reclaim_stale_jobs',
    'reclaim_stale_jobs',
    'wake_execution_engine',
    'wake_execution_engine__after_reclaim_stale_jobs',
  ]
  const views = [
    'executor_jobs_reclaim_history',
    'executor_jobs_stale_monitor',
    'executor_jobs_stale_validation',
  ]

  it('OPS-3 003 Deployment strategy: phase 1 brings the reclaim and the cron wrappers, and no more', async () => {
    await up([1])
    expect(await names()).toEqual(first)
    await client.query(deadWorkerTest.create)
    expect(await rows(reclaim)).toMatchObject([{ action: 'requeued' }])
  })

  it('OPS-3 003 Deployment strategy: the others come when they are asked for, each alone, and stay', async () => {
    await up([1])
    await up([3])
    expect(await names()).toEqual([...views, ...first])
    await up([2])
    expect(await names()).toEqual([...views, ...first, 'update_job_heartbeat'].toSorted())
  })

  it('OPS-3 003 Deployment strategy: all of them where none is named', async () => {
    await up()
    expect(await names()).toEqual([...views, ...first, 'update_job_heartbeat'].toSorted())
    const before = await describePublic()
    await up([1])
    expect(await describePublic()).toEqual(before)
    expect(await migrateStatus(target())).toMatchObject({ isCurrent: true })
  })

  it('OPS-3 003 the printed SQL makes the same', async () => {
    await up()
    const byCommand = await describePublic()
    await down()
    for (const statement of splitStatements(migrationSql('unstuck', executorProfile)))
      await client.query(statement)
    expect(await describePublic()).toEqual(byCommand)
    expect(await migrateStatus(target())).toMatchObject({ isCurrent: true })
  })
})

describe('cron wrappers', () => {
  it('OPS-3 003 the bodies that were there are kept and called after the reclaim', async () => {
    await client.query(cronWrappers)
    await up([1])
    await client.query(deadWorkerTest.create)
    await client.query('select public.process_orchestrator_jobs()')
    expect(await rows('select url, queued from public.http_calls')).toEqual([
      { url: 'orchestrator', queued: 1 },
    ])
    expect(await rows('select public.wake_execution_engine() as request')).toEqual([{ request: '2' }])
    expect(await rows(deadWorkerTest.verify)).toMatchObject([{ status: 'queued', attempts: 2 }])
  })

  it('OPS-3 003 Edge case 3, Reclaim Function Fails: a warning, and the worker is invoked all the same', async () => {
    await client.query(cronWrappers)
    await up([1])
    await client.query('alter table unstuck.events rename to events_gone')
    await client.query(deadWorkerTest.create)
    const warnings: string[] = []
    client.on('notice', ({ message, severity }) => warnings.push(`${severity}: ${message}`))
    await client.query('select public.process_orchestrator_jobs()')
    expect(warnings).toEqual([
      expect.stringMatching(
        /^WARNING: process_orchestrator_jobs goes on without reclaim_stale_jobs: .*events/,
      ),
    ])
    expect(await rows('select url from public.http_calls')).toEqual([{ url: 'orchestrator' }])
  })

  it('OPS-3 003 where there was none, an empty function waits to be filled in', async () => {
    await up([1])
    await client.query('select public.wake_execution_engine()')
    await client.query(`
      create table calls (at timestamptz default now());
      create or replace function public.wake_execution_engine__after_reclaim_stale_jobs() returns void
      language sql as 'insert into calls default values'`)
    await up([1])
    await client.query('select public.wake_execution_engine()')
    expect(await rows('select from calls')).toHaveLength(1)
  })

  it('OPS-3 OPS-5 what was filled in takes the name of the wrapper, and an empty one goes', async () => {
    await up([1])
    await client.query(`
      create or replace function public.wake_execution_engine__after_reclaim_stale_jobs() returns void
      language plpgsql as 'begin raise notice ''awake''; end'`)
    await down()
    expect(await names()).toEqual(['wake_execution_engine'])
  })

  it('OPS-3 a wrapper that the team has replaced since shows in the status, and is wrapped again', async () => {
    await client.query(cronWrappers)
    await up([1])
    await client.query(`create or replace function public.process_orchestrator_jobs() returns void
      language sql as $fn$ insert into public.http_calls (url) values ('newer') $fn$`)
    expect(await migrateStatus(target())).toMatchObject({
      isCurrent: false,
      tables: [{ state: 'functions differ' }],
    })
    await up([1])
    expect(await migrateStatus(target())).toMatchObject({ isCurrent: true })
    await client.query(deadWorkerTest.create)
    await client.query('select public.process_orchestrator_jobs()')
    expect(await rows(deadWorkerTest.verify)).toHaveLength(1)
    expect(await rows('select url from public.http_calls')).toEqual([{ url: 'newer' }])
    await down()
    await client.query('select public.process_orchestrator_jobs()')
    expect(await rows('select url from public.http_calls')).toEqual([{ url: 'newer' }, { url: 'newer' }])
  })

  it('OPS-3 a procedure of the name is refused, and everything is rolled back', async () => {
    await client.query(`create procedure public.wake_execution_engine() language plpgsql as 'begin end'`)
    const before = [await describePublic(), await columns()]
    await expect(up()).rejects.toThrow('a function without OUT arguments')
    expect([await describePublic(), await columns()]).toEqual(before)
  })
})

describe('rollback', () => {
  it('OPS-5 003 Rollback Plan: everything goes, what was there comes back verbatim, and the rows stay', async () => {
    await client.query(cronWrappers)
    await client.query(`
      create function public.reclaim_stale_jobs() returns int language sql as 'select 1';
      create view public.executor_jobs_stale_monitor as select id from public.executor_jobs;
      grant select on public.executor_jobs_stale_monitor to public`)
    const before = [await describePublic(), await columns()]
    await up()
    await client.query(deadWorkerTest.create)
    await rows(reclaim)
    await down()
    expect([await describePublic(), await columns()]).toEqual(before)
    expect(await rows('select type, status, attempts, locked_by from public.executor_jobs')).toEqual([
      { type: 'run_tsa', status: 'queued', attempts: 2, locked_by: null },
    ])
    expect(await rows(`select from pg_namespace where nspname = 'unstuck'`)).toEqual([])
  })

  it('OPS-5 003 Rollback Plan: a heartbeat column that was there before stays with its values', async () => {
    await client.query('alter table public.executor_jobs add column heartbeat_at timestamptz')
    await up([1])
    await client.query(`insert into public.executor_jobs (type, heartbeat_at) values ('run_tsa', now())`)
    await down()
    expect(await rows('select heartbeat_at is not null as is_kept from public.executor_jobs')).toEqual([
      { is_kept: true },
    ])
  })

  it('OPS-5 003 Rollback Plan: wrappers first, then functions, then views', async () => {
    await up()
    expect(await rows('select name from unstuck.team_objects order by ordinal')).toEqual(
      [
        'process_orchestrator_jobs',
        'wake_execution_engine',
        'reclaim_stale_jobs',
        'update_job_heartbeat',
        'executor_jobs_stale_monitor',
        'executor_jobs_stale_validation',
        'executor_jobs_reclaim_history',
      ].map((name) => ({ name })),
    )
  })

  it('OPS-5 what the team built upon a view refuses to let it go, and nothing is taken', async () => {
    await up()
    await client.query('create view public.dashboard as select * from public.executor_jobs_stale_monitor')
    const before = await describePublic()
    await expect(down()).rejects.toThrow('executor_jobs_stale_monitor')
    expect(await describePublic()).toEqual(before)
  })
})

it('OPS-7 a table without the column of its error text is refused before anything is written', async () => {
  await client.query('alter table public.executor_jobs drop column last_error')
  await expect(up()).rejects.toThrow('table public.executor_jobs: it has no column last_error')
  expect(await names()).toEqual([])
})
