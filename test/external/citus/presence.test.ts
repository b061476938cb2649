// Sessions, and so presence locks, are on the coordinator; the tables are on another node.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { createDistributedSchema, type DistributedSchema } from './distributed-schema.ts'

const schema = 'watched'
let database: DistributedSchema
let store: JobStore
const workers: WorkerProcess[] = []

beforeAll(async () => {
  database = await createDistributedSchema(schema)
  store = createPostgresStore({ client: database.pool, table: nativeProfile(schema).tables[0], schema })
  await store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 3_600_000,
    heartbeatMs: 1_000,
    sweepIntervalMs: 1_000,
    reapBackoffStepsMs: [0],
  })
})
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
  await database.drop()
})

function work(concurrency: number): WorkerProcess {
  const worker = startWorkerProcess(database.url, { concurrency }, { env: { UNSTUCK_SCHEMA: schema } })
  workers.push(worker)
  return worker
}

/** Starts a worker, and waits until it holds a job, which lasts as long as it lives. */
async function holdJob(concurrency: number): Promise<{ worker: WorkerProcess; jobId: string }> {
  const [job] = await store.enqueueJobs([{ type: 'slow', payload: { ms: 3_600_000 } }])
  const worker = work(concurrency)
  await worker.until(({ kind }) => kind === 'started')
  return { worker, jobId: job?.jobId ?? '' }
}

it('OPS-15 LEASE-10 a killed worker loses its job long before the lease ends, and a live one does not', async () => {
  const lost = await holdJob(1)
  const kept = await holdJob(2)
  lost.worker.child.kill('SIGKILL')
  await kept.worker.until(({ kind, jobId }) => kind === 'started' && jobId === lost.jobId)
  expect(await store.getJob(lost.jobId)).toMatchObject({ status: 'running', fence: 2, crashes: 1 })
  expect(await store.getJob(kept.jobId)).toMatchObject({ status: 'running', fence: 1, crashes: 0 })
  const { rows } = await database.pool.query(
    `select job_id, data #>> '{details,reason}' as reason from ${schema}.events where type like 'reaper:%'`,
  )
  expect(rows).toEqual([{ job_id: lost.jobId, reason: 'worker_gone' }])
}, 120_000)
