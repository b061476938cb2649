// Supabase as it is: service_role works with the grants of deploy/supabase.sql and nothing else, and a function of the team
// keeps its owner and its SECURITY when ours takes its place.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrateDown } from '../../../src/store/postgres/index.ts'
import { deadWorkerTest, monitoring, reclaim } from '../../support/tables/executor-document.ts'
import { createSupabaseDatabase, type Rows, type SupabaseDatabase } from './supabase-database.ts'

const table = 'public.executor_jobs'
const grants = readFileSync(new URL('../../../deploy/supabase.sql', import.meta.url), 'utf8')
const forbidden = { code: '42501' }
let database: SupabaseDatabase

const routines = (...names: string[]) =>
  database.asOwner(
    `select proname as name, proowner::regrole::text as owner, prosecdef as is_definer, proconfig as settings
       from pg_proc where pronamespace = 'public'::regnamespace and proname in ('${names.join("', '")}') order by 1`,
  )

const mayCall = async (role: string, routine: string) =>
  (await database.asOwner(`select has_function_privilege('${role}', '${routine}', 'execute') as may`))[0]?.[
    'may'
  ]

const addRunning = async (worker: string) => {
  const [{ id } = { id: '' }] = await database.asOwner(
    `insert into ${table} (type, status, locked_at, locked_by)
     values ('run_tsa', 'running', now() - interval '1 minute', '${worker}') returning id`,
  )
  return String(id)
}

describe('deploy/supabase.sql', () => {
  beforeAll(async () => {
    database = await createSupabaseDatabase()
    await database.install()
  })
  afterAll(() => database.drop())

  const beat = (role: string, job: string, worker: string) =>
    database.as(role, `select public.update_job_heartbeat('${job}', '${worker}') as is_mine`)

  it('OPS-11 service_role can reclaim, monitor and beat with it, after an upgrade too', async () => {
    await expect(database.as('service_role', reclaim)).rejects.toMatchObject(forbidden)
    for (const sql of [grants, grants]) await database.asOwner(sql)
    for (const isUpgraded of [false, true]) {
      if (isUpgraded) await database.install()
      await database.asOwner(deadWorkerTest.create)
      expect(await database.as('service_role', monitoring[0] ?? '')).not.toEqual([])
      expect(await database.as('service_role', reclaim)).toMatchObject([{ action: 'requeued' }])
      for (const look of monitoring) await database.as('service_role', look)
      expect(await database.as('service_role', monitoring[2] ?? '')).not.toEqual([])
      await database.as('service_role', 'select public.process_orchestrator_jobs()')
    }
  })

  it('OPS-11 service_role can beat jobs with a lease and without, and work on them through the engine', async () => {
    await database.asOwner(`delete from ${table}`)
    expect(await beat('service_role', await addRunning('old-worker'), 'old-worker')).toEqual([
      { is_mine: true },
    ])
    await database.as('service_role', `select unstuck.enqueue_jobs__executor_jobs('[{"type": "run_tsa"}]')`)
    const [job = {}] = await database.as(
      'service_role',
      `select id, lease_id from unstuck.claim_jobs__executor_jobs('edge', array['run_tsa'], 1)`,
    )
    expect(await beat('service_role', String(job['id']), 'edge')).toEqual([{ is_mine: true }])
    const done = `select outcome from unstuck.complete_jobs__executor_jobs(
      array['${String(job['id'])}'::uuid], array['${String(job['lease_id'])}'::uuid])`
    expect(await database.as('service_role', done)).toEqual([{ outcome: 'completed' }])
  })

  it('OPS-11 gives service_role no right on the schema, the policy or the attachments, and the API nothing at all', async () => {
    for (const sql of [
      `update unstuck.policies set max_attempts = 1`,
      `update unstuck.attachments set mode = 'observe'`,
      'create table unstuck.mine ()',
      `delete from unstuck.migrations`,
    ])
      await expect(database.as('service_role', sql)).rejects.toMatchObject(forbidden)
    const held = await database.asOwner(
      `select objid::regclass from pg_shdepend where refclassid = 'pg_authid'::regclass and deptype = 'a'
          and refobjid in ('anon'::regrole, 'authenticated'::regrole) and objid <> '${table}'::regclass
          and classid in ('pg_class'::regclass, 'pg_proc'::regclass)
          and dbid = (select oid from pg_database where datname = current_database())`,
    )
    expect(held).toEqual([])
    for (const role of ['anon', 'authenticated'])
      for (const call of [reclaim, ...monitoring.slice(0, 3)])
        await expect(database.as(role, call)).rejects.toMatchObject(forbidden)
    expect(await database.doctor(database.owner, 'exposure')).toEqual([])
  })

  it('OPS-11 an upgrade takes from the API what an older version had left it', async () => {
    await database.asOwner(`
      grant execute on function public.reclaim_stale_jobs(), public.wake_execution_engine__after_reclaim_stale_jobs()
        to public, anon, authenticated;
      grant all on public.executor_jobs_reclaim_history to anon, authenticated`)
    if (database.version >= 150_000)
      await database.asOwner('alter view public.executor_jobs_reclaim_history reset (security_invoker)')
    await database.asOwner(deadWorkerTest.create)
    await database.asOwner(reclaim)
    expect(await database.as('anon', monitoring[2] ?? '')).not.toEqual([])
    await database.install()
    await expect(database.as('anon', monitoring[2] ?? '')).rejects.toMatchObject(forbidden)
    expect(await mayCall('anon', 'public.reclaim_stale_jobs()')).toBe(false)
    expect(await mayCall('anon', 'public.wake_execution_engine__after_reclaim_stale_jobs()')).toBe(false)
    expect(await mayCall('service_role', 'public.reclaim_stale_jobs()')).toBe(true)
  })
})

