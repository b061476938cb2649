// A database as Supabase makes them: an owner that is no superuser, the roles of its API, and default privileges that give
// these roles everything that is made in the public schema.
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Finding } from '../../../src/doctor/finding.ts'
import { executorProfile } from '../../../src/profile/executor.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { type CommandResult, runCommand } from '../../cli/support/run-command.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { createTestDatabase } from '../../support/test-database.ts'

export type Rows = Record<string, unknown>[]

export interface SupabaseDatabase {
  owner: string
  version: number
  /** One statement as a role would send it: PostgREST switches to a role in the same way. */
  as(role: string, sql: string): Promise<Rows>
  asOwner(sql: string): Promise<Rows>
  asSuperuser(sql: string): Promise<Rows>
  /** A name for a role of this test, which goes with the database. */
  newRole(): string
  /** Makes a role that can log in, and answers its name. */
  createLogin(attributes?: string): Promise<string>
  /** Takes everything from a role that it was granted. */
  strip(role: string): Promise<void>
  urlOf(role: string): string
  /** By the owner, with the profile executor. */
  install(): Promise<void>
  /** A command of the profile executor, by a role that can log in. */
  run(role: string, ...args: string[]): Promise<CommandResult>
  /** Findings for a role that are not fine. */
  doctor(role: string, check: string): Promise<Finding[]>
  drop(): Promise<void>
}

export interface SupabaseOptions {
  /** Where the owner's default privileges hold: in the public schema, as in every project, or in all of its schemas. */
  defaults?: 'in schema public' | ''
  hasRowSecurity?: boolean
}

const apiRoles = ['anon', 'authenticated', 'service_role']
const password = 'for-tests'

export async function createSupabaseDatabase(options: SupabaseOptions = {}): Promise<SupabaseDatabase> {
  const { defaults = 'in schema public', hasRowSecurity = true } = options
  const database = await createTestDatabase()
  const owner = randomName()
  const roles = [owner]
  const admin = await database.connect()
  await createApiRoles(admin)
  await admin.query(`
    create role ${owner} login createrole password '${password}';
    alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner};
    alter schema public owner to ${owner};
    grant usage on schema public to ${apiRoles.join(', ')};`)
  const [{ version } = { version: 0 }] = (
    await admin.query<{ version: number }>(`select current_setting('server_version_num')::int as version`)
  ).rows
  for (const kind of ['tables', 'functions', 'sequences'])
    await asOwner(`alter default privileges ${defaults} grant all on ${kind} to ${apiRoles.join(', ')}`)
  await asOwner(executorTables)
  if (hasRowSecurity) await asOwner('alter table public.executor_jobs enable row level security')

  async function as(role: string, sql: string): Promise<Rows> {
    await admin.query(`set session authorization ${role}`)
    try {
      return (await admin.query(sql)).rows as Rows
    } finally {
      await admin.query('reset session authorization')
    }
  }

  function asOwner(sql: string): Promise<Rows> {
    return as(owner, sql)
  }

  function newRole(): string {
    const role = randomName()
    roles.push(role)
    return role
  }

  function urlOf(role: string): string {
    const address = new URL(database.url)
    address.username = role
    address.password = password
    return address.href
  }

  const run = (role: string, ...args: string[]) =>
    runCommand([...args, '--profile', 'executor'], { DATABASE_URL: urlOf(role) })

  return {
    owner,
    version,
    as,
    asOwner,
    asSuperuser: async (sql) => (await admin.query(sql)).rows as Rows,
    newRole,
    urlOf,
    run,
    async createLogin(attributes = '') {
      const role = newRole()
      await admin.query(`create role ${role} login ${attributes} password '${password}'`)
      return role
    },
    strip: async (role) => void (await admin.query(`drop owned by ${role} cascade`)),
    install: () => migrateUp({ databaseUrl: urlOf(owner), schema: 'unstuck', profile: executorProfile }),
    async doctor(role, check) {
      const { stdout, stderr } = await run(role, 'doctor', '--json')
      if (stdout === '') throw new Error(stderr)
      const { findings } = JSON.parse(stdout) as { findings: Finding[] }
      const unreadable = findings.filter((finding) => finding.check === 'unreadable')
      if (unreadable.length > 0) throw new Error(JSON.stringify(unreadable))
      return findings.filter((finding) => finding.check === check && finding.level !== 'fine')
    },
    async drop() {
      const { rows } = await admin.query<{ rolname: string }>(
        'select rolname from pg_roles where rolname = any ($1)',
        [roles],
      )
      await admin.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to current_user`)
      for (const { rolname } of rows.toReversed())
        await admin.query(`drop owned by ${rolname} cascade; drop role ${rolname}`)
      await database.drop()
    },
  }
}

const randomName = () => `unstuck_test_${randomBytes(6).toString('hex')}`

/** They belong to the whole server: another test may make them at the same moment. */
async function createApiRoles(admin: pg.Client): Promise<void> {
  for (const role of apiRoles)
    await admin.query(`
      do $$ begin
        create role ${role} nologin noinherit ${role === 'service_role' ? 'bypassrls' : ''};
      exception when duplicate_object or unique_violation then null;
      end $$`)
}
