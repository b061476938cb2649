// Nobody who may create in a schema on a caller's search_path gets code of theirs run by the engine (C28), and what the team
// has in its own schemas is found all the same. The whole conformance suite beside hostile objects is in test/external/teams.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { executorProfile } from '../../../src/profile/executor.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { engineFunctions } from '../../../src/store/postgres/migrate/statements/plan.ts'
import type { SqlFile } from '../../../src/store/postgres/sql-files.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { cronWrappers, deadWorkerTest } from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { commonHostileObjects, hostileUrl } from '../../support/tables/hostile-objects.ts'
import {
  oddProfile,
  oddTable,
  oddTables,
  varyingProfile,
  varyingTables,
} from '../../support/tables/odd-table.ts'
import { zonelessProfile, zonelessTables } from '../../support/tables/zoneless-table.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const native = nativeProfile('unstuck')
const [table] = native.tables

describe('a role that may create in a schema on the path', () => {
  const role = `unstuck_test_${randomBytes(6).toString('hex')}`
  let database: TestDatabase
  beforeAll(async () => {
    database = await createInstalledDatabase()
    await database.pool.query(`create role ${role} login password 'of-a-test'`)
  })
  afterAll(async () => {
    await database.pool.query(`drop owned by ${role}`)
    await database.drop()
  })

  it('OPS-12 does not get its operator on int and interval run by a superuser’s run_sweeps', async () => {
    const superuser = await database.connect()
    // The default of PostgreSQL 14.
    await superuser.query('grant create on schema public to public')
    const url = new URL(database.url)
    url.username = role
    url.password = 'of-a-test'
    const attacker = new pg.Client({ connectionString: url.href })
    await attacker.connect()
    try {
      await attacker.query(`
        create table public.taken (who text);
        create function public.take(int, interval) returns interval language plpgsql as $$
        begin
          insert into public.taken values (current_user);
          return $2;
        end $$;
        create operator public.* (function = public.take, leftarg = int, rightarg = interval);
        grant all on public.taken to public`)
      // The operator is there for the superuser.
      await superuser.query(`select 59 * interval '1 second'`)
      const { rows: before } = await superuser.query('delete from public.taken returning who')
      expect(before).toHaveLength(1)
      await superuser.query('call unstuck.run_sweeps(59)')
      expect((await superuser.query('select * from public.taken')).rows).toEqual([])
    } finally {
      await attacker.end()
    }
  })
})

describe('an install beside hostile objects', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
    await database.pool.query(
      executorTables + oddTables + varyingTables + zonelessTables + commonHostileObjects,
    )
  })
  afterAll(() => database.drop())

  it.each<[string, Profile]>([
    ['the native table', native],
    ['a table with an enum', oddProfile],
    ['a table with ids and words of varying length', varyingProfile],
    ['a table with times of other types', zonelessProfile],
    ['a table with functions and views of the team’s', executorProfile],
  ])('OPS-12 runs every function of %s once, and none of theirs', async (_, profile) => {
    // The test run of an install calls them all.
    await migrateUp({ databaseUrl: hostileUrl(database.url), schema: 'unstuck', profile })
  })

  it('OPS-12 binds nothing to theirs', async () => {
    const { rows } = await database.pool.query(`
      select pg_describe_object(classid, objid, objsubid) as bound from pg_depend
       where pg_describe_object(refclassid, refobjid, refobjsubid) like '%hostile.%'
         and pg_describe_object(classid, objid, objsubid) not like '%hostile%'`)
    expect(rows).toEqual([])
  })

  it.each([
    'call unstuck.run_sweeps(59)',
    'call unstuck.run_sweep()',
    `select * from unstuck.read_slo()`,
    `select * from unstuck.list_stale_jobs(true)`,
    `select unstuck.set_mode('enforce'), unstuck.set_mode('observe'), unstuck.set_mode('reap')`,
    `select unstuck.set_mode__user_order('enforce'), unstuck.set_mode__user_order('reap')`,
    'call unstuck.run_sweep__user_order()',
    'call unstuck.run_sweep__task()',
    'select * from public.reclaim_stale_jobs()',
    `select public.update_job_heartbeat(gen_random_uuid(), 'w')`,
    'select public.process_orchestrator_jobs()',
    'select * from public.executor_jobs_stale_monitor, public.executor_jobs_stale_validation',
  ])('OPS-12 %s runs none of theirs', async (statement) => {
    const client = new pg.Client({ connectionString: hostileUrl(database.url) })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  })
})

