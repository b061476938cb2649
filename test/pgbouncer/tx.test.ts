// Transactions of handlers, where all connections of a worker share the pool of a pooler.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { nativePolicy } from '../../src/policy/policy.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../surface/worker-process.ts'
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
