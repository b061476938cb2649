// A role that row security shows no jobs sees no stuck ones either. Whatever judges the table says so instead of calling it
// well, and names the statement that ends it.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { unstuck } from '../../../dist/index.js'
import { openDeployment } from '../../../src/compose/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { buildApp } from '../../../src/http/app.ts'
import { clipProfile } from '../../../src/profile/clip.ts'
import { executorProfile } from '../../../src/profile/executor.ts'
import { rolesSql } from '../../../src/store/postgres/index.ts'
import { startCommand } from '../../cli/support/run-command.ts'
import { createAttachedDatabase } from '../../support/installed-database.ts'
import { deadWorkerTest, reclaim } from '../../support/tables/executor-document.ts'
import { createSupabaseDatabase, type SupabaseDatabase } from './supabase-database.ts'

const table = 'public.executor_jobs'
let database: SupabaseDatabase
let worker: string

beforeAll(async () => {
  database = await createSupabaseDatabase({ hasRowSecurity: false })
  await database.install()
  worker = await database.createLogin()
  await database.asOwner(rolesSql('unstuck', executorProfile, worker))
})
afterAll(() => database.drop())

beforeEach(async () => {
  await database.asOwner(`delete from ${table}`)
  await database.asOwner(deadWorkerTest.create)
})

/** For the duration of a test. */
async function withRowSecurity(...policies: string[]): Promise<void> {
  await database.asOwner(`alter table ${table} enable row level security; ${policies.join(';')}`)
  onTestFinished(async () => {
    await database.asOwner(`
      alter table ${table} disable row level security;
      alter table ${table} no force row level security;
      do $$ declare v_name text; begin
        for v_name in select polname from pg_policy where polrelid = '${table}'::regclass loop
          execute format('drop policy %I on ${table}', v_name);
        end loop;
      end $$`)
  })
}

const policyFor = (role: string) =>
  `create policy ${role} on ${table} to ${role} using (true) with check (true)`
const hidesAll = () => `row security hides every job of ${table} from role ${worker}`
const pulse = `select swept_at from unstuck.sweeps where attachment = 'executor_jobs'`

