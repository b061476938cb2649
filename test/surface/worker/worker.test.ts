// Real worker processes on a real database: killed, frozen, blocked, hung, deployed. Effects are counted outside it.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Job } from '../../../src/job/job.ts'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { runSweep } from '../../../src/runtime/services/run-sweep.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts'

const profile = nativeProfile('unstuck')
let database: TestDatabase
let store: JobStore
let workers: WorkerProcess[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table effects (job_id uuid primary key)')
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())

beforeEach(async () => {
  workers = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events, effects')
  await store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 1_500,
    heartbeatMs: 300,
    sweepIntervalMs: 300,
    reapBackoffStepsMs: [0],
    failureBackoffStepsMs: [0],
    failureBackoffJitterMs: 0,
    requeueRatePerS: 0,
  })
})

afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
})

function work(options: Record<string, unknown> = {}): WorkerProcess {
  const worker = startWorkerProcess(database.url, options)
  workers.push(worker)
  return worker
}

async function enqueue(type: string, payload = {}): Promise<string> {
  const [job] = await store.enqueueJobs([{ type, payload }])
  return job?.jobId ?? ''
}

/** Waits for the row itself, as an operator would look at it. */
async function untilJob(jobId: string, fits: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const job = await store.getJob(jobId)
    if (job !== null && fits(job)) return job
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const hasStatus = (status: Job['status']) => (job: Job) => job.status === status

it('WORK-1 a worker claims, processes and completes what its handlers handle, and leaves other types alone', async () => {
  const quick = await enqueue('quick')
  const unknown = await enqueue('nobody-handles-this')
  work()
  expect((await untilJob(quick, hasStatus('succeeded'))).result).toEqual({ done: true })
  expect(await store.getJob(unknown)).toMatchObject({ status: 'waiting', attempt: 0 })
})

it('WORK-2 REAP-1 the job of a killed worker is finished by another, once', async () => {
  const jobId = await enqueue('slow', { ms: 60_000 })
  const first = work()
  await first.until(({ kind }) => kind === 'started')
  first.child.kill('SIGKILL')
  await database.pool.query(`update unstuck.jobs set payload = '{"ms": 10}'`)
  const second = work()
  const job = await untilJob(jobId, hasStatus('succeeded'))
  expect(job).toMatchObject({ fence: 2, crashes: 1, failures: 0 })
  expect(second.told.filter(({ kind }) => kind === 'effect')).toHaveLength(1)
})

it('LEASE-5 a worker frozen past its lease cannot finish the job, and what it found out is kept', async () => {
  const jobId = await enqueue('stubborn', { ms: 3_000 })
  const frozen = work()
  await frozen.until(({ kind }) => kind === 'started')
  frozen.child.kill('SIGSTOP')
  // Nobody else runs this type here: the sweep of the test takes it back.
  for (;;) {
    const { requeuedIds } = await runSweep(store)
    if (requeuedIds.includes(jobId)) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await store.cancelJobs([jobId])
  frozen.child.kill('SIGCONT')
  await frozen.until(({ kind, end }) => kind === 'ended' && end === 'lost')
  expect(await store.getJob(jobId)).toMatchObject({ status: 'cancelled', result: null })
  const events = await store.listEvents(jobId)
  expect(events.find(({ type }) => type === 'late_result')?.data.details).toMatchObject({
    result: { late: true },
  })
})

it('LEASE-9 a handler that blocks the event loop for three leases keeps its job', async () => {
  const jobId = await enqueue('block', { ms: 4_500 })
  work({ concurrency: 1 })
  const sweeping = work({ concurrency: 1 })
  await sweeping.until(({ kind }) => kind === 'ready')
  expect(await untilJob(jobId, hasStatus('succeeded'))).toMatchObject({
    fence: 1,
    crashes: 0,
    result: { blocked: true },
  })
})

it('LEASE-8 a handler that hangs is stopped at its deadline, its slot comes back, and the job ends dead', async () => {
  await store.writePolicy({ stageDeadlinesMs: { hang: 700 }, maxTimeouts: 2 })
  const jobId = await enqueue('hang')
  const worker = work({ concurrency: 1, hangGraceMs: 200 })
  const job = await untilJob(jobId, hasStatus('dead'))
  expect(job).toMatchObject({ timeouts: 2, failures: 0, crashes: 0, error: { code: 'timeout' } })
  const quick = await enqueue('quick')
  await untilJob(quick, hasStatus('succeeded'))
  expect(worker.told.filter(({ kind }) => kind === 'hung').map(({ leaked }) => leaked)).toEqual([1, 2])
})

it('LEASE-8 past its leak budget a worker drains and leaves with an error', async () => {
  await store.writePolicy({ stageDeadlinesMs: { hang: 500 }, maxTimeouts: 5 })
  await enqueue('hang')
  const worker = work({ concurrency: 1, hangGraceMs: 100, leakBudget: 1 })
  expect(await worker.ended).toEqual({ code: 1, signal: null })
})

it('LEASE-8 stage() gives the job the lease and the deadline of its new stage', async () => {
  await store.writePolicy({
    stageLeasesMs: { burnin: 60_000 },
    stageDeadlinesMs: { burnin: 900 },
    maxTimeouts: 1,
  })
  const jobId = await enqueue('staged', { ms: 60_000 })
  work()
  expect(await untilJob(jobId, hasStatus('dead'))).toMatchObject({ stage: 'burnin', timeouts: 1 })
})

it('FAIL-5 a job that kills its worker every time ends dead after its budget, and others are unharmed', async () => {
  const poison = await enqueue('poison')
  for (let kills = 1; kills <= 3; kills++) {
    expect(await work({ concurrency: 1 }).ended).toEqual({ code: null, signal: 'SIGKILL' })
  }
  const quick = await enqueue('quick')
  work()
  await untilJob(quick, hasStatus('succeeded'))
  expect(await untilJob(poison, hasStatus('dead'))).toMatchObject({
    crashes: 3,
    failures: 0,
    error: { reason: 'lease_expired' },
  })
})

it('FAIL-3 a permanent error ends the job at once; a thrown string and an unserialisable result are failures', async () => {
  const [broken, stray, unserialisable] = [
    await enqueue('broken'),
    await enqueue('stray'),
    await enqueue('unserialisable'),
  ]
  work()
  expect((await untilJob(broken, hasStatus('dead'))).error).toMatchObject({
    code: 'NOT_PDF',
    category: 'PERMANENT',
  })
  expect((await untilJob(stray, hasStatus('dead'))).failures).toBe(3)
  expect((await untilJob(unserialisable, hasStatus('dead'))).error?.reason).toContain('result')
})

it('WORK-5 writes of the handler and the completion are one transaction', async () => {
  const jobId = await enqueue('exactly-once', { fails: true })
  work()
  expect(await untilJob(jobId, hasStatus('succeeded'))).toMatchObject({
    result: { written: true },
    failures: 1,
  })
  const { rows } = await database.pool.query('select job_id from effects')
  expect(rows).toEqual([{ job_id: jobId }])
})

it('WORK-6 a running job is cancelled through its signal', async () => {
  const jobId = await enqueue('slow', { ms: 60_000 })
  const worker = work()
  await worker.until(({ kind }) => kind === 'started')
  expect(await store.cancelJobs([jobId])).toEqual([{ jobId, outcome: 'cancel-requested' }])
  expect(await untilJob(jobId, hasStatus('cancelled'))).toMatchObject({ failures: 1 })
})

it('WORK-4 a deploy lets short jobs finish, gives long ones back, and costs nobody an attempt', async () => {
  const short = await Promise.all(Array.from({ length: 10 }, () => enqueue('slow', { ms: 600 })))
  const long = await Promise.all(Array.from({ length: 10 }, () => enqueue('slow', { ms: 60_000 })))
  const worker = work({ concurrency: 20, graceMs: 1_500 })
  for (const jobId of [...short, ...long])
    await worker.until((told) => told.kind === 'started' && told.jobId === jobId)
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  for (const jobId of short) expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded' })
  for (const jobId of long) {
    expect(await store.getJob(jobId)).toMatchObject({
      status: 'waiting',
      attempt: 0,
      failures: 0,
      crashes: 0,
      interruptions: 1,
    })
  }
})

it('WORK-4 a second signal gives everything back at once', async () => {
  // Longer than the test: what comes back was given back, and no slow moment lets a sweep take it first.
  await store.writePolicy({ defaultLeaseMs: 600_000 })
  const jobId = await enqueue('stubborn', { ms: 60_000 })
  // One slot: a claim for a second one could bring the job back once more.
  const worker = work({ concurrency: 1, graceMs: 60_000, hangGraceMs: 60_000 })
  await worker.until(({ kind }) => kind === 'started')
  worker.child.kill('SIGTERM')
  worker.child.kill('SIGINT')
  // Its last writes have 3 s: where they do not get through, that shows here and not as a test that never ends.
  await worker.ended
  expect(await store.getJob(jobId)).toMatchObject({ status: 'waiting', interruptions: 1 })
})
