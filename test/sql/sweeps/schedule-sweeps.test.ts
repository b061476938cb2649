// The command given to pg_cron. test/external/cron runs it under a real one.
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createInstalledDatabase()
  client = await database.connect()
})
afterAll(() => database.drop())

it('OPS-3 without pg_cron in the database, sweeps cannot be scheduled', async () => {
  await expect(client.query('select unstuck.schedule_sweeps()')).rejects.toMatchObject({
    code: 'UN001',
    message: expect.stringContaining('create extension pg_cron'),
  })
  const { rows } = await client.query(`select unstuck.unschedule_sweeps('native') as was_there`)
  expect(rows).toEqual([{ was_there: false }])
})

it.each([
  'select unstuck.schedule_sweeps(0)',
  'select unstuck.schedule_sweeps(60)',
  'select unstuck.schedule_sweeps(null)',
  'call unstuck.run_sweeps(0)',
  'call unstuck.run_sweeps(60)',
  'call unstuck.run_sweeps(null)',
])('OPS-3 an interval that does not fit into a minute is refused: %s', async (text) => {
  await expect(client.query(text)).rejects.toMatchObject({
    code: 'UN001',
    message: expect.stringMatching(/^every_sec: got .*, takes seconds from 1 to 59$/),
  })
})

it('OPS-3 the last sweep of a minute leaves room for the next call', async () => {
  await client.query(`call unstuck.run_sweeps(59, 'by-hand')`)
  const { rows } = await client.query(`select reaper_id from unstuck.sweeps where attachment = 'native'`)
  expect(rows).toEqual([{ reaper_id: 'by-hand' }])
})

it.each([
  ['1.4-1', '* * * * *', `call unstuck.run_sweeps(20, 'pg_cron')`],
  ['1.5', '20 seconds', `call unstuck.run_sweep('pg_cron')`],
  ['1.6', '20 seconds', `call unstuck.run_sweep('pg_cron')`],
  ['2.0', '20 seconds', `call unstuck.run_sweep('pg_cron')`],
])('OPS-3 pg_cron %s is asked for %s', async (version, schedule, command) => {
  await client.query('begin')
  await client.query(
    `create schema cron;
     create table cron.asked (name text, schedule text, command text);
     create function cron.schedule(text, text, text) returns bigint language sql
       as 'insert into cron.asked values ($1, $2, $3) returning 1::bigint'`,
  )
  await client.query(
    `insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
     select 999999, 'pg_cron', nspowner, oid, false, $1 from pg_namespace where nspname = 'cron'`,
    [version],
  )
  const { rows: answered } = await client.query('select unstuck.schedule_sweeps(20) as schedule')
  const { rows: asked } = await client.query('select * from cron.asked')
  await client.query('rollback')
  expect(answered).toEqual([{ schedule }])
  expect(asked).toEqual([{ name: 'unstuck native', schedule, command }])
})
