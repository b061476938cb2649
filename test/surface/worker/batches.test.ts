// Handlers of many jobs on a real database: the lease rules hold for each job of a batch.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  type BatchedJob,
  permanentError,
  type RuntimeEvents,
  type Unstuck,
  type UnstuckOptions,
  unstuck,
} from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import type { Told, WorkerProcess } from '../worker-process.ts'

let database: TestDatabase
let harness: WorkerHarness
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
beforeEach(async () => {
  apps = []
  await harness.reset()
  // Leases that a busy machine keeps, and no sweep that is faster than the worker.
  await harness.store.writePolicy({ defaultLeaseMs: 10_000, heartbeatMs: 200, sweepIntervalMs: 60_000 })
})
afterEach(async () => {
  await harness.endWorkers()
  await Promise.all(apps.map((app) => app.stop()))
})
afterAll(async () => {
  await harness?.close()
  await database?.drop()
})

function open(options: UnstuckOptions = {}): Unstuck {
  const app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], logger: false, ...options })
  apps.push(app)
  return app
}

/** Ends of jobs, by id. */
function endsOf(app: Unstuck): Map<string, RuntimeEvents['job:ended']> {
  const ends = new Map<string, RuntimeEvents['job:ended']>()
  app.on('job:ended', (fields) => void ends.set(fields.job.jobId, fields))
  return ends
}

it('WORK-12 a backlog runs in batches: each job runs once, and has its own result', async () => {
  const app = open({ concurrency: 20 })
  const sizes: number[] = []
  app.handleMany<{ n: number }>(
    'mail',
    async (jobs) => {
      sizes.push(jobs.length)
      for (const { payload, complete } of jobs) complete({ sent: payload.n })
    },
    { size: 10, waitMs: 100 },
  )
  const enqueued = await app.enqueueMany(
    Array.from({ length: 95 }, (_, n) => ({ type: 'mail', payload: { n } })),
  )
  const ends = endsOf(app)
  await app.start()
  await expect.poll(() => ends.size, { timeout: 30_000 }).toBe(95)
  expect(Math.max(...sizes)).toBe(10)
  expect(sizes.length).toBeLessThan(95 / 2)
  const jobs = await Promise.all(enqueued.map(({ jobId }) => app.store.getJob(jobId)))
  expect(jobs.map((job) => [job?.status, job?.attempt, job?.result])).toEqual(
    jobs.map((_, n) => ['succeeded', 1, { sent: n }]),
  )
})

it('WORK-5 a job of a batch completes in its own transaction, whatever becomes of the others', async () => {
  const app = open()
  app.handleMany(
    'mail',
    async ([first]) => {
      await first?.context.tx(async (client) => {
        await (client as { query(text: string, values: unknown[]): Promise<unknown> }).query(
          'insert into recorded (job_id, fence) values ($1, $2)',
          [first.jobId, first.fence],
        )
        return { recorded: true }
      })
      throw permanentError('after the first', { code: 'REFUSED' })
    },
    { size: 3 },
  )
  const ids = await harness.enqueue('mail', {}, 3)
  expect(await app.drain()).toEqual({ completed: 1, dead: 2 })
  expect(await Promise.all(ids.map((id) => harness.store.getJob(id)))).toMatchObject([
    { status: 'succeeded', result: { recorded: true } },
    { status: 'dead', error: { code: 'REFUSED' } },
    { status: 'dead', error: { code: 'REFUSED' } },
  ])
  const { rows } = await harness.pool.query('select job_id from recorded')
  expect(rows).toEqual([{ job_id: ids[0] }])
})

it('WORK-4 jobs that wait for others run when the worker stops, instead of being released', async () => {
  const app = open()
  app.handleMany('mail', () => {}, { size: 10, waitMs: 60_000 })
  const [jobId = ''] = await harness.enqueue('mail', {}, 3)
  await app.start()
  const isRunning = async () => (await harness.store.getJob(jobId))?.status === 'running'
  await expect.poll(isRunning, { timeout: 30_000 }).toBe(true)
  const ends = endsOf(app)
  await app.stop()
  expect([...ends.values()].map(({ end }) => end)).toEqual(['completed', 'completed', 'completed'])
})

