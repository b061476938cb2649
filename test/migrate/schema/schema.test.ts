// Every way of installing leaves the same: fresh, under another name, and from the printed SQL.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { featureNames } from '../../../src/profile/profile.ts'
import { migrateDown, migrateStatus, migrateUp, migrationSql } from '../../../src/store/postgres/index.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeFreshInstall, describeSchema, type Queryable, schemaExists } from '../describe.ts'
import { nextMigration, withNextMigration } from '../next-migration.ts'
import { splitStatements } from '../split-statements.ts'

const schema = 'unstuck'
const profile = nativeProfile(schema)

let database: TestDatabase
let fresh: string[]

beforeAll(async () => {
  fresh = await describeFreshInstall()
})
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

/** As psql would: one statement after another, each in a transaction of its own. */
async function runStatements(sql: string): Promise<void> {
  const client = await database.connect()
  for (const statement of splitStatements(sql)) await client.query(statement)
}

describe('a native install', () => {
  it('OPS-7 an upgrade applies the next migration once, and keeps jobs and policies', async () => {
    await migrateUp({ databaseUrl: database.url, schema, profile })
    const { rows: jobs } = await database.pool.query(`select id from unstuck.enqueue_jobs('[{"type": "a"}]')`)
    await database.pool.query(`select unstuck.write_policy('native', '{"max_attempts": 7}')`)
    const steps: string[] = []
    for (let run = 0; run < 2; run++)
      await migrateUp({
        databaseUrl: database.url,
        schema,
        profile,
        migrations: withNextMigration(),
        onStep: (step) => steps.push(step),
      })
    expect(steps.filter((step) => step.startsWith('migration'))).toEqual([`migration ${nextMigration.name}`])
    const { rows } = await database.pool.query(
      'select id::text, colour, (select max_attempts from unstuck.policies) from unstuck.jobs',
    )
    expect(rows).toEqual([{ id: jobs[0].id, colour: 'green', max_attempts: 7 }])
    await expect(migrateUp({ databaseUrl: database.url, schema, profile })).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
    })
  })

  it('OPS-7 under another name is the same', async () => {
    await migrateUp({ databaseUrl: database.url, schema: 'acme_jobs', profile: nativeProfile('acme_jobs') })
    expect(await describeSchema(database.pool, 'acme_jobs')).toEqual(fresh)
    expect(await describeSchema(database.pool, schema)).toEqual([])
  })

  it('OPS-7 two installs of one database do not meet', async () => {
    await migrateUp({ databaseUrl: database.url, schema: 'one', profile: nativeProfile('one') })
    const before = await describeSchema(database.pool, 'one')
    await migrateUp({ databaseUrl: database.url, schema: 'two', profile: nativeProfile('two') })
    await database.pool.query(`select from one.enqueue_jobs('[{"type": "a"}]')`)
    const { rows } = await database.pool.query(`select * from two.claim_jobs('w', array['a'], 1)`)
    expect(rows).toEqual([])
    expect(await describeSchema(database.pool, 'one')).toEqual(before)
    expect(await describeSchema(database.pool, 'two')).toEqual(before)
  })

  it('OPS-7 from the printed SQL is the same', async () => {
    await runStatements(migrationSql(schema, profile))
    expect(await describeSchema(database.pool, schema)).toEqual(fresh)
  })

  it('OPS-7 a second run changes nothing', async () => {
    await migrateUp({ databaseUrl: database.url, schema, profile })
    const tables = ['attachments', 'policies', 'sweeps', 'migrations']
    const read = async () => [
      await describeSchema(database.pool, schema),
      ...(await Promise.all(
        tables.map(
          async (table) => (await database.pool.query(`select * from ${schema}.${table} order by 1`)).rows,
        ),
      )),
    ]
    const before = await read()
    const steps: string[] = []
    await migrateUp({ databaseUrl: database.url, schema, profile, onStep: (step) => steps.push(step) })
    expect(await read()).toEqual(before)
    expect(steps).not.toContainEqual(expect.stringMatching(/^migration/))
  })

  it('OPS-7 a second run keeps a policy that was changed since', async () => {
    await migrateUp({ databaseUrl: database.url, schema, profile })
    await database.pool.query(`select unstuck.write_policy('native', '{"max_attempts": 7}')`)
    await migrateUp({ databaseUrl: database.url, schema, profile })
    const { rows } = await database.pool.query(`select max_attempts from unstuck.policies`)
    expect(rows).toEqual([{ max_attempts: 7 }])
  })
})

