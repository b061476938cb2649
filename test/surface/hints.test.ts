// A worker whose next look is ten minutes away: what it starts, it was told of.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

const profile = nativeProfile('unstuck')
let database: TestDatabase
let store: JobStore
let workers: WorkerProcess[] = []

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())

afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
  workers = []
})

async function work(env: Record<string, string> = {}): Promise<WorkerProcess> {
  const worker = startWorkerProcess(database.url, {}, { app: 'hints-app', env })
  workers.push(worker)
  await worker.until(({ kind }) => kind === 'ready')
  return worker
}

async function enqueue(): Promise<string> {
  const [job] = await store.enqueueJobs([{ type: 'quick' }])
  return job?.jobId ?? ''
}

async function listeners(): Promise<number> {
  const { rowCount } = await database.pool.query(
    `select from pg_stat_activity where application_name = 'unstuck listen' and datname = current_database()`,
  )
  return rowCount ?? 0
}

it('WORK-1 an idle worker starts new jobs at once, and stops listening when it stops', async () => {
  const worker = await work()
  await worker.until(({ kind }) => kind === 'listening')
  for (let round = 1; round <= 3; round++) {
    const jobId = await enqueue()
    await worker.until((told) => told.jobId === jobId)
  }
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  await expect.poll(listeners).toBe(0)
})

it('WORK-1 a worker whose listening connection is cut starts what came meanwhile when it is back', async () => {
  const worker = await work()
  await worker.until(({ kind }) => kind === 'listening')
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'unstuck listen'`,
  )
  await worker.until(({ kind }) => kind === 'not-listening')
  const jobId = await enqueue()
  await worker.until((told) => told.jobId === jobId)
})

it('WORK-1 with UNSTUCK_NOTIFY=off a worker does not listen', async () => {
  const worker = await work({ UNSTUCK_NOTIFY: 'off' })
  const listening = await work()
  await listening.until(({ kind }) => kind === 'listening')
  expect(await listeners()).toBe(1)
  expect(worker.told.map(({ kind }) => kind)).toEqual(['ready'])
})
