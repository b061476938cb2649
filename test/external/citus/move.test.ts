// A schema moves to another node while workers run its jobs.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { createDistributedSchema, type DistributedSchema } from './distributed-schema.ts'

const schema = 'moved'
/** Enough for both workers, whatever the move takes. */
const BACKLOG = 200
let database: DistributedSchema
let store: JobStore
let workers: WorkerProcess[] = []

beforeAll(async () => {
  database = await createDistributedSchema(schema)
  store = createPostgresStore({ client: database.pool, table: nativeProfile(schema).tables[0], schema })
  await store.writePolicy({ ...nativePolicy, events: 'all', heartbeatMs: 2_000, sweepIntervalMs: 1_000 })
})
afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
  workers = []
})
afterAll(() => database.drop())

const work = () => {
  const worker = startWorkerProcess(database.url, { concurrency: 8 }, { env: { UNSTUCK_SCHEMA: schema } })
  workers.push(worker)
  return worker
}

const completions = () =>
  workers.flatMap(({ told }) => told.filter(({ kind, end }) => kind === 'ended' && end === 'completed'))

/** Each has run once, under its first lease, and no sweep has touched it. */
async function expectEachOnce(jobIds: string[]): Promise<void> {
  const { rows } = await database.pool.query(
    `select count(*) filter (where status = 'succeeded' and fence = 1 and crashes is null)::int as once,
            count(*)::int as jobs from ${schema}.jobs where id = any ($1)`,
    [jobIds],
  )
  expect(rows).toEqual([{ once: jobIds.length, jobs: jobIds.length }])
  const events = await database.pool.query(`select type from ${schema}.events where type like 'reaper:%'`)
  expect(events.rows).toEqual([])
  const effects = workers.flatMap(({ told }) => told.filter(({ kind }) => kind === 'effect'))
  expect(new Set(effects.map(({ jobId }) => jobId)).size).toBe(jobIds.length)
  expect(effects).toHaveLength(jobIds.length)
}

/** Returns their ids. */
async function enqueue(count: number): Promise<string[]> {
  const job = { type: 'slow', payload: { ms: 50 } }
  return (await store.enqueueJobs(Array.from({ length: count }, () => job))).map(({ jobId }) => jobId)
}

it('OPS-15 a schema moves to another node under load: no job is lost, run twice or reaped', async () => {
  const from = await database.node()
  const jobIds = await enqueue(BACKLOG)
  work()
  work()
  await expect.poll(() => completions().length).toBeGreaterThan(0)
  const before = completions().length
  const move = { isOver: false }
  const moving = database.move().finally(() => {
    move.isOver = true
  })
  while (!move.isOver) {
    await expect.poll(() => move.isOver || completions().length > jobIds.length - BACKLOG).toBe(true)
    jobIds.push(...(await enqueue(BACKLOG)))
  }
  await moving
  expect(await database.node()).not.toBe(from)
  expect(completions().length).toBeGreaterThan(before)
  await expect.poll(() => completions().length, { timeout: 120_000 }).toBe(jobIds.length)
  await expectEachOnce(jobIds)
}, 300_000)
