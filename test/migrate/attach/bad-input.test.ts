// Tables that cannot be attached are refused with one error that names the cause, and nothing is written.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { Profile, TableProfile } from '../../../src/profile/profile.ts'
import { migrateDown, migrateUp } from '../../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'
import { clipWords, teamProfile } from '../team-table.ts'

const tables = `
  create table plain (id uuid primary key, status text not null default 'queued');
  create table without_key (id uuid, status text);
  create table other_key (number int primary key, id uuid, status text);
  create table numbered (id bigint primary key, status text);
  create table amounts (id numeric primary key, status text);
  create table without_status (id uuid primary key);
  create table number_status (id uuid primary key, status int);
  create table checked (id uuid primary key, status text check (status in ('queued', 'processing', 'done')));
  create type short_status as enum ('queued', 'processing', 'done');
  create table with_enum (id uuid primary key, status short_status);
  create table by_status (id uuid, status text, primary key (id, status)) partition by list (status);
  create table local_time (id uuid primary key, status text, lease_expires_at date);
  create table other_payload (id uuid primary key, status text, payload bytea);
  create table computed (id uuid primary key, status text, stage text generated always as (status) stored);
  create view a_view as select * from plain;
  create materialized view a_copy as select * from plain;
  create sequence a_sequence;
  create foreign data wrapper nothing;
  create server nowhere foreign data wrapper nothing;
  create foreign table afar (id uuid, status text) server nowhere;
`
const long = 'a'.repeat(64)

let database: TestDatabase
let before: string[]

beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(tables)
  before = await describeSchema(database.pool, 'public')
})
// Removes an unexpected install, so that it fails one test and not all that follow.
afterEach(async () => {
  if (await schemaExists(database.pool)) await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
})
afterAll(() => database.drop())

interface Refusal {
  code: string
  message: RegExp
  hint?: RegExp
}

async function expectRefusal(profile: Profile, refusal: Refusal, options: object = {}): Promise<void> {
  const outcome = migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile, ...options })
  await expect(outcome).rejects.toMatchObject({
    name: 'UnstuckError',
    code: refusal.code,
    message: expect.stringMatching(refusal.message),
    ...(refusal.hint === undefined ? {} : { hint: expect.stringMatching(refusal.hint) }),
  })
  expect(await schemaExists(database.pool)).toBe(false)
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
}

describe('a table that cannot be attached', () => {
  const unsupported = 'TABLE_UNSUPPORTED'
  it.each<[name: string, table: Partial<TableProfile>, refusal: Refusal]>([
    [
      'is not there',
      { table: 'nowhere' },
      { code: 'TABLE_NOT_FOUND', message: /^table public\.nowhere: not found/, hint: /Check the schema/ },
    ],
    [
      'is looked for in a schema that is not there',
      { table: 'plain', schema: 'nowhere' },
      { code: 'TABLE_NOT_FOUND', message: /^table nowhere\.plain: not found/, hint: /Check the schema/ },
    ],
    [
      'has no primary key',
      { table: 'without_key' },
      {
        code: unsupported,
        message: /no primary key/,
        hint: /alter table "public"."without_key" add primary key \("id"\)/,
      },
    ],
    [
      'has another primary key',
      { table: 'other_key' },
      { code: unsupported, message: /primary key is \(number\), not id/, hint: /key column/ },
    ],
    [
      'has numbers where the profile says uuid',
      { table: 'numbered' },
      { code: unsupported, message: /column id is bigint, not uuid/, hint: /idType/ },
    ],
    [
      'has ids of a type that is not supported',
      { table: 'amounts', idType: 'bigint' },
      { code: unsupported, message: /column id is numeric, not bigint/, hint: /idType/ },
    ],
    [
      'is a view',
      { table: 'a_view' },
      { code: unsupported, message: /it is a view/, hint: /table behind it/ },
    ],
    [
      'is a materialized view',
      { table: 'a_copy' },
      { code: unsupported, message: /it is a materialized view/, hint: /table behind it/ },
    ],
    [
      'is a foreign table',
      { table: 'afar' },
      { code: unsupported, message: /it is a foreign table/, hint: /behind it/ },
    ],
    ['is a sequence', { table: 'a_sequence' }, { code: unsupported, message: /it is a sequence/ }],
    [
      'has no status column',
      { table: 'without_status' },
      { code: unsupported, message: /no column status/, hint: /status column/ },
    ],
    [
      'has numbers for statuses',
      { table: 'number_status' },
      {
        code: unsupported,
        message: /does not take 'queued', 'processing', 'completed', 'failed'/,
        hint: /words/,
      },
    ],
    [
      'has a CHECK that refuses a word',
      { table: 'checked' },
      { code: unsupported, message: /status column does not take 'completed', 'failed'$/, hint: /CHECK/ },
    ],
    [
      'has an enum without a word',
      { table: 'with_enum', statuses: { ...clipWords, succeeded: 'done' } },
      { code: unsupported, message: /status column does not take 'failed'$/, hint: /enum/ },
    ],
    [
      'is partitioned by its status',
      { table: 'by_status' },
      { code: unsupported, message: /partitioned by LIST \(status\)/, hint: /another column/ },
    ],
    [
      'has a lease end without a time of day',
      { table: 'local_time' },
      {
        code: unsupported,
        message: /lease_expires_at is date/,
        hint: /Map lease_expires_at/,
      },
    ],
    [
      'has a payload of another type',
      { table: 'other_payload' },
      { code: unsupported, message: /payload is bytea, and the engine writes jsonb/, hint: /Map payload/ },
    ],
    [
      'computes a column that the engine writes',
      { table: 'computed' },
      { code: unsupported, message: /column stage is generated/, hint: /Map stage/ },
    ],
    [
      'is mapped with a column in two roles',
      { table: 'plain', columns: { worker_id: 'who', owner: 'who' } },
      { code: unsupported, message: /column who plays two roles/, hint: /column of its own/ },
    ],
    [
      'is mapped to a column that plays its own role already',
      { table: 'plain', columns: { owner: 'stage' } },
      { code: unsupported, message: /column stage plays two roles/, hint: /column of its own/ },
    ],
  ])('OPS-7 C23 that %s', async (_, table, refusal) => {
    await expectRefusal(teamProfile(table), refusal)
  })

  it('OPS-7 C23 as the second of two leaves the first one alone', async () => {
    await expectRefusal(teamProfile({ table: 'plain', attachment: 'first' }, { table: 'a_view' }), {
      code: unsupported,
      message: /a_view/,
    })
  })
})