describe('a role that no policy lets in', () => {
  beforeEach(() => withRowSecurity())

  it('OPS-11 stuck, status and reap --once say what is hidden and how to show it, and end with exit code 1', async () => {
    const fix = policyFor(worker)
    for (const args of [['stuck'], ['status'], ['reap', '--once'], ['reap', '--dry-run']]) {
      const { exitCode, stdout } = await database.run(worker, ...args)
      expect({ args, exitCode }).toEqual({ args, exitCode: 1 })
      expect(stdout).toContain(`✗ ${hidesAll()}: ${fix}`)
      expect(stdout).not.toContain('no stuck jobs')
    }
    const stuck = JSON.parse((await database.run(worker, 'stuck', '--json')).stdout) as unknown
    expect(stuck).toEqual({ stuck: [], hidden: [{ role: worker, table, isAll: true, fix }] })
  })

  it('OPS-11 doctor calls it a problem, and its remedy ends it for all of them', async () => {
    const found = await database.doctor(worker, 'row security')
    expect(found).toEqual([
      {
        check: 'row security',
        level: 'problem',
        message: `row security of ${table} hides every row from role ${worker} (delete, insert, select, update)`,
        fix: policyFor(worker),
      },
    ])
    await database.asOwner(String(found[0]?.fix))
    expect(await database.doctor(worker, 'row security')).toEqual([])
    const { exitCode, stdout } = await database.run(worker, 'stuck')
    expect({ exitCode, isListed: stdout.includes('lease_expired') }).toEqual({ exitCode: 1, isListed: true })
    expect((await database.run(worker, 'reap', '--once')).stdout).toContain('1 requeued')
    expect(await database.run(worker, 'stuck')).toMatchObject({ exitCode: 0, stdout: 'no stuck jobs\n' })
  })

  it('OPS-11 a reaper does not start, and a running one stops recording its heartbeat', async () => {
    const started = await database.run(worker, 'reaper')
    expect(started).toMatchObject({ exitCode: 4 })
    expect(started.stderr).toContain(hidesAll())
    expect(started.stderr).toContain(policyFor(worker))

    await database.asOwner(`alter table ${table} disable row level security`)
    const reaper = startCommand(['reaper', '--profile', 'executor', '--interval-sec', '1'], {
      DATABASE_URL: database.urlOf(worker),
    })
    await reaper.said('reaper:requeued')
    await database.asOwner(`alter table ${table} enable row level security`)
    await reaper.said(`"reason":"${hidesAll()}`)
    const [last] = await database.asOwner(pulse)
    await expect(database.as(worker, 'call unstuck.run_sweep__executor_jobs()')).rejects.toThrow(hidesAll())
    expect(await database.asOwner(pulse)).toEqual([last])
    reaper.kill('SIGTERM')
    await reaper.result
  })

  it('OPS-11 the functions of the documents refuse, and so do those of the engine that judge jobs', async () => {
    for (const call of [
      reclaim,
      'select * from unstuck.reap_jobs__executor_jobs()',
      'select * from unstuck.preview_sweep__executor_jobs()',
      'select * from unstuck.list_stale_jobs__executor_jobs()',
    ])
      await expect(database.as(worker, call)).rejects.toMatchObject({
        code: '42501',
        message: hidesAll(),
        hint: `As the owner of the table: ${policyFor(worker)}`,
      })
  })

  it('OPS-11 the HTTP API is neither healthy nor ready, and counts nothing that it cannot see', async () => {
    const config = loadConfig({ env: { DATABASE_URL: database.urlOf(worker), UNSTUCK_PROFILE: 'executor' } })
    const deployment = openDeployment(config)
    const app = buildApp({ ...deployment, config, isOpenToLoopback: true, hasPublicMetrics: true })
    onTestFinished(async () => {
      await app.close()
      await deployment.close()
    })
    const get = (path: string) => app.fetch(new Request(`http://127.0.0.1${path}`))
    expect(await (await get('/v1/health')).json()).toMatchObject({
      is_healthy: false,
      tables: [{ is_healthy: false, hidden: { role: worker, table, is_all: true, fix: policyFor(worker) } }],
    })
    expect((await get('/readyz')).status).toBe(503)
    expect(await (await get('/metrics')).text()).not.toContain('unstuck_overdue_jobs{')
    await database.asOwner(policyFor(worker))
    expect((await get('/readyz')).status).toBe(200)
    expect(await (await get('/v1/health')).json()).toMatchObject({ tables: [{ hidden: null, overdue: 1 }] })
  })

  it('OPS-11 a worker names it as its problem', async () => {
    const app = unstuck({ databaseUrl: database.urlOf(worker), profile: 'executor' })
    app.handle('run_tsa', async () => {})
    const failed = new Promise<void>((resolve) => app.on('sweep:failed', () => resolve()))
    await app.start()
    await failed
    expect(app.health()).toEqual({ isHealthy: false, problems: [`sweeps are refused: ${hidesAll()}`] })
    await app.stop()
  })
})

describe('policies', () => {
  interface Case {
    what: string
    policies: string[]
    /** Answer of hidden_commands; empty if everything is visible. */
    hidden: Record<string, boolean>
    seen: number
  }
  const all = (isAll: boolean) => ({ select: isAll, insert: isAll, update: isAll, delete: isAll })
  const create = (rest: string) => `create policy p${rest.length} on ${table} ${rest}`

  it.each<Case>([
    { what: 'none', policies: [], hidden: all(true), seen: 0 },
    { what: 'one for everybody', policies: [create('using (true)')], hidden: {}, seen: 2 },
    { what: 'one for another role', policies: [create('to anon using (true)')], hidden: all(true), seen: 0 },
    { what: 'a condition', policies: [create('using (attempts > 1)')], hidden: all(false), seen: 1 },
    {
      what: 'a condition, and one without',
      policies: [create('using (attempts > 1)'), create('using (true)')],
      hidden: {},
      seen: 2,
    },
    {
      what: 'for reading alone',
      policies: [create('for select using (true)')],
      hidden: { insert: true, update: true, delete: true },
      seen: 2,
    },
    {
      what: 'a check of what is written',
      policies: [create('using (true) with check (attempts < 9)')],
      hidden: { insert: false, update: false },
      seen: 2,
    },
    {
      what: 'a restrictive one',
      policies: [create('using (true)'), create('as restrictive using (attempts > 1)')],
      hidden: all(false),
      seen: 1,
    },
    {
      what: 'a restrictive one for another role',
      policies: [create('using (true)'), create('as restrictive to anon using (attempts > 1)')],
      hidden: {},
      seen: 2,
    },
  ])('OPS-11 $what: what is said to be hidden agrees with what PostgreSQL shows', async (given) => {
    await withRowSecurity(...given.policies)
    await database.asOwner(`insert into ${table} (type, attempts) values ('run_tsa', 5)`)
    const found = await database.asOwner(
      `select command, is_all from unstuck.hidden_commands('${table}'::regclass, '${worker}'::regrole)`,
    )
    expect(Object.fromEntries(found.map(({ command, is_all }) => [command, is_all]))).toEqual(given.hidden)
    expect(await database.as(worker, `select from ${table}`)).toHaveLength(given.seen)
  })

  it('OPS-11 with a condition leave a table that is swept, and not called healthy', async () => {
    await withRowSecurity(create('using (attempts > 0)'))
    const { exitCode, stdout } = await database.run(worker, 'reap', '--once')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('1 requeued')
    expect(stdout).toContain(`✗ row security may hide jobs of ${table} from role ${worker}: `)
    expect((await database.run(worker, 'status')).exitCode).toBe(1)
  })

  it('OPS-11 that restrict ask for BYPASSRLS, for no other policy lifts them', async () => {
    await withRowSecurity(create('using (true)'), create('as restrictive using (attempts > 1)'))
    expect(await database.doctor(worker, 'row security')).toMatchObject([
      { level: 'problem', fix: `alter role ${worker} bypassrls` },
    ])
  })

  it('OPS-11 bind an owner who has forced them upon himself, and no role with BYPASSRLS', async () => {
    const { owner } = database
    await withRowSecurity()
    expect(await database.asOwner(`select unstuck.hidden_jobs('${table}'::regclass) as hidden`)).toEqual([
      { hidden: null },
    ])
    await database.asOwner(`alter table ${table} force row level security`)
    await expect(database.asOwner(reclaim)).rejects.toThrow(`from role ${owner}`)
    const through = await database.createLogin('bypassrls')
    await database.asOwner(rolesSql('unstuck', executorProfile, through))
    expect(await database.as(through, reclaim)).toHaveLength(1)
  })
})