/** As a project writes them: with the rights of their owner, and with and without a search_path. */
const teamFunctions = `
  create table public.calls (name text, queued int);
  create function public.reclaim_stale_jobs() returns int language sql security definer set search_path = public
    as 'select 0';
  create function public.update_job_heartbeat(p_job_id uuid, p_worker_id text) returns boolean
    language sql security definer as 'select true';
  create function public.process_orchestrator_jobs() returns void language plpgsql security definer as $$
  begin
    insert into calls select 'orchestrator', count(*) from executor_jobs where status = 'queued';
  end $$;
  create function public.wake_execution_engine() returns bigint language sql
    as 'select count(*) from public.executor_jobs';`
const names = [
  'process_orchestrator_jobs',
  'reclaim_stale_jobs',
  'update_job_heartbeat',
  'wake_execution_engine',
]

describe('functions that the team had before', () => {
  let cron: string
  let before: Rows

  const describePublic = () =>
    database.asOwner(
      `select proname, pg_get_functiondef(oid), proowner::regrole::text, proacl::text from pg_proc
        where pronamespace = 'public'::regnamespace order by 1`,
    )

  beforeAll(async () => {
    database = await createSupabaseDatabase()
    cron = await database.createLogin()
    await database.asOwner(teamFunctions)
    await database.asOwner(`
      grant usage on schema public to ${cron};
      grant execute on function public.reclaim_stale_jobs(), public.process_orchestrator_jobs(),
        public.update_job_heartbeat(uuid, text) to ${cron}`)
    before = await describePublic()
    await database.install()
  })
  afterAll(() => database.drop())

  const kept = () =>
    names.map((name) => ({
      name,
      owner: database.owner,
      is_definer: name !== 'wake_execution_engine',
      settings: name === 'wake_execution_engine' ? null : ['search_path=pg_catalog, pg_temp'],
    }))

  it('OPS-11 ours has the owner and the SECURITY of theirs, with a pinned search_path, after an upgrade too', async () => {
    expect(await routines(...names)).toEqual(kept())
    await database.install()
    expect(await routines(...names)).toEqual(kept())
  })

  it('OPS-11 whoever could call theirs by name calls ours, with no right on the engine or the table', async () => {
    await database.asOwner(`delete from ${table}`)
    await database.asOwner(deadWorkerTest.create)
    expect(await database.as(cron, reclaim)).toMatchObject([{ action: 'requeued' }])
    const job = await addRunning('old-worker')
    const beat = `select public.update_job_heartbeat('${job}', 'old-worker') as is_mine`
    expect(await database.as(cron, beat)).toEqual([{ is_mine: true }])
    // service_role passes row security by itself: it had the function by default privileges, and keeps it.
    expect(await database.as('service_role', beat)).toEqual([{ is_mine: true }])
    await expect(database.as('anon', beat)).rejects.toMatchObject(forbidden)
    await expect(database.as('authenticated', reclaim)).rejects.toMatchObject(forbidden)
  })

  it('OPS-11 OPS-3 a wrapper reclaims with the rights of the owner, and goes on to a body that names tables without a schema', async () => {
    await database.asOwner(`delete from ${table}; delete from public.calls`)
    await database.asOwner(deadWorkerTest.create)
    await database.as(cron, 'select public.process_orchestrator_jobs()')
    expect(await database.asOwner('select * from public.calls')).toEqual([
      { name: 'orchestrator', queued: 1 },
    ])
    expect(await database.asOwner(`select status from ${table}`)).toEqual([{ status: 'queued' }])
  })

  it('OPS-11 no object in the search_path of a caller runs with the rights of the owner', async () => {
    await database.asSuperuser(`
      create schema hostile authorization ${cron};
      create table hostile.ran_as (role text);
      grant all on hostile.ran_as to public;
      grant usage on schema hostile to public;
      create function hostile.clock_timestamp() returns timestamptz language plpgsql as $$
      begin
        insert into hostile.ran_as values (current_user);
        return pg_catalog.clock_timestamp();
      end $$`)
    onTestFinished(async () => void (await database.asSuperuser('drop schema hostile cascade')))
    const job = await addRunning('old-worker')
    await database.asOwner(deadWorkerTest.create)
    for (const call of [
      `select public.update_job_heartbeat('${job}', 'old-worker')`,
      reclaim,
      'select public.process_orchestrator_jobs()',
    ])
      await database.as(cron, `set local search_path = hostile, pg_catalog, public; ${call}`)
    expect(await database.asOwner('select * from hostile.ran_as')).toEqual([])
  })

  it('OPS-11 OPS-5 theirs come back as they were when ours are taken out', async () => {
    await migrateDown({ databaseUrl: database.urlOf(database.owner), schema: 'unstuck' })
    expect(await describePublic()).toEqual(before)
    await database.install()
  })
})

