// Real worker processes that end in every way, with leases far too long to notice it by (LEASE-10).
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import type { WorkerProcess } from '../worker-process.ts'

let database: TestDatabase
let harness: WorkerHarness

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
beforeEach(async () => {
  await harness.reset()
  await harness.pool.query('delete from unstuck.workers')
  // No lease ends within a test, no heartbeat is sent, and only a look starts a sweep.
  await harness.store.writePolicy({
    defaultLeaseMs: 3_600_000,
    heartbeatMs: 600_000,
    sweepIntervalMs: 600_000,
  })
})
afterEach(() => harness.endWorkers())
afterAll(async () => {
  await harness?.close()
  await database?.drop()
})

const presenceOf = async (worker: WorkerProcess) =>
  (
    await harness.pool.query<{ worker_id: string; presence: string; presence_key: number | null }>(
      'select worker_id, presence, presence_key from unstuck.workers where pid = $1',
      [worker.child.pid],
    )
  ).rows[0]

/** Waits until it runs, reports and holds its lock. */
async function present(options: Record<string, unknown> = {}): Promise<WorkerProcess> {
  const worker = harness.work(options)
  await worker.until(({ kind }) => kind === 'ready')
  await expect.poll(() => presenceOf(worker), { timeout: 30_000 }).toMatchObject({ presence: 'direct' })
  return worker
}

async function runs(worker: WorkerProcess, type = 'slow', payload = { ms: 600_000 }): Promise<string> {
  const [jobId = ''] = await harness.enqueue(type, payload)
  await worker.until((told) => told.kind === 'started' && told.jobId === jobId)
  return jobId
}

const startedBy = (worker: WorkerProcess, jobId: string) =>
  worker.until((told) => told.kind === 'started' && told.jobId === jobId)

async function causes(): Promise<string[]> {
  const { rows } = await harness.pool.query<{ cause: string }>(
    "select data #>> '{details,cause}' as cause from unstuck.events where type like 'reaper:%'",
  )
  return rows.map(({ cause }) => cause)
}

it.each([
  ['is killed', 'slow', { ms: 600_000 }],
  ['kills itself in a handler', 'poison', { ms: 500 }],
])('LEASE-10 the job of a worker that %s runs again long before its lease ends', async (_, type, payload) => {
  const doomed = await present({ concurrency: 1 })
  const jobId = await runs(doomed, type, payload)
  const other = await present()
  if (type === 'slow') doomed.child.kill('SIGKILL')
  await startedBy(other, jobId)
  expect(await causes()).toEqual(['worker-gone'])
})

it('LEASE-10 REAP-3 a frozen worker keeps its lock, and so its jobs until their leases end', async () => {
  // The two that watch are the ones that end: a sweep finds another.
  await harness.store.writePolicy({ sweepIntervalMs: 2_000 })
  const frozen = await present({ concurrency: 1 })
  const jobId = await runs(frozen)
  const doomed = await present({ concurrency: 1 })
  const lost = await runs(doomed)
  const other = await present()
  frozen.child.kill('SIGSTOP')
  doomed.child.kill('SIGKILL')
  // By then the frozen one has been judged too.
  await startedBy(other, lost)
  expect(await harness.store.getJob(jobId)).toMatchObject({ status: 'running', crashes: 0 })
})

it('LEASE-10 a worker whose session is ended keeps its jobs and takes a new lock', async () => {
  const worker = await present()
  const jobId = await runs(worker)
  await present()
  const sessions = `from pg_stat_activity where application_name = 'unstuck presence' and datname = current_database()`
  const { rows } = await harness.pool.query<{ pid: number }>(
    `select pid, pg_terminate_backend(pid) ${sessions}`,
  )
  expect(rows).toHaveLength(2)
  const renewed = async () =>
    (await harness.pool.query(`select ${sessions} and pid <> all ($1)`, [rows.map(({ pid }) => pid)]))
      .rowCount
  await expect.poll(renewed, { timeout: 30_000 }).toBe(2)
  expect(await harness.store.getJob(jobId)).toMatchObject({ status: 'running', crashes: 0 })
})

it('LEASE-10 the end of a namesake touches nobody else’s jobs', async () => {
  const doomed = await present({ workerId: 'encoder', concurrency: 1 })
  const namesake = await present({ workerId: 'encoder', concurrency: 1 })
  const [first, second] = await harness.enqueue('slow', { ms: 600_000 }, 2)
  for (const worker of [doomed, namesake]) await worker.until(({ kind }) => kind === 'started')
  const lost = doomed.told.find(({ kind }) => kind === 'started')?.jobId ?? ''
  const kept = lost === first ? second : first
  const other = await present()
  doomed.child.kill('SIGKILL')
  await startedBy(other, lost)
  expect(await harness.store.getJob(kept ?? '')).toMatchObject({ status: 'running', crashes: 0 })
})

it('LEASE-10 WORK-4 a worker that leaves in order is not judged', async () => {
  const worker = await present({ handleSignals: true })
  worker.child.kill('SIGTERM')
  await worker.ended
  expect(await presenceOf(worker)).toMatchObject({ presence_key: null })
})

it('LEASE-10 with presence off in the policy, a worker holds no lock', async () => {
  await harness.store.writePolicy({ presence: 'off' })
  const worker = harness.work()
  await worker.until(({ kind }) => kind === 'ready')
  await expect.poll(() => presenceOf(worker), { timeout: 30_000 }).toMatchObject({ presence: 'off' })
})
