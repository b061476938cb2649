// Roles of a Supabase project see no more of jobs through the engine's objects than the table shows them.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { deadWorkerTest, reclaim } from '../../support/tables/executor-document.ts'
import { createSupabaseDatabase, type SupabaseDatabase, type SupabaseOptions } from './supabase-database.ts'

const monitor = 'public.executor_jobs_stale_monitor'
const validation = 'public.executor_jobs_stale_validation'
const history = 'public.executor_jobs_reclaim_history'
const views = [monitor, validation, history]
const functions = [
  'public.reclaim_stale_jobs()',
  'public.update_job_heartbeat(uuid, text)',
  'public.process_orchestrator_jobs()',
  'public.process_orchestrator_jobs__after_reclaim_stale_jobs()',
  'public.wake_execution_engine()',
  'public.wake_execution_engine__after_reclaim_stale_jobs()',
]
const forbidden = { code: '42501' }

let database: SupabaseDatabase

/** With one job that was taken back, and one that is stuck. */
function useDatabase(options: SupabaseOptions = {}): void {
  beforeAll(async () => {
    database = await createSupabaseDatabase(options)
    await database.install()
    await database.asOwner(deadWorkerTest.create)
    await database.asOwner(reclaim)
    await database.asOwner(deadWorkerTest.create)
  })
  afterAll(() => database.drop())
}

/** A role that has nothing any more when the test is over. */
async function login(): Promise<string> {
  const role = await database.createLogin()
  onTestFinished(() => database.strip(role))
  return role
}

const mayCall = async (role: string, routine: string) =>
  (await database.asOwner(`select has_function_privilege('${role}', '${routine}', 'execute') as may`))[0]?.[
    'may'
  ]

/** Grants for a role that reads the views, engine tables included. */
const letRead = (role: string) =>
  database.asOwner(`
    grant usage on schema public, unstuck to ${role};
    grant select on public.executor_jobs, ${views.join(', ')} to ${role};
    grant select on all tables in schema unstuck to ${role}`)

describe('a table with row security, in a schema whose default privileges name the roles of the API', () => {
  useDatabase()

  it('OPS-11 anon and authenticated read nothing through our views', async () => {
    expect(await database.asOwner(`select * from ${history}`)).toHaveLength(1)
    expect(await database.asOwner(`select * from ${monitor}`)).toHaveLength(1)
    for (const role of ['anon', 'authenticated']) {
      expect(await database.as(role, 'select * from public.executor_jobs')).toEqual([])
      for (const view of views)
        await expect(database.as(role, `select * from ${view}`)).rejects.toMatchObject(forbidden)
    }
  })

  it('OPS-11 anon, authenticated and any other role may call none of our functions there', async () => {
    const other = await login()
    for (const role of ['anon', 'authenticated', other])
      for (const routine of functions)
        expect({ role, routine, may: await mayCall(role, routine) }).toEqual({ role, routine, may: false })
    await expect(database.as('anon', reclaim)).rejects.toMatchObject(forbidden)
  })

  it('OPS-11 what the owner grants by name stays with the next migrate up, and default privileges bring nothing back', async () => {
    const role = await login()
    await database.asOwner(
      `grant execute on function public.reclaim_stale_jobs() to ${role} with grant option`,
    )
    await database.install()
    expect(await mayCall(role, `public.reclaim_stale_jobs()`)).toBe(true)
    expect(
      await database.asOwner(
        `select has_function_privilege('${role}', 'public.reclaim_stale_jobs()', 'execute with grant option') as may`,
      ),
    ).toEqual([{ may: true }])
    for (const routine of functions) expect(await mayCall('anon', routine)).toBe(false)
  })

  it('OPS-11 doctor finds nothing to say about a fresh install', async () => {
    expect(await database.doctor(database.owner, 'exposure')).toEqual([])
    expect(await database.doctor(database.owner, 'row security')).toEqual([])
  })

  it('OPS-11 a role reads of our views what its policies show it, and of PostgreSQL 14 doctor names the views', async () => {
    const tenant = await login()
    await database.asOwner(
      `create policy ${tenant} on public.executor_jobs to ${tenant} using (attempts = 0)`,
    )
    await letRead(tenant)
    const found = await database.doctor(database.owner, 'exposure')
    const named = found.map(({ message }) => message.split(' ')[0])
    if (database.version >= 150_000) {
      for (const view of views) expect(await database.as(tenant, `select * from ${view}`)).toEqual([])
      await database.asOwner(
        `insert into public.executor_jobs (type, status, locked_at, locked_by)
         values ('run_tsa', 'running', now(), 'of the tenant')`,
      )
      expect(await database.as(tenant, `select locked_by from ${monitor}`)).toEqual([
        { locked_by: 'of the tenant' },
      ])
      expect(named.filter((object) => object?.startsWith('public.'))).toEqual([])
    } else {
      expect(named).toEqual(expect.arrayContaining(views))
      expect(found.find(({ message }) => message.startsWith(history))).toMatchObject({
        level: 'problem',
        fix: `revoke select on table ${history} from ${tenant}`,
      })
    }
  })

  it('OPS-11 doctor names engine tables that show a role jobs which row security hides, and its remedy fixes it', async () => {
    const reader = await login()
    await letRead(reader)
    const found = await database.doctor(database.owner, 'exposure')
    expect(found.find(({ message }) => message.startsWith('unstuck.events '))).toMatchObject({
      level: 'problem',
      message: `unstuck.events lets ${reader} read data of jobs of public.executor_jobs, although row security hides them from it`,
      fix: `revoke select on table unstuck.events from ${reader}`,
    })
    for (const { fix } of found) await database.asOwner(String(fix))
    expect(await database.doctor(database.owner, 'exposure')).toEqual([])
    await expect(database.as(reader, 'select * from unstuck.events')).rejects.toMatchObject(forbidden)
  })

  it('OPS-11 doctor names a function of ours with the rights of its owner that a role may call past row security', async () => {
    const caller = await login()
    await database.asOwner(`
      alter function public.reclaim_stale_jobs() security definer;
      grant execute on function public.reclaim_stale_jobs() to ${caller}, anon`)
    const found = await database.doctor(database.owner, 'exposure')
    expect(found.map(({ level, fix }) => [level, fix])).toEqual([
      ['problem', 'revoke execute on function public.reclaim_stale_jobs() from anon'],
      ['problem', `revoke execute on function public.reclaim_stale_jobs() from ${caller}`],
    ])
    for (const { fix } of found) await database.asOwner(String(fix))
    expect(await database.doctor(database.owner, 'exposure')).toEqual([])
    await database.asOwner('alter function public.reclaim_stale_jobs() security invoker')
  })

  it('OPS-11 a view that was made on PostgreSQL 14 and runs on a newer one is named, also before somebody can read it', async ({
    skip,
  }) => {
    skip(database.version < 150_000, 'PostgreSQL 14 has only such views')
    const fix = `alter view ${history} set (security_invoker = true)`
    await database.asOwner(`alter view ${history} reset (security_invoker)`)
    expect(await database.doctor(database.owner, 'exposure')).toMatchObject([{ level: 'warning', fix }])
    await database.asOwner(`grant select on ${history} to anon`)
    expect(await database.as('anon', `select * from ${history}`)).not.toEqual([])
    expect(await database.doctor(database.owner, 'exposure')).toMatchObject([{ level: 'problem', fix }])
    await database.asOwner(fix)
    await expect(database.as('anon', `select * from ${history}`)).rejects.toMatchObject(forbidden)
    expect(await database.doctor(database.owner, 'exposure')).toEqual([])
    await database.asOwner(`revoke select on ${history} from anon`)
  })
})