describe('functions of another owner, on a table without row security', () => {
  let author: string

  beforeAll(async () => {
    database = await createSupabaseDatabase({ hasRowSecurity: false })
    author = await database.createLogin()
    await database.asOwner(teamFunctions)
    await database.asSuperuser(`
      grant ${author} to ${database.owner};
      grant usage, create on schema public to ${author};
      alter function public.reclaim_stale_jobs() owner to ${author};
      alter function public.wake_execution_engine() owner to ${author}`)
    await database.install()
  })
  afterAll(() => database.drop())

  it('OPS-11 ours has that owner, and does what he may', async () => {
    expect(await routines('reclaim_stale_jobs', 'wake_execution_engine')).toMatchObject([
      { owner: author, is_definer: true },
      { owner: author, is_definer: false },
    ])
    await expect(database.as(author, reclaim)).rejects.toThrow('permission denied for schema unstuck')
  })

  it('OPS-7 old workers beat on with the rights that they have on the table, and nobody else begins to', async () => {
    const worker = await database.createLogin()
    const stranger = await database.createLogin()
    await database.asOwner(`drop function public.update_job_heartbeat(uuid, text);
      create function public.update_job_heartbeat(p_job_id uuid, p_worker_id text) returns boolean
        language sql as 'select true';
      grant usage on schema public to ${worker}, ${stranger};
      grant select, update on ${table} to ${worker}`)
    await database.install()
    const job = await addRunning('old-worker')
    const beat = `select public.update_job_heartbeat('${job}', 'old-worker') as is_mine`
    expect(await database.as(worker, beat)).toEqual([{ is_mine: true }])
    await expect(database.as(stranger, beat)).rejects.toMatchObject(forbidden)
  })
})
