// A worker whose next look is ten minutes away: what it starts, it was told of.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createAttachedDatabase, createInstalledDatabase } from '../../support/installed-database.ts'
import { elapse } from '../../support/postgres-harness.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts'

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

async function work(env: Record<string, string> = {}, { url } = database): Promise<WorkerProcess> {
  const worker = startWorkerProcess(url, {}, { app: 'hints-app', env })
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

describe.each([
  { profile: 'native', create: createInstalledDatabase, table: nativeProfile('unstuck').tables[0] },
  { profile: 'clip', create: createAttachedDatabase, table: clipProfile.tables[0] },
])('an idle worker of the profile $profile', ({ profile: name, create, table }) => {
  let ours: TestDatabase
  let jobs: JobStore
  beforeAll(async () => {
    ours = await create()
    jobs = createPostgresStore({ client: ours.pool, table })
    await ours.pool.query(`update unstuck.attachments set mode = 'reap'`)
    await jobs.writePolicy({ reapBackoffStepsMs: [1_000], failureBackoffStepsMs: [1_000] })
  })
  afterAll(() => ours.drop())
  // Jobs of the killed worker may come back.
  beforeEach(() => ours.pool.query(`delete from ${table.schema}.${table.table}`))

  it.each([
    {
      verb: 'a reap',
      requeue: async () => {
        await elapse(ours.pool, table, 'unstuck', 600_000)
        await jobs.sweepJobs()
      },
    },
    {
      verb: 'a failure',
      requeue: (lease: ClaimedJob) => jobs.failJobs([{ ...lease, code: 'GW_5XX', reason: 'no answer' }]),
    },
    {
      verb: 'a release with a delay',
      requeue: (lease: ClaimedJob) => jobs.releaseJobs([lease], { delayMs: 1_000 }),
    },
  ])('WORK-1 REAP-5 starts a job after $verb when its delay is over', async ({ requeue }) => {
    const [enqueued] = await jobs.enqueueJobs([{ type: 'quick' }])
    const [lease] = await jobs.claimJobs({ workerId: 'other', queues: ['quick'], limit: 1 })
    if (lease?.jobId !== enqueued?.jobId || lease === undefined) throw new Error('another job was claimed')
    const worker = await work({ UNSTUCK_PROFILE: name }, ours)
    await worker.until(({ kind }) => kind === 'listening')
    // Its first claims are over when it has run a job.
    const [first] = await jobs.enqueueJobs([{ type: 'quick' }])
    await worker.until((told) => told.jobId === first?.jobId)
    await requeue(lease)
    await worker.until((told) => told.jobId === lease.jobId)
  })
})
