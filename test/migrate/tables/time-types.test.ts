// A team's times that are not plain timestamptz: used as they are, rounded the safe way, refused where they could not be used.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TableProfile } from '../../../src/profile/profile.ts'
import {
  migrateDown,
  migrateStatus,
  migrateUp,
  planAttach,
  withDoctorReader,
} from '../../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'
import { teamProfile } from '../team-table.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  // A zone that nothing here means, so that a conversion by the session would be seen.
  await database.pool.query(`do $$ begin
    execute format('alter database %I set timezone = ''Asia/Kathmandu''', current_database()); end $$`)
})
const startOver = async () => {
  if (await schemaExists(database.pool)) await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  await database.pool.query('drop schema public cascade; create schema public')
}
afterAll(() => database.drop())

const rows = async (text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await database.pool.query(text, params)).rows

const times = {
  run_at: 'due_at',
  lease_expires_at: 'locked_until',
  last_attempt_at: 'locked_at',
  heartbeat_at: 'seen_at',
}
const profileOf = (fields: Partial<TableProfile> = {}) => teamProfile({ columns: times, ...fields })
const attach = (fields: Partial<TableProfile> = {}) =>
  migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: profileOf(fields) })

const createTable = (type: string, now: string) => `
  create table team_jobs (
    id uuid primary key default gen_random_uuid(), status text not null default 'queued',
    created_at ${type} not null default ${now}, due_at ${type}, locked_until ${type}, locked_at ${type}, seen_at ${type},
    updated_at ${type}
  );`

const claim = () => rows(`select from unstuck.claim_jobs__team('w', array['clip'], 10)`)

/** How the team writes and reads its times, beside the engine. */
interface Shape {
  type: string
  fields: Partial<TableProfile>
  write: (time: string) => string
  read: (column: string) => string
}

const utc = {
  write: (time: string) => `((${time}) at time zone 'UTC')`,
  read: (column: string) => `(${column} at time zone 'UTC')`,
}
const shapes: [string, Shape][] = [
  ['timestamp', { type: 'timestamp', fields: {}, ...utc }],
  ['timestamp(3), as Prisma makes it', { type: 'timestamp(3)', fields: {}, ...utc }],
  ['timestamp(0), as Laravel makes it', { type: 'timestamp(0)', fields: {}, ...utc }],
  ['timestamptz(0)', { type: 'timestamptz(0)', fields: {}, write: (time) => time, read: (column) => column }],
  [
    'timestamp(0) of another offset',
    {
      type: 'timestamp(0)',
      fields: { timeZone: '-03:30' },
      write: (time) => `((${time}) at time zone interval '-03:30')`,
      read: (column) => `(${column} at time zone interval '-03:30')`,
    },
  ],
  [
    'integer seconds',
    {
      type: 'integer',
      fields: { epochUnit: 's' },
      write: (time) => `extract(epoch from ${time})`,
      read: (column) => `to_timestamp(${column})`,
    },
  ],
  [
    'bigint milliseconds',
    {
      type: 'bigint',
      fields: { epochUnit: 'ms' },
      write: (time) => `(extract(epoch from ${time}) * 1000)`,
      read: (column) => `to_timestamp(${column} / 1000.0)`,
    },
  ],
]

