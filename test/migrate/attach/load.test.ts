// A large table is attached while its old workers go on: nobody waits for longer than the lock timeout allows, nothing fails,
// and no row is moved. `npm run test:attach-load` does the same with two million rows.
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCommand } from '../../cli/support/run-command.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const rowCount = Number(process.env['UNSTUCK_ATTACH_ROWS'] ?? 200_000)
const LOCK_TIMEOUT_MS = 2_000
/** A busy machine, and the statement's own time. */
const SLACK_MS = 1_500

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
  await database.pool.query(
    `insert into jobs (status, payload, started_at)
     select case when n % 20 = 0 then 'queued' when n % 20 = 1 then 'processing' else 'completed' end,
            jsonb_build_object('n', n, 'text', repeat('x', 200)), now()
       from generate_series(1, $1::int) n`,
    [rowCount],
  )
  await database.pool.query('analyze jobs')
}, 600_000)
afterAll(() => database.drop())

interface WorkerReport {
  finished: number
  longestMs: number
}

/** An application that knows nothing of leases: it takes a job and ends it, one statement after the other. */
async function workAsBefore(client: pg.Client, signal: AbortSignal): Promise<WorkerReport> {
  const report: WorkerReport = { finished: 0, longestMs: 0 }
  const timed = async (sql: string, values: unknown[]) => {
    const start = performance.now()
    const { rows } = await client.query<{ id: string }>(sql, values)
    report.longestMs = Math.max(report.longestMs, performance.now() - start)
    return rows[0]?.id
  }
  while (!signal.aborted) {
    const id = await timed(`insert into jobs (payload) values ('{"is_new": true}') returning id`, [])
    const take = `update jobs set status = 'processing', started_at = now(), attempt_count = attempt_count + 1 where id = $1`
    await timed(take, [id])
    await timed('update jobs set last_heartbeat_at = now() where id = $1', [id])
    await timed(`update jobs set status = 'completed', updated_at = now() where id = $1`, [id])
    report.finished++
  }
  return report
}

/**
 * Reports that somebody runs: whoever wants the table for himself has to wait for them, and all others behind him. The first
 * one outlasts two tries of the columns to get in.
 */
async function readForLong(
  client: pg.Client,
  columnsAreTried: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await client.query('begin; select count(*) from jobs')
  await columnsAreTried
  await client.query('select pg_sleep(5)')
  await client.query('commit')
  while (!signal.aborted) await client.query('begin; select count(*) from jobs; select pg_sleep(2.5); commit')
}

const places = async () => {
  const { rows } = await database.pool.query(
    `select pg_relation_filenode('jobs') as file,
            (select md5(string_agg(ctid::text, ',' order by id)) from jobs where payload ? 'n') as rows`,
  )
  return rows
}

it(`OPS-7 ${rowCount} rows are attached under load: no statement waits longer than the lock timeout, none fails, no row moves`, async () => {
  const before = await places()
  const [reader, ...workers] = await Promise.all([1, 2, 3].map(() => database.connect()))
  const stop = new AbortController()
  const work = workers.map((worker) => workAsBefore(worker, stop.signal))
  const command = startCommand(['attach', '--profile', 'clip', '--table', 'public.jobs'], {
    DATABASE_URL: database.url,
  })
  const columnsAreTried = new Promise<void>((resolve) => {
    command.onProgress((line) => line.includes('attach public.jobs') && resolve())
    void command.result.then(() => resolve())
  })
  const reading = reader && readForLong(reader, columnsAreTried, stop.signal)
  const { exitCode, stderr } = await command.result
  stop.abort()
  const reports = await Promise.all(work)
  await reading
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('functions of public.jobs')])
  expect(Math.max(...reports.map(({ longestMs }) => longestMs))).toBeLessThan(LOCK_TIMEOUT_MS + SLACK_MS)
  const finished = reports.reduce((sum, report) => sum + report.finished, 0)
  expect(finished).toBeGreaterThan(20)
  const { rows } = await database.pool.query(
    `select count(*)::int as count from jobs where payload ? 'is_new' and status = 'completed'`,
  )
  expect(rows).toEqual([{ count: finished }])
  expect(await places()).toEqual(before)
}, 600_000)