describe('a profile with a table of events', () => {
  it('OPS-11 the role of workers may write events under row security too', async () => {
    const clip = await createAttachedDatabase()
    onTestFinished(() => clip.drop())
    const role = database.newRole()
    await clip.pool.query(`
      alter table public.jobs enable row level security;
      alter table public.job_events enable row level security;
      insert into public.jobs (type, status, locked_by, lease_expires_at, attempt_count)
      values ('clip', 'processing', 'dead-worker', now() - interval '1 hour', 1)`)
    await clip.pool.query(rolesSql('unstuck', clipProfile).replaceAll('unstuck_worker', role))
    onTestFinished(async () => void (await clip.pool.query(`drop owned by ${role}`)))
    const client = await clip.connect()
    await client.query(`set session authorization ${role}`)
    const { rows } = await client.query('select action from unstuck.reap_jobs__jobs()')
    expect(rows).toEqual([{ action: 'requeued' }])
    expect((await clip.pool.query('select from public.job_events')).rowCount).toBe(1)
  })
})

describe('the SQL of attach --roles', () => {
  it('OPS-11 lets the role of workers see a table with row security', async () => {
    await withRowSecurity()
    const role = database.newRole()
    const sql = rolesSql('unstuck', executorProfile).replaceAll('unstuck_worker', role)
    // As the guide says: again after an upgrade.
    for (const each of [sql, sql]) await database.asOwner(each)
    await database.asOwner(`alter role ${role} password 'for-tests'`)
    expect(await database.doctor(role, 'row security')).toEqual([])
    expect(await database.doctor(role, 'permissions')).toEqual([])
    expect((await database.run(role, 'reap', '--once')).stdout).toContain('1 requeued')
    expect(await database.run(role, 'stuck')).toMatchObject({ exitCode: 0 })
    expect(await database.as('anon', `select * from ${table}`)).toEqual([])
  })

  it('OPS-11 gives BYPASSRLS under a restrictive policy to a role that whoever runs it may give it to', async () => {
    await withRowSecurity(`create policy restrictive on ${table} as restrictive using (attempts > 1)`)
    const role = await database.createLogin()
    const mayBypass = () =>
      database.asOwner(`select rolbypassrls as may from pg_roles where rolname = '${role}'`)
    const grants = rolesSql('unstuck', executorProfile, role)
    await database.asOwner(grants)
    expect(await mayBypass()).toEqual([{ may: false }])
    expect(await database.doctor(role, 'row security')).toMatchObject([
      { level: 'problem', fix: `alter role ${role} bypassrls` },
    ])
    await database.asSuperuser(grants)
    expect(await mayBypass()).toEqual([{ may: true }])
    expect(await database.doctor(role, 'row security')).toEqual([])
  })
})
