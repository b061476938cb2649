// A job that kills its process, beside jobs that did nothing wrong. `npm run test:poison` repeats it twenty times.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { JsonValue } from '../../../src/job/job.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import type { Told, WorkerProcess } from '../worker-process.ts'

const ROUNDS = Number(process.env['UNSTUCK_POISON_ROUNDS'] ?? 1)
/** On a machine that does little else a round takes 15 s. */
const ROUND_MS = 120_000

let database: TestDatabase
let harness: WorkerHarness
/** Every process that ever ran. */
let processes: WorkerProcess[]
let isOver: boolean

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
beforeEach(async () => {
  processes = []
  isOver = false
  await harness.reset()
  // A lease that a busy machine keeps: one false reap would end a last chance.
  const lease = { defaultLeaseMs: 4_000, heartbeatMs: 500 }
  await harness.store.writePolicy({ ...lease, reapBackoffStepsMs: [2_000], requeueRatePerS: 50 })
})
afterEach(async () => {
  isOver = true
  await harness.endWorkers()
})
afterAll(async () => {
  await harness?.close()
  await database?.drop()
})

/** A process that is started again whenever it dies, as by systemd. */
function supervise(options: Record<string, unknown>): void {
  const worker = harness.work(options)
  processes.push(worker)
  void worker.ended.then(() => {
    if (!isOver) supervise(options)
  })
}

async function untilAllEnded(): Promise<void> {
  const look = () => harness.pool.query("select from unstuck.jobs where status in ('waiting', 'running')")
  await expect.poll(async () => (await look()).rowCount, { timeout: ROUND_MS, interval: 200 }).toBe(0)
}

/** Jobs that ran in the process while the given jobs did. */
function besideOf(told: Told[], isAsked: (started: Told) => boolean): Set<string> {
  const running = new Set<string>()
  const beside = new Set<string>()
  let asked: string | undefined
  for (const { kind, jobId = '', ...rest } of told) {
    if (kind === 'started') {
      running.add(jobId)
      if (isAsked({ kind, jobId, ...rest })) asked = jobId
      if (asked !== undefined) for (const id of running) beside.add(id)
    }
    if (kind === 'ended') {
      running.delete(jobId)
      if (jobId === asked) asked = undefined
    }
  }
  return beside
}

interface Cohort {
  size: number
  concurrency: number
  /** Duration of the healthy jobs. */
  ms: number
  /** After the first crash; all jobs run in one until then. */
  laterProcesses?: number
}

async function runCohort({ size, concurrency, ms, laterProcesses = 1 }: Cohort): Promise<void> {
  const { store, pool } = harness
  await pool.query('delete from unstuck.jobs')
  const place = Math.floor(Math.random() * size)
  const jobs = Array.from({ length: size }, (_, nth) =>
    nth === place
      ? { type: 'poison', payload: { ms: ms / 2 } as JsonValue }
      : { type: 'slow', payload: { ms } },
  )
  const ids = (await store.enqueueJobs(jobs)).map(({ jobId }) => jobId)
  supervise({ concurrency })
  const [first] = processes
  await first?.ended
  for (let nth = 2; nth <= laterProcesses; nth += 1) supervise({ concurrency })
  await untilAllEnded()

  const poison = ids[place] ?? ''
  expect(await store.getJob(poison)).toMatchObject({ status: 'dead', crashes: 3 })
  const { rows: others } = await pool.query<{ status: string; crashes: number | null }>(
    'select status, crashes from unstuck.jobs where id <> $1',
    [poison],
  )
  expect(others.filter(({ status }) => status !== 'succeeded')).toEqual([])
  // Otherwise this shows nothing: they ran beside it.
  expect(others.filter(({ crashes }) => (crashes ?? 0) > 0).length).toBeGreaterThan(size / 2)
  for (const { told } of processes) {
    const lastChances = told.filter(({ kind, crashes }) => kind === 'started' && crashes === 2)
    for (const { jobId } of lastChances)
      expect(besideOf(told, (started) => started.jobId === jobId && started.crashes === 2)).toEqual(
        new Set([jobId]),
      )
  }
}

it('REAP-15 of ten jobs of 8 s in one process the one that kills it is dead, and nine are done', {
  timeout: 2 * ROUND_MS,
}, async () => {
  await harness.store.writePolicy({ reapBackoffStepsMs: [8_000] })
  await runCohort({ size: 10, concurrency: 10, ms: 8_000, laterProcesses: 3 })
})

it.each([10, 100])(
  'REAP-15 of %i jobs of 200 ms in one process the one that kills it is dead, and all others are done',
  { timeout: ROUNDS * ROUND_MS },
  async (size) => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      isOver = false
      await runCohort({ size, concurrency: size, ms: 200 })
      isOver = true
      await harness.endWorkers()
      processes = []
    }
  },
)

it('REAP-15 a worker that is never idle finishes what it runs, runs a last chance alone, and goes on', async () => {
  const { store, pool } = harness
  const slow = (count: number, priority: number) =>
    store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'slow', payload: { ms: 200 }, priority })))
  await slow(10, 0)
  const [last] = await slow(1, 1)
  await slow(30, 1)
  // It has been due for longer than it may wait for an idle worker.
  await pool.query(
    "update unstuck.jobs set crashes = 2, created_at = created_at - interval '1 minute' where id = $1",
    [last?.jobId],
  )
  supervise({ concurrency: 4 })
  await untilAllEnded()
  const starts = processes.flatMap(({ told }) => told.filter(({ kind }) => kind === 'started'))
  const place = starts.findIndex(({ jobId }) => jobId === last?.jobId)
  expect(place).toBeGreaterThanOrEqual(10)
  expect(starts).toHaveLength(41)
  expect(place).toBeLessThan(40)
  for (const { told } of processes)
    expect(besideOf(told, ({ jobId }) => jobId === last?.jobId)).toEqual(new Set([last?.jobId]))
})
