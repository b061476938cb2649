// An attach that is killed at any step is gone on with by the next one, and ends as if it had never been interrupted.
import { beforeAll, expect, it } from 'vitest'
import { runCommand, startCommand } from '../../cli/support/run-command.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, type Queryable } from '../describe.ts'

const args = [
  'attach',
  '--profile',
  'clip',
  '--table',
  'public.jobs',
  '--document-indexes',
  '--features',
  'all',
]

async function createClipDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  await database.pool.query(clipTables)
  await database.pool.query(`insert into jobs (status) select 'queued' from generate_series(1, 2000)`)
  return database
}

/** All that an install leaves, its own notes too. */
async function describeInstall(client: Queryable): Promise<unknown> {
  const { rows } = await client.query(
    `select name, added_columns, added_indexes, functions, functions_digest from unstuck.attachments order by name`,
  )
  return [rows, await describeSchema(client, 'unstuck'), await describeSchema(client, 'public')]
}

let uninterrupted: unknown
beforeAll(async () => {
  const database = await createClipDatabase()
  const { exitCode } = await runCommand(args, { DATABASE_URL: database.url })
  expect(exitCode).toBe(0)
  uninterrupted = await describeInstall(database.pool)
  await database.drop()
})

async function goesOn(database: TestDatabase): Promise<void> {
  const { exitCode, stderr } = await runCommand(args, { DATABASE_URL: database.url })
  expect([exitCode, stderr]).toEqual([0, stderr])
  expect(await describeInstall(database.pool)).toEqual(uninterrupted)
  const { rows } = await database.pool.query(
    `select count(*)::int as count from jobs where status = 'queued'`,
  )
  expect(rows).toEqual([{ count: 2000 }])
  await database.drop()
}

it.each([
  'migration 0001_engine',
  'attach unstuck.jobs',
  'attach public.jobs',
  'index unstuck_jobs_ready',
  'index unstuck_jobs_running',
  'index unstuck_jobs_dead',
  'index unstuck_jobs_keys',
  'index idx_jobs_status_lease',
  'functions of public.jobs',
])('OPS-7 an attach that is killed at "%s" is gone on with by the next', async (step) => {
  const database = await createClipDatabase()
  const command = startCommand(args, { DATABASE_URL: database.url })
  let wasReached = false
  command.onProgress((line) => {
    if (line.trim() !== step) return
    wasReached = true
    command.kill('SIGKILL')
  })
  expect((await command.result).exitCode).toBeNull()
  expect(wasReached).toBe(true)
  await goesOn(database)
})

it('OPS-7 an attach that is killed in the middle of a build leaves an invalid index, which the next one replaces', async () => {
  const database = await createClipDatabase()
  const reader = await database.connect()
  await reader.query('begin isolation level repeatable read; select from job_events')
  const command = startCommand(args, { DATABASE_URL: database.url })
  const builder = `select pid from pg_stat_activity
                    where datname = current_database() and query like 'create index%' and wait_event_type = 'Lock'`
  await expect.poll(async () => (await database.pool.query(builder)).rowCount, { timeout: 30_000 }).toBe(1)
  command.kill('SIGKILL')
  await command.result
  await database.pool.query(`select pg_terminate_backend(pid) from (${builder}) orphan`)
  const invalid = async () =>
    (await describeSchema(database.pool, 'public')).filter((line) => line.endsWith('(invalid)')).length
  await expect.poll(invalid).toBe(1)
  await reader.query('rollback')
  await goesOn(database)
}, 120_000)
