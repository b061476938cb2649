// Beyond the store: processes that send heartbeats, and a connection that listens.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { type Listening, startListening } from '../../support/listening.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { type ProcessOptions, startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { openPoolThrough, throughPgBouncer } from './through-pgbouncer.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase
let store: JobStore
let workers: WorkerProcess[] = []
let listeners: Listening[] = []

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
  await store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 1_500,
    heartbeatMs: 300,
    sweepIntervalMs: 300,
    reapBackoffStepsMs: [0],
    requeueRatePerS: 0,
  })
})
afterAll(() => database.drop())

afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all([...workers.map(({ ended }) => ended), ...listeners.map((listener) => listener.stop())])
  workers = []
  listeners = []
})

function work(options: Record<string, unknown> = {}, processOptions: ProcessOptions = {}): WorkerProcess {
  const worker = startWorkerProcess(throughPgBouncer(database.url), options, processOptions)
  workers.push(worker)
  return worker
}

function startListener(databaseUrl: string): Listening {
  const listening = startListening({ databaseUrl, schema: 'unstuck', table })
  listeners.push(listening)
  return listening
}

async function enqueue(type: string, ms: number): Promise<string> {
  const [job] = await store.enqueueJobs([{ type, payload: { ms } }])
  return job?.jobId ?? ''
}

const readJob = (jobId: string) => store.getJob(jobId)

it('WORK-2 REAP-1 behind PgBouncer the job of a killed worker is requeued and finished by another', async () => {
  const jobId = await enqueue('slow', 60_000)
  const first = work()
  await first.until(({ kind }) => kind === 'started')
  first.child.kill('SIGKILL')
  await database.pool.query(`update unstuck.jobs set payload = '{"ms": 10}'`)
  const second = work()
  await second.until(({ kind, end }) => kind === 'ended' && end === 'completed')
  expect(await readJob(jobId)).toMatchObject({ status: 'succeeded', fence: 2, crashes: 1 })
})

it('LEASE-9 behind PgBouncer heartbeats keep a job for three leases while its handler blocks the loop', async () => {
  const jobId = await enqueue('block', 4_500)
  const [holder] = [work(), work()]
  await Promise.race(
    workers.map((worker) => worker.until(({ kind, end }) => kind === 'ended' && end === 'completed')),
  )
  expect(holder.told.some(({ kind }) => kind === 'heartbeat-failed')).toBe(false)
  expect(await readJob(jobId)).toMatchObject({ status: 'succeeded', fence: 1, crashes: 0 })
})

it('WORK-1 listening through PgBouncer is found to be useless at the start, said once, and given up', async () => {
  const listening = startListener(throughPgBouncer(database.url))
  await listening.until('failed')
  expect(listening.told).toEqual([
    'failed no notification arrived within 2 s: a pooler in transaction mode? ' +
      'Set UNSTUCK_DIRECT_URL to a direct address; polling continues',
  ])
})

it('WORK-1 what is enqueued through PgBouncer reaches a listener at a direct address', async () => {
  const listening = startListener(database.url)
  await listening.until('started')
  const pool = openPoolThrough(database.url)
  await createPostgresStore({ client: pool, table }).enqueueJobs([{ type: 'nobody-handles-this' }])
  await listening.until('hint', 2)
  await pool.end()
})

it('WORK-1 a worker behind PgBouncer reports that no hints arrive, and finds jobs by polling', async () => {
  const worker = work({ pollMs: [50, 100] }, { app: 'hints-app' })
  const { name } = await worker.until(({ kind }) => kind === 'not-listening')
  expect(name).toContain('Set UNSTUCK_DIRECT_URL to a direct address')
  const jobId = await enqueue('quick', 0)
  await worker.until((told) => told.jobId === jobId)
})

it('WORK-1 a worker behind PgBouncer with UNSTUCK_DIRECT_URL starts new jobs without looking', async () => {
  const worker = work({}, { app: 'hints-app', env: { UNSTUCK_DIRECT_URL: database.url } })
  await worker.until(({ kind }) => kind === 'ready')
  await worker.until(({ kind }) => kind === 'listening')
  for (let round = 1; round <= 3; round++) {
    const jobId = await enqueue('quick', 0)
    await worker.until((told) => told.jobId === jobId)
  }
})

it('WORK-1 a pooler in session mode lets hints through', async () => {
  const pgBouncer = await startPgBouncer(database.url, { mode: 'session' })
  const listening = startListener(throughPgBouncer(database.url, pgBouncer.port))
  try {
    await listening.until('started')
    await enqueue('nobody-handles-this', 0)
    await listening.until('hint', 2)
  } finally {
    await listening.stop()
    await pgBouncer.stop()
  }
})
