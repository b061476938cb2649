// Behind a pooler the session is the pooler's: it outlives the worker, and ends while the worker lives. Leases decide (LEASE-10).
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../../surface/worker-harness.ts'
import { startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { type PgBouncer, type PgBouncerOptions, startPgBouncer } from './pgbouncer.ts'
import { throughPgBouncer } from './through-pgbouncer.ts'

let database: TestDatabase
let harness: WorkerHarness
let pgBouncer: PgBouncer | undefined
let pooled: WorkerProcess[] = []

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
beforeEach(async () => {
  await harness.reset()
  await harness.pool.query('delete from unstuck.workers')
  // No lease ends within a test, and no heartbeat is sent.
  await harness.store.writePolicy({ defaultLeaseMs: 3_600_000, heartbeatMs: 600_000, sweepIntervalMs: 2_000 })
})
afterEach(async () => {
  for (const { child } of pooled) child.kill('SIGKILL')
  await Promise.all(pooled.map(({ ended }) => ended))
  pooled = []
  await harness.endWorkers()
  await pgBouncer?.stop()
  pgBouncer = undefined
})
afterAll(async () => {
  await harness?.close()
  await database?.drop()
})

const presenceOf = async (worker: WorkerProcess) =>
  (
    await harness.pool.query<{ presence: string; presence_key: number | null }>(
      'select presence, presence_key from unstuck.workers where pid = $1',
      [worker.child.pid],
    )
  ).rows[0]

/** Waits until it runs, and its presence is known. */
async function work(url: string | undefined, presence: string): Promise<WorkerProcess> {
  const worker =
    url === undefined ? harness.work({ concurrency: 1 }) : startWorkerProcess(url, { concurrency: 1 })
  if (url !== undefined) pooled.push(worker)
  await worker.until(({ kind }) => kind === 'ready')
  await expect.poll(() => presenceOf(worker)).toMatchObject({ presence })
  return worker
}

async function runs(worker: WorkerProcess): Promise<string> {
  const [jobId = ''] = await harness.enqueue('slow', { ms: 600_000 })
  await worker.until((told) => told.kind === 'started' && told.jobId === jobId)
  return jobId
}

/** Another dies, and its job is taken back: by then everybody has been judged. */
async function judgeAll(): Promise<void> {
  const doomed = await work(undefined, 'direct')
  const lost = await runs(doomed)
  const other = await work(undefined, 'direct')
  doomed.child.kill('SIGKILL')
  await other.until((told) => told.kind === 'started' && told.jobId === lost)
}

async function openPooler(options: PgBouncerOptions, isOnSocket = false): Promise<string> {
  pgBouncer = await startPgBouncer(database.url, options)
  const url = new URL(throughPgBouncer(database.url, pgBouncer.port))
  if (isOnSocket) url.searchParams.set('host', pgBouncer.folder)
  return url.href
}

it.each(['transaction', 'session'] as const)(
  'LEASE-10 a worker behind PgBouncer in %s mode is pooled, and keeps its jobs after its death until the lease ends',
  async (mode) => {
    const worker = await work(await openPooler({ mode, poolSize: 20 }), 'pooled')
    expect(await presenceOf(worker)).toMatchObject({ presence_key: null })
    const jobId = await runs(worker)
    worker.child.kill('SIGKILL')
    await worker.ended
    await judgeAll()
    expect(await harness.store.getJob(jobId)).toMatchObject({ status: 'running', crashes: 0 })
  },
)

it.each([
  ['TCP', false],
  ['a Unix socket', true],
])(
  'LEASE-10 a worker behind PgBouncer over %s keeps its jobs when the pooler closes its sessions',
  async (_, isOnSocket) => {
    const url = await openPooler({ idleS: 1 }, isOnSocket)
    const worker = await work(url, 'pooled')
    const jobId = await runs(worker)
    const sessions = async () =>
      (
        await harness.pool.query<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and application_name like 'unstuck%'`,
        )
      ).rows.map(({ pid }) => pid)
    const before = await sessions()
    await expect.poll(async () => (await sessions()).some((pid) => before.includes(pid))).toBe(false)
    await judgeAll()
    expect(await harness.store.getJob(jobId)).toMatchObject({ status: 'running', crashes: 0 })
  },
)

it('LEASE-10 with UNSTUCK_DIRECT_URL a worker behind PgBouncer is present, and its death is noticed', async () => {
  const url = await openPooler({ poolSize: 20 })
  const doomed = startWorkerProcess(url, { concurrency: 1 }, { env: { UNSTUCK_DIRECT_URL: database.url } })
  pooled.push(doomed)
  await doomed.until(({ kind }) => kind === 'ready')
  await expect.poll(() => presenceOf(doomed)).toMatchObject({ presence: 'direct' })
  const lost = await runs(doomed)
  const other = await work(undefined, 'direct')
  doomed.child.kill('SIGKILL')
  await other.until((told) => told.kind === 'started' && told.jobId === lost)
})
