// The table of one source document, attached as its team would attach it, and real workers on it.
import { vi } from 'vitest'
import type { Job } from '../../src/job/job.ts'
import type { Profile } from '../../src/profile/profile.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore, migrateUp, type SqlClient } from '../../src/store/postgres/index.ts'
import { elapse } from '../support/postgres-harness.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../surface/worker-process.ts'

export interface ProfileBench {
  database: TestDatabase
  store: JobStore<SqlClient>
  /** An empty table, and the policy of the profile as it is. */
  reset(): Promise<void>
  elapse(ms: number): Promise<void>
  rows(text: string, params?: unknown[]): Promise<Record<string, unknown>[]>
  /** The row as its team sees it. */
  readRow(id: string): Promise<Record<string, unknown>>
  enqueue(
    count: number,
    job?: { payload?: { [key: string]: number | string }; owner?: string },
  ): Promise<string[]>
  work(options?: Record<string, unknown>, env?: Record<string, string>): WorkerProcess
  untilJobs(ids: string[], status: Job['status']): Promise<void>
  endWorkers(): Promise<void>
  close(): Promise<void>
}

export async function openProfileBench(
  profile: Profile,
  applicationSql: string,
  worker: { app: string; env: Record<string, string> },
): Promise<ProfileBench> {
  const [table] = profile.tables
  const database = await createTestDatabase()
  await database.pool.query(applicationSql)
  // The tests tell handlers by payloads what to do, and read how often a job was released.
  await migrateUp({
    databaseUrl: database.url,
    schema: 'unstuck',
    profile,
    features: ['payload', 'releases'],
  })
  const store = createPostgresStore({ client: database.pool, table })
  let workers: WorkerProcess[] = []
  const rows: ProfileBench['rows'] = async (text, params) => (await database.pool.query(text, params)).rows
  const endWorkers = async () => {
    for (const { child } of workers) child.kill('SIGKILL')
    await Promise.all(workers.map(({ ended }) => ended))
    workers = []
  }
  return {
    database,
    store,
    rows,
    async reset() {
      await rows(`truncate ${table.table}, unstuck.events, unstuck.breakers, unstuck.rate_limits cascade`)
      await store.writePolicy(table.policy)
    },
    elapse: (ms) => elapse(database.pool, table, 'unstuck', ms),
    async readRow(id) {
      const [row] = await rows(`select * from ${table.table} where id = $1`, [id])
      return row ?? {}
    },
    async enqueue(count, job = {}) {
      const type = table.defaultType ?? ''
      const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type, ...job })))
      return jobs.map(({ jobId }) => jobId)
    },
    work(options = {}, env = {}) {
      const started = startWorkerProcess(database.url, options, {
        app: worker.app,
        env: { ...worker.env, UNSTUCK_PROFILE: profile.name, ...env },
      })
      workers.push(started)
      return started
    },
    untilJobs: (ids, status) =>
      vi.waitFor(
        async () => {
          const jobs = await Promise.all(ids.map((jobId) => store.getJob(jobId)))
          const left = jobs.filter((job) => job?.status !== status).length
          if (left > 0) throw new Error(`${left} of ${ids.length} jobs are not ${status}`)
        },
        { timeout: 30_000, interval: 50 },
      ),
    endWorkers,
    async close() {
      await endWorkers()
      await database.drop()
    },
  }
}