describe.each(shapes)('times of type %s', (_, { type, fields, write, read }) => {
  let before: string[]
  beforeAll(async () => {
    await database.pool.query(createTable(type, write('now()')))
    before = await describeSchema(database.pool, 'public')
    await attach(fields)
  })
  afterEach(() => database.pool.query('delete from team_jobs'))
  afterAll(startOver)

  it('OPS-13 no job of the team starts before its time, and one that is due starts', async () => {
    await rows(`insert into team_jobs (due_at) values (${write("now() + interval '1 hour'")})`)
    const [due] = await rows(
      `insert into team_jobs (due_at) values (${write("now() - interval '3 s'")}) returning id`,
    )
    await claim()
    expect(await rows(`select id from team_jobs where status = 'processing'`)).toEqual([{ id: due?.['id'] }])
  })

  it('OPS-13 the team’s own expired lease is taken back, and one that runs is not', async () => {
    const lease = (end: string) =>
      rows(`insert into team_jobs (status, locked_until) values ('processing', ${write(end)}) returning id`)
    const [over] = await lease("now() - interval '3 s'")
    await lease("now() + interval '3 min'")
    expect(await rows('select id, action from unstuck.reap_jobs__team()')).toEqual([
      { id: over?.['id'], action: 'requeued' },
    ])
  })

  it('OPS-13 C5 a lease is never shorter than promised, and a retry never early', async () => {
    await rows(
      `select unstuck.write_policy('team', '{"default_lease_ms": 60000, "stage_factors": {"clip": 0}, "stage_leases_ms": {"clip": 60000}}')`,
    )
    const short: unknown[] = []
    for (let round = 0; round < 8; round++) {
      await rows(`insert into team_jobs (created_at) values (${write("now() - interval '9 s'")})`)
      const noteShort = async (what: string, column: string, from: unknown, promised: string) =>
        short.push(
          ...(await rows(
            `select $1 as what from team_jobs where ${read(column)} < $2::timestamptz + $3::interval`,
            [what, from, promised],
          )),
        )
      // The clock before the call, less than any time that the call grants from.
      const [claimed] = await rows('select clock_timestamp()::text as at')
      await claim()
      await noteShort('claim', 'locked_until', claimed?.['at'], '60 s')
      short.push(...(await rows(`select 'lock' as what from team_jobs where locked_at > seen_at`)))
      const [held] = await rows('select id, lease_id from team_jobs')
      const lease = [held?.['id'], held?.['lease_id']]
      const [beaten] = await rows('select clock_timestamp()::text as at')
      await rows('select from unstuck.heartbeat_jobs__team(array[$1::uuid], array[$2::uuid])', lease)
      await noteShort('heartbeat', 'locked_until', beaten?.['at'], '60 s')
      const [failed] = await rows('select clock_timestamp()::text as at')
      await rows(
        `select from unstuck.fail_jobs__team(jsonb_build_array(jsonb_build_object(
           'id', $1::uuid, 'lease_id', $2::uuid, 'code', 'x', 'retry_in_ms', 5000)))`,
        lease,
      )
      await noteShort('retry', 'due_at', failed?.['at'], '5 s')
      await rows('delete from team_jobs')
    }
    expect(short).toEqual([])
  })

  it('OPS-13 a claim finds the next job by its index', async () => {
    await rows(`insert into team_jobs (due_at, created_at)
      select ${write("now() + n * interval '1 s'")}, ${write('now()')} from generate_series(1, 3000) n`)
    await rows('vacuum analyze team_jobs')
    const reading = { databaseUrl: database.url, schema: 'unstuck', timeoutMs: 10_000 }
    const [table] = profileOf(fields).tables
    const [plan] = await withDoctorReader(reading, (reader) => reader.look('explain_claim', table))
    const scan = JSON.stringify(plan)
    expect(scan).toMatch(/"Index Name":"unstuck_team_ready\w*"/)
    expect(scan).toMatch(/"Index Cond":"[^"]*due_at/)
  })

  it('OPS-13 detach leaves the table as it was', async () => {
    const status = await migrateStatus({
      databaseUrl: database.url,
      schema: 'unstuck',
      profile: profileOf(fields),
    })
    expect(status.isCurrent).toBe(true)
    await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
  })
})