describe('default privileges in every schema', () => {
  useDatabase({ defaults: '' })

  it('OPS-11 nobody but the owner has a table or sequence of ours, and nobody else runs what has its rights', async () => {
    const granted = await database.asOwner(
      `select relname, grantee::regrole::text from pg_class, aclexplode(relacl)
        where relnamespace = 'unstuck'::regnamespace and grantee <> relowner
       union all
       select proname, case grantee when 0 then 'PUBLIC' else grantee::regrole::text end
         from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
        where pronamespace in ('unstuck'::regnamespace, 'public'::regnamespace) and grantee <> proowner
          and (prosecdef or pronamespace = 'public'::regnamespace)
       union all
       select nspname, grantee::regrole::text from pg_namespace, aclexplode(nspacl)
        where nspname = 'unstuck' and grantee <> nspowner`,
    )
    expect(granted).toEqual([])
    for (const view of views)
      await expect(database.as('anon', `select * from ${view}`)).rejects.toMatchObject(forbidden)
  })
})

describe('a table without row security', () => {
  useDatabase({ hasRowSecurity: false })

  it('OPS-11 that gets it after the attach hides from our views what it hides itself', async () => {
    const reader = await login()
    await letRead(reader)
    expect(await database.as(reader, `select * from ${history}`)).toHaveLength(1)
    expect(await database.as(reader, `select * from ${monitor}`)).toHaveLength(1)
    await database.asOwner('alter table public.executor_jobs enable row level security')
    const found = await database.doctor(database.owner, 'exposure')
    const named = found.map(({ message }) => message.split(' ')[0])
    expect(named).toContain('unstuck.events')
    if (database.version >= 150_000) {
      for (const view of views) expect(await database.as(reader, `select * from ${view}`)).toEqual([])
    } else {
      expect(named).toEqual(expect.arrayContaining(views))
      await database.install()
      for (const view of views)
        await expect(database.as(reader, `select * from ${view}`)).rejects.toMatchObject(forbidden)
    }
    await database.asOwner('alter table public.executor_jobs disable row level security')
  })

  it('OPS-11 doctor warns of a role that reads our tables and has no right on the job table', async () => {
    const reader = await login()
    await database.asOwner(`
      grant usage on schema unstuck to ${reader};
      grant select on unstuck.events to ${reader}`)
    expect(await database.doctor(database.owner, 'exposure')).toContainEqual(
      expect.objectContaining({
        level: 'warning',
        message: `unstuck.events lets ${reader} read data of jobs of public.executor_jobs, although it has no privileges on that table`,
      }),
    )
  })
})