describe('names', () => {
  const invalid = 'INVALID_ARGUMENT'
  it.each([
    '',
    'a"b',
    "a'b",
    'a;--',
    'a\0b',
    'a b',
    'App',
    '1st',
    'pg_jobs',
    'public',
    'information_schema',
    long,
    'größe',
  ])('OPS-7 C19 %j is no name for the schema', async (schema) => {
    await expectRefusal(
      nativeProfile(schema),
      { code: invalid, message: /^schema: got .*, takes / },
      { schema },
    )
  })

  it.each(['', 'a"b', 'a;--', 'a\0b', 'a-b', 'Jobs', 'a'.repeat(48)])(
    'OPS-7 C19 %j is no name for an attachment',
    async (attachment) => {
      const profile = teamProfile({ table: 'plain', attachment })
      await expectRefusal(profile, { code: invalid, message: /^attachment: got .*, takes / })
    },
  )

  it.each(['', 'a\0b', long, 'é'.repeat(32)])(
    'OPS-7 C19 %j is no name of a table, its schema or a column',
    async (name) => {
      await expectRefusal(teamProfile({ table: name }), {
        code: invalid,
        message: /^table name: got .*, takes /,
      })
      await expectRefusal(teamProfile({ schema: name }), {
        code: invalid,
        message: /^table schema: got .*, takes /,
      })
      await expectRefusal(teamProfile({ table: 'plain', columns: { owner: name } }), {
        code: invalid,
        message: /^column owner: got .*, takes /,
      })
    },
  )

  it.each(['pla"in', "pla'in", 'plain;--', 'plain"; drop table plain; --', 'PLAIN'])(
    'OPS-7 C19 %j is taken as it is, and is not there',
    async (table) => {
      await expectRefusal(teamProfile({ table }), { code: 'TABLE_NOT_FOUND', message: /not found/ })
    },
  )
})

describe('rights', () => {
  const denied = 'PERMISSION_DENIED'
  // Roles belong to the whole server, which other runs may share.
  const guest = `unstuck_guest_${randomBytes(4).toString('hex')}`

  beforeEach(async () => {
    await database.pool.query(`create role ${guest} login password 'guest'`)
  })
  afterEach(async () => {
    await database.pool.query(`drop owned by ${guest}; drop role ${guest}`)
  })

  function guestUrl(): string {
    const url = new URL(database.url)
    url.username = guest
    url.password = 'guest'
    return url.href
  }

  it('OPS-7 a role that may not create a schema is reported', async () => {
    const refusal = { code: denied, message: /permission denied for database/ }
    await expectRefusal(nativeProfile('unstuck'), refusal, { databaseUrl: guestUrl() })
  })

  it('OPS-7 a role that may create a schema but does not own the table is reported', async () => {
    const { rows } = await database.pool.query<{ name: string }>('select current_database() as name')
    await database.pool.query(`grant create on database ${rows[0]?.name} to ${guest}`)
    const refusal = { code: denied, message: /must be owner of table plain/ }
    await expectRefusal(teamProfile({ table: 'plain' }), refusal, { databaseUrl: guestUrl() })
  })

  it('OPS-7 a read-only session is reported', async () => {
    const url = new URL(database.url)
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const refusal = { code: denied, message: /read-only/, hint: /primary/ }
    await expectRefusal(teamProfile({ table: 'plain' }), refusal, { databaseUrl: url.href })
  })

  it.each<[string, string, RegExp, (url: URL) => void]>([
    ['a wrong password', denied, /password/, (url) => (url.password = 'wrong')],
    ['a user that is not there', denied, /user/, (url) => (url.username = 'nobody')],
    [
      'a database that is not there',
      'INVALID_CONFIG',
      /Create the database/,
      (url) => (url.pathname = '/nowhere'),
    ],
  ])('OPS-8 %s is told so', async (_, code, hint, change) => {
    const url = new URL(guestUrl())
    change(url)
    await expectRefusal(nativeProfile('unstuck'), { code, message: /./, hint }, { databaseUrl: url.href })
  })

  it('OPS-7 a server that does not answer is reported', async () => {
    const url = new URL(database.url)
    url.port = '1'
    const refusal = { code: 'DATABASE_UNREACHABLE', message: /ECONNREFUSED/ }
    await expectRefusal(teamProfile({ table: 'plain' }), refusal, { databaseUrl: url.href })
  })
})