describe('a zone with transitions', () => {
  afterEach(startOver)
  const berlin = { timeZone: 'Europe/Berlin' }
  const zoneless = createTable('timestamp', `(now() at time zone 'Europe/Berlin')`)

  it('OPS-13 has no times that can be written: attach names the column and the way out', async () => {
    await database.pool.query(zoneless)
    await expect(attach(berlin)).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: expect.stringMatching(/its column created_at has no time zone.*Europe\/Berlin/),
      hint: expect.stringMatching(/^Map created_at to another column.*teamAgeColumns may name created_at/),
    })
  })

  it('OPS-13 has times that tell an age, with an hour of margin', async () => {
    await database.pool.query(zoneless)
    const ids: unknown[] = []
    for (const minutes of [140, 100, 10]) {
      const [row] = await rows(
        `insert into team_jobs (status, seen_at) values ('processing',
           (now() - $1 * interval '1 minute') at time zone 'Europe/Berlin') returning id`,
        [minutes],
      )
      ids.push(row?.['id'])
    }
    const columns = { created_at: 'added_at', updated_at: 'changed_at' }
    await attach({ ...berlin, columns, ageColumns: ['heartbeat_at'], teamAgeColumns: ['seen_at'] })
    await rows(
      `select unstuck.write_policy('team', '{"legacy_age_rule": true, "stage_leases_ms": {"clip": 3600000}}')`,
    )
    expect(await rows('select id from unstuck.reap_jobs__team()')).toEqual([{ id: ids[0] }])
  })

  it('OPS-13 must be one that the server knows', async () => {
    await database.pool.query(
      'create table team_jobs (id uuid primary key, status text not null, seen_at timestamp)',
    )
    const mars = { timeZone: 'Mars/Olympus', columns: {}, teamAgeColumns: ['seen_at'] }
    await expect(attach(mars)).rejects.toMatchObject({
      message: expect.stringMatching(/knows no time zone Mars\/Olympus/),
    })
  })
})

describe('times that would be misread', () => {
  afterEach(startOver)
  it.each<[string, string, Partial<TableProfile>, RegExp]>([
    ['without a unit', 'bigint', {}, /due_at is bigint, and the profile does not say which unit/],
    ['that are too small', 'integer', { epochUnit: 'ms' }, /due_at is integer, too small for milliseconds/],
    ['in another unit', 'bigint', { epochUnit: 'ms' }, /due_at does not count milliseconds since 1970/],
  ])('OPS-13 integers %s are refused', async (_, type, fields, message) => {
    await database.pool.query(`create table team_jobs (id uuid primary key default gen_random_uuid(),
        status text not null default 'queued', due_at ${type});
      insert into team_jobs (due_at) values (extract(epoch from now()));`)
    await expect(attach({ ...fields, columns: { run_at: 'due_at' } })).rejects.toMatchObject({
      code: 'TABLE_UNSUPPORTED',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/epochUnit/),
    })
  })

  it('OPS-13 columns that are not there, or no times, cannot tell an age', async () => {
    await database.pool.query('create table team_jobs (id uuid primary key, status text not null, note text)')
    const outcome = (name: string) => attach({ columns: {}, teamAgeColumns: [name] })
    await expect(outcome('gone')).rejects.toMatchObject({
      message: expect.stringMatching(/has no column gone/),
    })
    await expect(outcome('note')).rejects.toMatchObject({
      message: expect.stringMatching(/note is text, not a time/),
    })
  })

  it('OPS-13 the plan says which zone is meant, how to give one instead, and that times lie in the future', async () => {
    await database.pool.query(
      createTable('timestamp', `(now() at time zone interval '+02:00')`) +
        'insert into team_jobs default values;',
    )
    const plan = await planAttach({ databaseUrl: database.url, schema: 'unstuck', profile: profileOf() })
    expect(plan.notes[0]).toBe(
      'public.team_jobs: created_at, updated_at, due_at, locked_at, locked_until, seen_at: no time zone; ' +
        'read and written as UTC (timeZone in the profile)',
    )
    expect(plan.notes.at(-1)).toMatch(
      /^! public.team_jobs: read as UTC, created_at is up to (120|119) min in the future/,
    )
    // The statements of the plan change the types without a rewrite.
    const node = `select relfilenode::text from pg_class where oid = 'team_jobs'::regclass`
    const before = [await rows(node), await rows('select created_at::text from team_jobs')]
    await rows(plan.notes.filter((line) => line.startsWith('    ')).join('\n'))
    const [{ type } = {}] = await rows(
      `select format_type(atttypid, null) as type from pg_attribute where attrelid = 'team_jobs'::regclass and attname = 'due_at'`,
    )
    expect(type).toBe('timestamp with time zone')
    expect([
      await rows(node),
      await rows(`select (created_at at time zone 'UTC')::text as created_at from team_jobs`),
    ]).toEqual(before)
  })
})