it('WORK-4 jobs that a batch left undone at a stop are released, though its handler returned', async () => {
  const app = open({ graceMs: 0 })
  let isWorking = false
  app.handleMany(
    'mail',
    async ([first], { signal }) => {
      first?.complete('sent')
      isWorking = true
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
    { size: 3, waitMs: 60_000 },
  )
  const ids = await harness.enqueue('mail', {}, 3)
  await app.start()
  await expect.poll(() => isWorking, { timeout: 30_000 }).toBe(true)
  await app.stop()
  expect(await Promise.all(ids.map((id) => harness.store.getJob(id)))).toMatchObject([
    { status: 'succeeded', result: 'sent' },
    { status: 'waiting', attempt: 0 },
    { status: 'waiting', attempt: 0 },
  ])
})

describe('a job of a batch that goes on', () => {
  let batch: BatchedJob[]
  let finish: () => void
  let app: Unstuck
  let ends: Map<string, RuntimeEvents['job:ended']>
  let hung: number
  let ids: string[]

  beforeEach(async () => {
    batch = []
    hung = 0
    app = open({ hangGraceMs: 200, concurrency: 4 })
    ends = endsOf(app)
    app.on('job:hung', () => {
      hung += 1
    })
    app.handleMany(
      'mail',
      async (jobs) => {
        batch = jobs
        // It listens to no signal.
        await new Promise<void>((resolve) => {
          finish = resolve
        })
      },
      { size: 3, waitMs: 60_000 },
    )
    ids = await harness.enqueue('mail', {}, 3)
    await app.start()
    await expect.poll(() => batch.length, { timeout: 30_000 }).toBe(3)
  })

  /** The end of the second job, while the others still run. */
  async function endAlone(): Promise<RuntimeEvents['job:ended'] | undefined> {
    const [, jobId = ''] = ids
    await expect.poll(() => ends.has(jobId), { timeout: 30_000 }).toBe(true)
    expect([...ends.keys()]).toEqual([jobId])
    expect(batch.map(({ context }) => context.signal.aborted)).toEqual([false, true, false])
    return ends.get(jobId)
  }

  async function expectOthersComplete(): Promise<void> {
    finish()
    await expect.poll(() => ends.size, { timeout: 30_000 }).toBe(3)
    for (const jobId of [ids[0], ids[2]])
      expect(await harness.store.getJob(jobId ?? '')).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(hung).toBe(0)
  }

  it('WORK-6 is cancelled alone', async () => {
    await harness.store.cancelJobs([ids[1] ?? ''], { reason: 'unsubscribed' })
    await endAlone()
    expect(await harness.store.getJob(ids[1] ?? '')).toMatchObject({ status: 'cancelled' })
    await expectOthersComplete()
  })

  it('LEASE-5 loses its lease alone, and its outcome writes nothing', async () => {
    const taken = 'update unstuck.jobs set lease_id = gen_random_uuid() where id = $1 returning lease_id'
    const { rows } = await harness.pool.query<{ lease_id: string }>(taken, [ids[1]])
    expect(await endAlone()).toMatchObject({ end: 'lost' })
    batch[1]?.complete({ late: true })
    await expectOthersComplete()
    expect(await harness.store.getJob(ids[1] ?? '')).toMatchObject({
      status: 'running',
      leaseId: rows[0]?.lease_id,
      result: null,
    })
  })

  it('LEASE-8 passes its deadline alone', async () => {
    // Not claimed again before the test has looked.
    await harness.store.writePolicy({ failureBackoffStepsMs: [3_600_000] })
    await harness.pool.query('update unstuck.jobs set deadline_at = now() where id = $1', [ids[1]])
    expect(await endAlone()).toMatchObject({ end: 'retried', code: 'timeout' })
    expect(await harness.store.getJob(ids[1] ?? '')).toMatchObject({ status: 'waiting', timeouts: 1 })
    await expectOthersComplete()
  })

  it('LEASE-8 frees its slot, and a call that hangs with all of its jobs is left behind once', async () => {
    await harness.store.cancelJobs(ids, { reason: 'unsubscribed' })
    await expect.poll(() => ends.size, { timeout: 30_000 }).toBe(3)
    expect(hung).toBe(1)
    expect(app.health().problems).toContain('1 hung handlers still hold memory')
    finish()
    await expect.poll(() => app.health().isHealthy, { timeout: 30_000 }).toBe(true)
  })
})

describe('a batch whose process dies', () => {
  const isStarted = ({ kind }: Told) => kind === 'started'

  it('REAP-15 the crash counts for each of its jobs; only the one that killed it is dead', {
    timeout: 180_000,
  }, async () => {
    const { store, pool } = harness
    await store.writePolicy({
      defaultLeaseMs: 4_000,
      heartbeatMs: 500,
      sweepIntervalMs: 300,
      reapBackoffStepsMs: [1_000],
      requeueRatePerS: 50,
    })
    const [poison = ''] = await harness.enqueue('mail', { kills: true })
    const others = await harness.enqueue('mail', {}, 3)
    const first = harness.work({ concurrency: 4 })
    await first.ended
    expect(first.told.filter(isStarted).map(({ jobId }) => jobId)).toEqual([poison, ...others])
    const crashes = async () => {
      await store.sweepJobs()
      const { rows } = await pool.query<{ crashes: number }>('select crashes from unstuck.jobs order by id')
      return rows.map((row) => row.crashes)
    }
    await expect.poll(crashes, { timeout: 60_000, interval: 200 }).toEqual([1, 1, 1, 1])
    const workers: WorkerProcess[] = []
    let isOver = false
    onTestFinished(() => {
      isOver = true
    })
    const supervise = () => {
      const worker = harness.work({ concurrency: 4 })
      workers.push(worker)
      void worker.ended.then(() => isOver || supervise())
    }
    supervise()
    const unfinished = "select from unstuck.jobs where status in ('waiting', 'running')"
    await expect
      .poll(async () => (await pool.query(unfinished)).rowCount, { timeout: 120_000, interval: 200 })
      .toBe(0)
    isOver = true
    expect(await store.getJob(poison)).toMatchObject({ status: 'dead', crashes: 3 })
    for (const jobId of others) expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded' })
    const starts = workers.flatMap(({ told }) => told.filter(isStarted))
    expect(starts.filter(({ jobId }) => jobId === poison)).toHaveLength(2)
  })
})