describe('an attached install', () => {
  beforeEach(async () => {
    await database.pool.query(clipTables)
  })

  it('OPS-7 from the printed SQL is the same, indexes built without blocking', async () => {
    await runStatements(migrationSql(schema, clipProfile))
    const printed = [
      await describeSchema(database.pool, schema),
      await describeSchema(database.pool, 'public'),
    ]
    const { rows: events } = await database.pool.query(`select unstuck.sweep_jobs__jobs() as step`)
    expect(events).toMatchObject([{ step: { reaped: [] } }])
    const other = await createTestDatabase()
    await other.pool.query(clipTables)
    // The printed SQL knows no table, so it has all columns.
    await migrateUp({ databaseUrl: other.url, schema, profile: clipProfile, features: featureNames })
    expect(printed).toEqual([
      await describeSchema(other.pool, schema),
      await describeSchema(other.pool, 'public'),
    ])
    await other.drop()
  })

  it('OPS-7 a second run changes nothing, neither on the team’s tables nor on ours', async () => {
    await migrateUp({ databaseUrl: database.url, schema, profile: clipProfile })
    const read = async () => [
      await describeSchema(database.pool, schema),
      await describeSchema(database.pool, 'public'),
      (await database.pool.query('select * from unstuck.attachments order by name')).rows,
    ]
    const before = await read()
    await migrateUp({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(await read()).toEqual(before)
  })

  it('OPS-7 two runs at once wait for each other', async () => {
    const runs = [1, 2, 3].map(() => migrateUp({ databaseUrl: database.url, schema, profile: clipProfile }))
    await Promise.all(runs)
    const { isCurrent } = await migrateStatus({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(isCurrent).toBe(true)
  })
})

describe('an install from the printed SQL', () => {
  it('OPS-7 is one that migrate status, up and down know', async () => {
    await database.pool.query(clipTables)
    // A column of the team's that the engine uses too: not ours to take off again.
    await database.pool.query('alter table jobs add column priority int not null default 7')
    const before = await describeSchema(database.pool, 'public')
    await runStatements(migrationSql(schema, clipProfile))
    const status = () => migrateStatus({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(await status()).toMatchObject({ isCurrent: true, pending: [] })
    const printed = await describeSchema(database.pool, schema)
    await migrateUp({ databaseUrl: database.url, schema, profile: clipProfile })
    expect(await describeSchema(database.pool, schema)).toEqual(printed)
    expect(await status()).toMatchObject({ isCurrent: true })
    await migrateDown({ databaseUrl: database.url, schema })
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
    expect(await schemaExists(database.pool)).toBe(false)
  })

  it('OPS-7 notes what migrate up notes', async () => {
    const read = async (pool: Queryable) => [
      (await pool.query('select name from unstuck.migrations order by name')).rows,
      (
        await pool.query(
          `select name, profile, table_schema, table_name, added_columns, added_indexes, functions, functions_digest
             from unstuck.attachments order by name`,
        )
      ).rows,
    ]
    await database.pool.query(clipTables)
    await runStatements(migrationSql(schema, clipProfile))
    const other = await createTestDatabase()
    await other.pool.query(clipTables)
    // The printed SQL knows no table, so it has all columns.
    await migrateUp({ databaseUrl: other.url, schema, profile: clipProfile, features: featureNames })
    expect(await read(database.pool)).toEqual(await read(other.pool))
    await other.drop()
  })
})

describe('functions of an older version', () => {
  beforeEach(() => migrateUp({ databaseUrl: database.url, schema, profile }))

  const upgradeAfter = async (sql: string) => {
    await database.pool.query(sql)
    await migrateUp({ databaseUrl: database.url, schema, profile })
  }

  it.each([
    [
      'with another result are replaced',
      `drop function unstuck.read_health(jsonb, int);
       create function unstuck.read_health(p_policy jsonb default null) returns int language sql as 'select 1'`,
    ],
    [
      'with another result, on which a bound body depends, are replaced',
      `drop function unstuck.iso_utc(timestamptz);
       create function unstuck.iso_utc(p_at timestamptz) returns int language sql return 1;
       create or replace function unstuck.reap_cause(p_reason text) returns text language sql stable
       return unstuck.iso_utc(now())::text`,
    ],
    [
      'that were procedures are replaced',
      `drop function unstuck.iso_utc(timestamptz);
       create procedure unstuck.iso_utc(p_at timestamptz) language sql as 'select 1'`,
    ],
    [
      'with other arguments are gone',
      `create function unstuck.require_leases(int, int, boolean) returns boolean language sql as 'select true'`,
    ],
    [
      'that this version does not have are gone',
      `create function unstuck.former_jobs() returns int language sql as 'select 1';
       update unstuck.attachments set functions = functions || 'former_jobs'::text`,
    ],
  ])('OPS-7 %s', async (_, sql) => {
    await upgradeAfter(sql)
    expect(await describeSchema(database.pool, schema)).toEqual(fresh)
  })

  it('OPS-7 that only have another body keep their grants and what a team built upon them', async () => {
    await upgradeAfter(`
      create view jobs_health as select * from unstuck.read_health();
      revoke execute on function unstuck.read_health(jsonb, int) from public;
      create or replace function unstuck.job_record(p_id uuid) returns jsonb language sql stable as 'select null::jsonb'`)
    expect(await describeSchema(database.pool, schema)).toEqual(fresh)
    await database.pool.query('select * from jobs_health')
    const { rows } = await database.pool.query(
      `select proacl::text not like '%{=X/%' as is_kept from pg_proc where proname = 'read_health'`,
    )
    expect(rows).toEqual([{ is_kept: true }])
  })
})
