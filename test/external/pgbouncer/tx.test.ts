// Transactions of handlers, where all connections of a worker share the pool of a pooler.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { runCommand } from '../../cli/support/run-command.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts'
import { throughPgBouncer } from './through-pgbouncer.ts'

const [table] = nativeProfile('unstuck').tables
let database: TestDatabase
let store: JobStore
let pgBouncer: PgBouncer | undefined
let workers: WorkerProcess[] = []

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table recorded (job_id uuid, fence int)')
  store = createPostgresStore({ client: database.pool, table })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events, recorded')
  await store.writePolicy({ ...nativePolicy, defaultLeaseMs: 6_000, heartbeatMs: 1_000 })
})
afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
  workers = []
  await pgBouncer?.stop()
  pgBouncer = undefined
})

async function startPooler(poolSize: number): Promise<string> {
  pgBouncer = await startPgBouncer(database.url, { poolSize })
  return throughPgBouncer(database.url, pgBouncer.port)
}

function work(url: string, options: Record<string, unknown> = {}): WorkerProcess {
  const worker = startWorkerProcess(url, options)
  workers.push(worker)
  return worker
}

async function counts(): Promise<Record<string, unknown>> {
  const { rows } = await database.pool.query(
    `select count(*) filter (where status = 'succeeded')::int as succeeded,
            coalesce(sum(failures), 0)::int as failures, coalesce(sum(crashes), 0)::int as crashes,
            (select count(*)::int from recorded) as effects
       from unstuck.jobs`,
  )
  return rows[0]
}

it.each([20, 3])(
  'WORK-5 three workers behind PgBouncer with a pool of %i finish 600 transactions, each once',
  async (poolSize) => {
    await store.enqueueJobs(Array.from({ length: 600 }, () => ({ type: 'recorded', payload: { ms: 0 } })))
    const url = await startPooler(poolSize)
    for (let nth = 0; nth < 3; nth++) work(url, { concurrency: 10 })
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ succeeded: 600 }), {
      timeout: 90_000,
      interval: 250,
    })
    expect(await counts()).toEqual({ succeeded: 600, failures: 0, crashes: 0, effects: 600 })
  },
  120_000,
)

it('LEASE-4 heartbeats over the direct address go on while every connection of the pooler is in use', async () => {
  const url = await startPooler(2)
  const [job] = await store.enqueueJobs([{ type: 'slow', payload: { ms: 600_000 } }])
  const worker = work(url, { directUrl: database.url })
  await worker.until(({ kind }) => kind === 'started')
  const occupied = await occupy(url, 2)
  const { leaseExpiresAt } = (await store.getJob(job?.jobId ?? '')) ?? {}
  const look = async () => {
    const { rows } = await database.pool.query(
      'select now() > $1 as is_later, lease_expires_at > $1 as is_extended from unstuck.jobs',
      [leaseExpiresAt],
    )
    expect(rows).toEqual([{ is_later: true, is_extended: true }])
  }
  await vi.waitFor(look, { timeout: 30_000, interval: 200 })
  expect(worker.told.some(({ kind }) => kind === 'heartbeat-failed')).toBe(false)
  for (const client of occupied) await client.end()
})

it('WORK-5 a transaction that the pooler keeps waiting is released without an attempt, and runs later', async () => {
  const url = await startPooler(1)
  await store.enqueueJobs(
    Array.from({ length: 8 }, () => ({ type: 'hold-connection', payload: { ms: 1_000 } })),
  )
  const worker = work(url, { directUrl: database.url, concurrency: 8, txTimeoutMs: 4_000 })
  await worker.until(({ end, code }) => end === 'released' && code === 'POOL_EXHAUSTED')
  await vi.waitFor(async () => expect(await counts()).toMatchObject({ succeeded: 8 }), {
    timeout: 50_000,
    interval: 250,
  })
  const { rows } = await database.pool.query('select distinct attempt, failures, crashes from unstuck.jobs')
  expect(rows).toEqual([{ attempt: 1, failures: null, crashes: null }])
}, 90_000)

it('LEASE-4 a worker whose direct address leads to another database does not start', async () => {
  const other = await createInstalledDatabase()
  onTestFinished(() => other.drop())
  const app = unstuck({ databaseUrl: database.url, directUrl: other.url })
  app.handle('asr', async () => {})
  onTestFinished(() => app.stop())
  await expect(app.start()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: /UNSTUCK_DIRECT_URL: points to another database/,
  })
})

it('OPS-8 doctor asks for the direct address behind PgBouncer, and is content with it', async () => {
  const url = throughPgBouncer(database.url)
  const pooled = await runCommand(['doctor'], { DATABASE_URL: url })
  expect(pooled.stdout).toMatch(/⚠ pooler .*\n.*Set UNSTUCK_DIRECT_URL/)
  const direct = await runCommand(['doctor'], { DATABASE_URL: url, UNSTUCK_DIRECT_URL: database.url })
  expect(direct.stdout).toMatch(/✓ pooler +heartbeats and hints use a direct connection/)
  const nobody = 'postgres://nobody@127.0.0.1:1/nothing'
  const gone = await runCommand(['doctor'], { DATABASE_URL: url, UNSTUCK_DIRECT_URL: nobody })
  expect([gone.exitCode, gone.stdout]).toEqual([
    1,
    expect.stringMatching(/✗ unreadable .*the direct connection/),
  ])
})

/** Transactions that are open and idle, as many as the pool has connections. */
async function occupy(url: string, count: number): Promise<pg.Client[]> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }))
  for (const client of clients) {
    await client.connect()
    await client.query('begin')
  }
  return clients
}
