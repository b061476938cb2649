// Tables without a status: what their times say is observed and reaped, and claimed from only where a success can be said.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { completeTable, type OwnTable } from '../../../src/profile/own-profile.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import { migrateDown, migrateStatus, migrateUp, planAttach } from '../../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  if (await schemaExists(database.pool)) await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  await database.pool.query('drop schema public cascade; create schema public')
})
afterAll(() => database.drop())

const rows = async (text: string): Promise<Record<string, unknown>[]> =>
  (await database.pool.query(text)).rows

const profileOf = (fields: Partial<OwnTable>): Profile => ({
  name: 'sync',
  tables: [
    completeTable({
      table: 'sync_jobs',
      idType: 'bigint',
      stateColumns: { running: 'reserved_at' },
      teamAgeColumns: ['reserved_at'],
      policy: { legacyAgeRule: true, defaultLeaseMs: 600_000, maxCrashes: 1 },
      ...fields,
    }),
  ],
})
const options = (profile: Profile) => ({ databaseUrl: database.url, schema: 'unstuck', profile })

const sync = `create table sync_jobs (id bigserial primary key, reserved_at timestamptz, reserved_by text);
  insert into sync_jobs (reserved_at) values (now() - interval '2 hours'), (now()), (null);`

it('OPS-13 a job that is reserved for long is requeued by clearing its lock, and no other row is touched', async () => {
  await database.pool.query(sync)
  const before = await describeSchema(database.pool, 'public')
  const policy = { legacyAgeRule: true, defaultLeaseMs: 600_000 }
  const profile = profileOf({ policy, columns: { worker_id: 'reserved_by' } })
  await migrateUp({ ...options(profile), startsObserved: true })
  const snapshot = () => rows('select id, xmin::text, reserved_at from sync_jobs order by id')
  const untouched = await snapshot()
  await rows(`select unstuck.sweep_jobs__sync_jobs('{"reaper_id": "r"}', 100)`)
  expect(await snapshot()).toEqual(untouched)
  await rows(`select unstuck.set_mode__sync_jobs('reap')`)
  await rows(`select unstuck.sweep_jobs__sync_jobs('{"reaper_id": "r"}', 100)`)
  expect(await snapshot()).toEqual([
    { id: '1', xmin: expect.not.stringMatching(`^${String(untouched[0]?.['xmin'])}$`), reserved_at: null },
    ...untouched.slice(1),
  ])
  expect(await migrateStatus(options(profile))).toMatchObject({ isCurrent: true })
  await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
})

it('OPS-13 without a time for dead jobs one that spent its budget keeps its lock', async () => {
  await database.pool.query(sync)
  await migrateUp(options(profileOf({})))
  expect(await rows('select id, action from unstuck.reap_jobs__sync_jobs()')).toEqual([
    { id: '1', action: 'dead' },
  ])
  expect(await rows('select id from sync_jobs where reserved_at is not null order by id')).toEqual([
    { id: '1' },
    { id: '2' },
  ])
})

it('OPS-13 with a time for dead jobs it gets that time', async () => {
  await database.pool.query(sync.replace('reserved_by text', 'failed_at timestamp(0)'))
  await migrateUp(options(profileOf({ stateColumns: { running: 'reserved_at', dead: 'failed_at' } })))
  await rows('select from unstuck.reap_jobs__sync_jobs()')
  const isNow = `failed_at - (now() at time zone 'UTC') between '-1 min' and '1 min'`
  expect(await rows(`select reserved_at, ${isNow} as failed_now from sync_jobs where id = 1`)).toEqual([
    { reserved_at: null, failed_now: true },
  ])
})

it('OPS-13 without a time for success no job is claimed, and the plan prints the column that is missing', async () => {
  await database.pool.query(sync)
  const profile = profileOf({})
  const { notes } = await planAttach(options(profile))
  expect(notes[0]).toMatch(
    /^public\.sync_jobs: no status; running while reserved_at is set, dead is not shown/,
  )
  expect(notes.at(-1)).toMatch(
    /alter table "public"\."sync_jobs" add column status text not null default 'waiting';/,
  )
  await migrateUp(options(profile))
  await expect(rows(`select from unstuck.claim_jobs__sync_jobs('w', array['job'], 1)`)).rejects.toMatchObject(
    {
      code: 'UN006',
      message: expect.stringMatching(/unstuck claims none of its jobs/),
    },
  )
  expect(await rows('select id from sync_jobs where reserved_at is null')).toEqual([{ id: '3' }])
})

it('OPS-13 with both times jobs are claimed and completed as the team reads them', async () => {
  await database.pool.query(sync.replace('reserved_by text', 'failed_at timestamptz, done_at timestamptz'))
  const stateColumns = { running: 'reserved_at', succeeded: 'done_at', dead: 'failed_at' }
  await migrateUp(options(profileOf({ stateColumns })))
  await rows(`select from unstuck.claim_jobs__sync_jobs('w', array['job'], 1)`)
  expect(await rows('select reserved_at is not null as taken, done_at from sync_jobs where id = 3')).toEqual([
    { taken: true, done_at: null },
  ])
  await rows(
    'select unstuck.complete_jobs__sync_jobs(array[id], array[lease_id]) from sync_jobs where id = 3',
  )
  expect(await rows('select reserved_at, done_at is not null as done from sync_jobs where id = 3')).toEqual([
    { reserved_at: null, done: true },
  ])
})

it.each([
  ['is not there', 'gone', /has no column gone/],
  ['is no time', 'note', /note is no time that may be NULL/],
  ['is never NULL', 'added_at', /added_at is no time that may be NULL/],
])('OPS-13 a state column that %s is refused', async (_, running, message) => {
  await database.pool.query(
    'create table sync_jobs (id bigserial primary key, note text, added_at timestamptz not null default now())',
  )
  const profile = profileOf({ stateColumns: { running }, teamAgeColumns: [] })
  await expect(migrateUp(options(profile))).rejects.toMatchObject({
    code: 'TABLE_UNSUPPORTED',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(/stateColumns\.running/),
  })
})
