// What goes wrong around an application, in this process, on a real database: locked rows, calls at the wrong moment.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Unstuck, type UnstuckOptions, unstuck } from '../../dist/index.js'
import { nativePolicy } from '../../src/policy/policy.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const profile = nativeProfile('unstuck')
let database: TestDatabase
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  apps = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events')
  const store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  await store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 2_000,
    heartbeatMs: 200,
    failureBackoffStepsMs: [0],
    failureBackoffJitterMs: 0,
    sweepIntervalMs: 500,
  })
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
})

function open(options: UnstuckOptions = {}): Unstuck {
  const app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], ...options })
  apps.push(app)
  return app
}

const untilStatus = (app: Unstuck, jobId: string, status: string) =>
  vi.waitFor(async () => expect((await app.store.getJob(jobId))?.status).toBe(status), { timeout: 15_000 })

it('C4 a row that is locked for a moment costs a transaction of the handler nothing', async () => {
  const app = open()
  const locker = await database.pool.connect()
  try {
    app.handle('asr', async ({ jobId }, { tx }) => {
      await locker.query('begin')
      await locker.query('select from unstuck.jobs where id = $1 for update', [jobId])
      setTimeout(() => void locker.query('commit'), 300)
      return tx(async () => 'done')
    })
    await app.start()
    const { jobId } = await app.enqueue({ type: 'asr' })
    await untilStatus(app, jobId, 'succeeded')
    expect(await app.store.getJob(jobId)).toMatchObject({ failures: 0, crashes: 0, attempt: 1 })
  } finally {
    locker.release()
  }
})

it('WORK-5 handlers that wait for a connection of their transaction keep their leases', async () => {
  const app = open({ concurrency: 14, txTimeoutMs: 2_500 })
  app.handle('asr', (_, { tx }) =>
    tx(async (client) => {
      await (client as { query(text: string): Promise<unknown> }).query('select pg_sleep(1.5)')
      return 'done'
    }),
  )
  await app.start()
  const jobs = await app.enqueueMany(Array.from({ length: 14 }, () => ({ type: 'asr' })))
  for (const { jobId } of jobs) await untilStatus(app, jobId, 'succeeded')
  const rows = await Promise.all(jobs.map(({ jobId }) => app.store.getJob(jobId)))
  for (const row of rows) expect(row).toMatchObject({ crashes: 0, failures: 0, attempt: 1 })
})

it('LEASE-8 a stage gets the lease that this process was given, not the stored one', async () => {
  vi.stubEnv('DEFAULT_LEASE_SEC', '600')
  const app = open()
  vi.unstubAllEnvs()
  app.handle('asr', async ({ jobId }, { stage }) => {
    await stage('burnin')
    const job = await app.store.getJob(jobId)
    return Number(job?.leaseExpiresAt) - Number(job?.heartbeatAt)
  })
  await app.start()
  const { jobId } = await app.enqueue({ type: 'asr' })
  await untilStatus(app, jobId, 'succeeded')
  expect((await app.store.getJob(jobId))?.result).toBeGreaterThan(500_000)
})

it('WORK-4 a stop at any moment of the start ends everything, and a second start is refused', async () => {
  for (const afterMs of [0, 1, 5, 10, 20, 40, 80, 160]) {
    const app = open().handle('asr', async () => 'done')
    const starting = app.start()
    await expect(app.start()).rejects.toThrow(/one call for each instance/)
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    await app.stop()
    await starting
    expect(await app.ended).toBe(0)
  }
})

it('OPS-8 times and counts that no timer or claim can take are refused by name', () => {
  expect(() => open({ concurrency: 20_000 })).toThrow(/concurrency.*1000/)
  expect(() => open({ pollMs: [3e9, 3e9] })).toThrow(/pollMs/)
  const app = open()
  expect(() => app.handle('a', async () => {}, { progressLimitMs: 3e9 })).toThrow(/progressLimitMs/)
  expect(() => app.handle('a', async () => {}, { que: 'b' } as never)).toThrow(/did you mean queue/)
})
