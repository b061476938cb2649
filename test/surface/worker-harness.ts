// An installed database, and real worker processes on it, for tests that look at both from outside.
import pg from 'pg'
import type { Job, JsonValue } from '../../src/job/job.ts'
import { nativePolicy } from '../../src/policy/policy.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

export interface WorkerHarness {
  pool: pg.Pool
  store: JobStore<pg.ClientBase>
  /** Short leases, beats and sweeps; whatever is taken back runs again at once. */
  reset: () => Promise<void>
  work: (options?: Record<string, unknown>) => WorkerProcess
  enqueue: (type: string, payload?: JsonValue, count?: number) => Promise<string[]>
  /** Waits for the row itself, as an operator would look at it. */
  untilJob: (jobId: string, fits: (job: Job) => boolean) => Promise<Job>
  endWorkers: () => Promise<void>
  close: () => Promise<void>
}

/** Over a database with the native install. */
export async function openWorkerHarness(databaseUrl: string): Promise<WorkerHarness> {
  const profile = nativeProfile('unstuck')
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8 })
  pool.on('error', () => {})
  await pool.query('create table recorded (job_id uuid, fence int)')
  const store = createPostgresStore({ client: pool, table: profile.tables[0] })
  let workers: WorkerProcess[] = []
  const endWorkers = async () => {
    for (const { child } of workers) child.kill('SIGKILL')
    await Promise.all(workers.map(({ ended }) => ended))
    workers = []
  }
  return {
    pool,
    store,
    async reset() {
      await pool.query('truncate unstuck.jobs, unstuck.events, recorded')
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
    },
    work(options = {}) {
      const worker = startWorkerProcess(databaseUrl, options)
      workers.push(worker)
      return worker
    },
    async enqueue(type, payload = {}, count = 1) {
      const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type, payload })))
      return jobs.map(({ jobId }) => jobId)
    },
    async untilJob(jobId, fits) {
      for (;;) {
        const job = await store.getJob(jobId)
        if (job !== null && fits(job)) return job
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    endWorkers,
    async close() {
      await endWorkers()
      await pool.end()
    },
  }
}

export const hasStatus = (status: Job['status']) => (job: Job) => job.status === status
