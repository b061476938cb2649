// Faults that workers must outlive: the database goes away, the pool is exhausted, a deploy at every moment.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { startReaper } from '../../../src/runtime/services/reaper.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { hasStatus, openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import type { WorkerProcess } from '../worker-process.ts'

interface Reap {
  jobId: string
  fence: number
}

async function reaps(pool: pg.Pool): Promise<Reap[]> {
  const { rows } = await pool.query<Reap>(
    `select job_id as "jobId", (data #>> '{details,fence}')::int as fence
       from unstuck.events where type like 'reaper:%'`,
  )
  return rows
}

async function waitingForAdvisoryLock(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`,
  )
  return rows[0]?.count ?? 0
}

describe('a database that crashes under load', () => {
  let folder: string
  let server: PostgresServer
  let harness: WorkerHarness
  const start = (port?: number) =>
    startPostgres({ dataDir: join(folder, 'data'), port, binaries: process.env['UNSTUCK_TEST_BINARIES'] })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'unstuck-faults-'))
    chmodSync(folder, 0o711)
    server = await start()
    await migrateUp({ databaseUrl: server.url, schema: 'unstuck', profile: nativeProfile('unstuck') })
    harness = await openWorkerHarness(server.url)
    await harness.reset()
  })
  afterAll(async () => {
    await harness?.close()
    await server?.stop({ mode: 'immediate' })
    rmSync(folder, { recursive: true, force: true })
  })

  it('REAP-3 WORK-5 no living worker loses a job, nothing is lost, and every effect happens once', async () => {
    const { pool, store, work, enqueue, untilJob } = harness
    const workers = [work({ concurrency: 15 }), work({ concurrency: 15 })]
    await Promise.all(workers.map((worker) => worker.until(({ kind }) => kind === 'ready')))
    // They run when the database goes and are still at it when it is back.
    const long = await enqueue('slow', { ms: 8_000 }, 10)
    for (const jobId of long)
      await Promise.any(workers.map((worker) => worker.until((told) => told.jobId === jobId)))
    const short = await enqueue('recorded', { ms: 400 }, 200)
    await Promise.all(workers.map((worker) => worker.until(({ kind }) => kind === 'ended')))
    await server.stop({ mode: 'immediate' })
    await Promise.all(workers.map((worker) => worker.until(({ kind }) => kind === 'heartbeat-failed')))
    // Longer than a lease.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    server = await start(server.port)
    for (const jobId of [...long, ...short]) await untilJob(jobId, hasStatus('succeeded'))

    const told = workers.flatMap((worker) => worker.told)
    // A claim whose answer was lost with the server gave a lease to nobody: it alone may be taken back.
    const taken = (await reaps(pool)).filter(({ jobId, fence }) =>
      told.some((one) => one.kind === 'started' && one.jobId === jobId && one.fence === fence),
    )
    expect(taken).toEqual([])
    for (const jobId of long) {
      expect(await store.getJob(jobId)).toMatchObject({ fence: 1, crashes: 0, failures: 0 })
      expect(told.filter((one) => one.kind === 'effect' && one.jobId === jobId)).toHaveLength(1)
    }
    const { rows } = await pool.query<{ recorded: number; by_holder: number; jobs: number }>(
      `select count(*)::int as recorded, count(distinct recorded.job_id)::int as jobs,
              count(*) filter (where recorded.fence = job.fence)::int as by_holder
         from recorded join unstuck.jobs job on job.id = recorded.job_id`,
    )
    expect(rows).toEqual([{ recorded: short.length, jobs: short.length, by_holder: short.length }])
  }, 120_000)
})

describe('a worker on a healthy database', () => {
  let database: TestDatabase
  let harness: WorkerHarness

  beforeAll(async () => {
    database = await createInstalledDatabase()
    harness = await openWorkerHarness(database.url)
  })
  afterAll(async () => {
    await harness.close()
    await database.drop()
  })
  beforeEach(() => harness.reset())
  afterEach(() => harness.endWorkers())

  it('LEASE-4 handlers that hold every connection of the pool keep no heartbeat from the database', async () => {
    const { pool, store, work, enqueue, untilJob } = harness
    // No worker is starved for so long: a lease can only be lost through the pool.
    await store.writePolicy({ defaultLeaseMs: 60_000 })
    const lock = 1
    const blocker = await pool.connect()
    try {
      await blocker.query('select pg_advisory_lock($1)', [lock])
      const long = await enqueue('slow', { ms: 600_000 }, 2)
      // More than the pool has: the last ones wait for a connection.
      const holding = await enqueue('hold-connection', { lock }, 12)
      work({ concurrency: 14 })
      await expect.poll(() => waitingForAdvisoryLock(pool)).toBe(10)
      for (const jobId of [...long, ...long, ...long]) {
        const { leaseExpiresAt: before } = await untilJob(jobId, hasStatus('running'))
        await untilJob(jobId, ({ leaseExpiresAt }) => Number(leaseExpiresAt) > Number(before))
      }
      expect(await waitingForAdvisoryLock(pool)).toBe(10)
      await blocker.query('select pg_advisory_unlock($1)', [lock])
      for (const jobId of holding)
        expect(await untilJob(jobId, hasStatus('succeeded'))).toMatchObject({ crashes: 0, timeouts: 0 })
      for (const jobId of long)
        expect(await store.getJob(jobId)).toMatchObject({ status: 'running', fence: 1, crashes: 0 })
      expect(await reaps(pool)).toEqual([])
    } finally {
      // Closes the session, and with it the lock.
      blocker.release(true)
    }
  })

  it('REAP-16 no sweep holds the ten jobs of a worker that was killed', async () => {
    const { store, work, enqueue, untilJob } = harness
    const held: number[] = []
    const reaper = startReaper({
      tables: [{ name: 'jobs', store }],
      intervalMs: 300,
      onSweep: (_, report) => held.push(report.held),
    })
    try {
      const ids = await enqueue('slow', { ms: 60_000 }, 10)
      const killed = work({ concurrency: 10 })
      for (const jobId of ids) await killed.until((told) => told.kind === 'started' && told.jobId === jobId)
      killed.child.kill('SIGKILL')
      for (const jobId of ids) await untilJob(jobId, hasStatus('waiting'))
    } finally {
      await reaper.stop()
    }
    expect(held.filter((count) => count > 0)).toEqual([])
  })

  it('WORK-4 a deploy with 50 running jobs gives all of them back, and another worker finishes each once', async () => {
    const { pool, store, work, enqueue, untilJob } = harness
    const ids = await enqueue('slow', { ms: 60_000 }, 50)
    const first = work({ concurrency: 50, graceMs: 300 })
    for (const jobId of ids) await first.until((told) => told.kind === 'started' && told.jobId === jobId)
    first.child.kill('SIGTERM')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    for (const jobId of ids) {
      expect(await store.getJob(jobId)).toMatchObject({
        status: 'waiting',
        attempt: 0,
        failures: 0,
        crashes: 0,
        timeouts: 0,
        interruptions: 1,
      })
    }
    await pool.query(`update unstuck.jobs set payload = '{"ms": 10}'`)
    const second = work({ concurrency: 50 })
    for (const jobId of ids)
      expect(await untilJob(jobId, hasStatus('succeeded'))).toMatchObject({ attempt: 1, fence: 2 })
    expect(second.told.filter(({ kind }) => kind === 'effect')).toHaveLength(50)
    expect(first.told.filter(({ kind }) => kind === 'effect')).toEqual([])
  })

  describe('SIGTERM', () => {
    /** Runs `meanwhile` while `lock` is held and, where one is named, a statement of the worker waits for it. */
    async function whileLocked(
      { lock, waiting }: { lock: string; waiting?: string },
      meanwhile: (client: pg.ClientBase) => Promise<void>,
    ): Promise<void> {
      const client = await database.connect()
      await client.query('begin')
      await client.query(lock)
      if (waiting !== undefined) await vi.waitUntil(() => isWaiting(waiting), { timeout: 30_000 })
      await meanwhile(client)
      await client.query('commit')
    }

    async function isWaiting(statement: string): Promise<boolean> {
      const { rows } = await harness.pool.query(
        `select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
        [`%${statement}%`],
      )
      return rows.length > 0
    }

    async function terminate(worker: WorkerProcess): Promise<void> {
      worker.child.kill('SIGTERM')
      await worker.until(({ kind }) => kind === 'draining')
    }

    const lockTable = 'lock table unstuck.jobs in access exclusive mode'

    it('WORK-4 before the first claim: the worker leaves without a job', async () => {
      const { store, work, enqueue } = harness
      const [jobId = ''] = await enqueue('quick')
      let worker: WorkerProcess | undefined
      await whileLocked({ lock: lockTable }, async () => {
        worker = work()
        await worker.until(({ kind }) => kind === 'ready')
        await terminate(worker)
      })
      expect(await worker?.ended).toEqual({ code: 0, signal: null })
      expect(await store.getJob(jobId)).toMatchObject({ status: 'waiting', attempt: 0, fence: 0 })
    })

    it('WORK-4 while claiming: jobs that the claim still brings are released, with no attempt spent', async () => {
      const { store, work } = harness
      const worker = work({ graceMs: 200 })
      // After its first sweep, which the lock would stop too.
      await worker.until(({ kind }) => kind === 'claiming')
      let jobId = ''
      await whileLocked({ lock: lockTable, waiting: 'claim_batches' }, async (client) => {
        const [job] = await store.enqueueJobs([{ type: 'slow', payload: { ms: 60_000 } }], { tx: client })
        jobId = job?.jobId ?? ''
        await terminate(worker)
      })
      expect(await worker.ended).toEqual({ code: 0, signal: null })
      expect(await store.getJob(jobId)).toMatchObject({ status: 'waiting', attempt: 0, crashes: 0 })
    })

    it('WORK-4 while running: the job finishes within the grace', async () => {
      const { store, work, enqueue } = harness
      const [jobId = ''] = await enqueue('slow', { ms: 700 })
      const worker = work()
      await worker.until(({ kind }) => kind === 'started')
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toEqual({ code: 0, signal: null })
      expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded', attempt: 1, interruptions: 0 })
    })

    it('WORK-4 while completing: the last write arrives before the worker leaves', async () => {
      const { store, work, enqueue } = harness
      const [jobId = ''] = await enqueue('slow', { ms: 700 })
      const worker = work()
      await worker.until(({ kind }) => kind === 'started')
      const lock = `select from unstuck.jobs where id = '${jobId}' for update`
      await whileLocked({ lock, waiting: 'complete_batch' }, () => terminate(worker))
      expect(await worker.ended).toEqual({ code: 0, signal: null })
      expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded', attempt: 1, interruptions: 0 })
    })
  })
})