/** A function of sql/functions, as it is installed. */
interface Routine extends SqlFile {
  kind: 'bound' | 'pinned' | 'team'
}

const pin = /\bset search_path = pg_catalog, pg_temp\b/

/** Text without comments and literals. */
const codeOf = ({ text }: SqlFile) => text.replaceAll(/--[^\n]*|'(?:[^']|'')*'/g, '')

/** Whatever touches the jobs of a team, or calls what does. */
function touching(files: SqlFile[]): Set<string> {
  // Writes the team's own events, where it has a table of them.
  const found = new Set<string>(['record_events'])
  const touches = (file: SqlFile) =>
    codeOf(file).includes('"unstuck"."jobs"') ||
    [...found].some((name) => codeOf(file).includes(`"unstuck"."${name}"(`))
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const file of files) if (touches(file)) found.add(file.name)
  }
  return found
}

/** Called by every claim, heartbeat and completion: a SET clause costs 1 µs a call, and there are up to ten. */
const hot = new Set([
  'policy_of',
  'has_queue_rules',
  'send_hint',
  'require',
  'is_last_chance',
  'attempt_deadline_ms',
  'judged_chance',
  'listed_fields',
  'require_leases',
  'require_list',
  'require_results',
])

describe('every function', () => {
  const files = engineFunctions({ schema: 'unstuck', table })
  const ofTeams = touching(files)
  const routines = files.map((file): Routine => {
    const isBound = !file.text.includes('$$')
    return { ...file, kind: isBound ? 'bound' : pin.test(file.text) ? 'pinned' : 'team' }
  })

  it('OPS-12 has a bound body, or a pinned search_path, unless it touches a team’s table or is hot', () => {
    const unpinned = routines.filter(
      ({ kind, name }) => kind === 'team' && !ofTeams.has(name) && !hot.has(name),
    )
    expect(unpinned.map(({ name }) => name)).toEqual([])
  })

  it('OPS-12 that writes a team’s table leaves the search_path to the team’s triggers', () => {
    const writes = /(?:update|insert into|delete from) "unstuck"\."jobs"/
    const pinned = routines.filter((file) => file.kind !== 'team' && writes.test(codeOf(file)))
    expect(pinned.map(({ name }) => name)).toEqual([])
  })

  it('OPS-12 of an attached table that is bound calls nothing of the engine: an upgrade replaces that first', () => {
    const core = files.filter(({ text }) => /create or replace \w+ "unstuck"\.\w/.test(text))
    const shared = routines.filter(
      (file) =>
        file.kind === 'bound' &&
        /create or replace \w+ "unstuck"\."/.test(file.text) &&
        core.some(({ name }) => codeOf(file).includes(`"unstuck".${name}(`)),
    )
    expect(shared.map(({ name }) => name)).toEqual([])
  })

  it('OPS-12 that is not pinned calls PostgreSQL’s functions by their qualified names', async () => {
    const database = await createTestDatabase()
    const { rows } = await database.pool.query<{ proname: string }>(
      `select distinct proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace`,
    )
    await database.drop()
    const builtIn = new Set(rows.map(({ proname }) => proname))
    // With several arguments in FROM it is PostgreSQL's own, whatever the path; syntax, not functions.
    const syntax = new Set(['unnest', 'extract'])
    const calls = routines
      .filter(({ kind }) => kind === 'team')
      .flatMap((file) =>
        [...codeOf(file).matchAll(/(?<![.:\w"])([a-z_0-9]+)\s?\(/g)].map(
          ([, name = '']) => `${file.name}: ${name}`,
        ),
      )
      .filter((call) => builtIn.has(call.split(': ')[1] ?? '') && !syntax.has(call.split(': ')[1] ?? ''))
    expect(calls).toEqual([])
  })
})

describe('what a team has in its own schema', () => {
  let database: TestDatabase
  let client: pg.Client
  beforeEach(async () => {
    database = await createTestDatabase()
    client = await database.connect()
  })
  afterEach(() => database.drop())

  const attach = (profile: Profile) => migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
  const rows = async (text: string) => (await client.query(text)).rows

  it('OPS-12 is found by a trigger on its table', async () => {
    await client.query(`${oddTables}
      create table public.changes (state text);
      create function public.note_change() returns trigger language plpgsql as $$
      begin
        insert into changes values (new."State");
        return new;
      end $$;
      create trigger note_change after insert or update on "Ops Team"."Order" for each row execute function note_change()`)
    await attach(oddProfile)
    const name = oddTable.attachment
    await client.query(`select unstuck.enqueue_jobs__${name}('[{"type": "a"}]')`)
    await client.query(`select unstuck.claim_jobs__${name}('w', array['a'], 1)`)
    await client.query(
      `select unstuck.complete_jobs__${name}(array["Id"], array[lease_id]) from "Ops Team"."Order"`,
    )
    expect((await rows('select state from changes')).map(({ state }) => String(state))).toEqual([
      'To Do',
      'Doing',
      'Done',
    ])
  })

  it('OPS-12 is found by a body that was kept and is called by a wrapper', async () => {
    await client.query(executorTables + cronWrappers)
    await client.query(`
      create table public.wakes (at timestamptz default now());
      create or replace function public.process_orchestrator_jobs() returns void language plpgsql as $$
      begin
        insert into wakes default values;
      end $$`)
    await attach(executorProfile)
    await client.query(deadWorkerTest.create)
    await client.query('select public.process_orchestrator_jobs()')
    expect(await rows('select from wakes')).toHaveLength(1)
    expect(await rows(deadWorkerTest.verify)).toMatchObject([{ status: 'queued' }])
  })

  it('OPS-12 compares a citext status as the team does', async () => {
    // As the extension makes them; it is not on every server.
    await client.query(`
      create type public.citext;
      create function public.citextin(cstring) returns citext language internal immutable strict as 'textin';
      create function public.citextout(citext) returns cstring language internal immutable strict as 'textout';
      create type public.citext (input = citextin, output = citextout, internallength = variable, storage = extended,
                                 category = 'S', collatable = true);
      create cast (citext as text) without function as implicit;
      create cast (text as citext) without function as assignment;
      create cast (citext as varchar) without function as implicit;
      create function public.citext_eq(citext, citext) returns boolean language sql immutable
        return lower($1::text) = lower($2::text);
      create function public.citext_ne(citext, citext) returns boolean language sql immutable
        return lower($1::text) <> lower($2::text);
      create operator public.= (function = citext_eq, leftarg = citext, rightarg = citext, commutator = =, negator = <>);
      create operator public.<> (function = citext_ne, leftarg = citext, rightarg = citext, commutator = <>, negator = =);
      ${oddTables.replace(`"State"        "Ops Team"."Order State" not null`, `"State"        public.citext not null`)}`)
    await attach(oddProfile)
    await client.query(`insert into "Ops Team"."Order" ("Id", "select", "State")
                        values (gen_random_uuid(), 'a', 'TO DO'), (gen_random_uuid(), 'a', 'to do')`)
    const claimed = await rows(`select id from unstuck.claim_jobs__user_order('w', array['a'], 10)`)
    expect(claimed).toHaveLength(2)
    await client.query(`update "Ops Team"."Order" set "State" = 'DOING'`)
    const done = await rows(`select outcome from unstuck.complete_jobs__user_order(
      array(select "Id" from "Ops Team"."Order"), array(select lease_id from "Ops Team"."Order"))`)
    expect(done).toEqual([{ outcome: 'completed' }, { outcome: 'completed' }])
  })
})
