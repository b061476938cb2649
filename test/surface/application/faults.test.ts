// Faults around an application, in this process, on a real database: locked rows, calls at the wrong moment.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

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
  vi.waitFor(async () => expect((await app.store.getJob(jobId))?.status).toBe(status), { timeout: 30_000 })

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

/** A rule of the team, for as long as the test runs. */
async function withRule(rule: string, work: () => Promise<void>): Promise<void> {
  await database.pool.query(`alter table unstuck.jobs add constraint team_rule check (${rule})`)
  try {
    await work()
  } finally {
    await Promise.all(apps.map((app) => app.stop()))
    await database.pool.query('alter table unstuck.jobs drop constraint team_rule')
  }
}

const many = (count: number) => Array.from({ length: count }, (_, n) => n)

it('WORK-5 a result that the table refuses fails its own job with the reason, and no other of the batch', async () => {
  await withRule("(result ->> 'pages')::int > 0", async () => {
    const app = open({ concurrency: 20 })
    const ends: string[] = []
    app.on('job:ended', ({ end, code }) => ends.push(`${end} ${code ?? ''}`.trim()))
    let arrived = 0
    let release = () => {}
    const together = new Promise<void>((resolve) => {
      release = resolve
    })
    app.handle('scan', async ({ payload }) => {
      if (++arrived === 20) release()
      await together
      return { pages: Number(payload) }
    })
    const jobs = await app.enqueueMany(many(20).map((n) => ({ type: 'scan', payload: n, maxAttempts: 1 })))
    await app.start()
    for (const { jobId } of jobs.slice(1)) await untilStatus(app, jobId, 'succeeded')
    await untilStatus(app, jobs[0]?.jobId ?? '', 'dead')
    expect(ends.toSorted()).toEqual([...many(19).map(() => 'completed'), 'dead ROW_REFUSED'].toSorted())
    expect((await app.store.getJob(jobs[0]?.jobId ?? ''))?.error?.reason).toContain('team_rule')
  })
})

it('WORK-7 a job that the table refuses is refused to its own caller only', async () => {
  await withRule("payload ->> 'url' like 'https://%'", async () => {
    const app = open()
    const answers = await Promise.allSettled(
      many(10).map((n) =>
        app.enqueue({ type: 'fetch', payload: { url: `${n === 3 ? 'ftp' : 'https'}://example.com` } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      many(10).map((n) => (n === 3 ? 'rejected' : 'fulfilled')),
    )
    expect(answers[3]).toMatchObject({ reason: { code: 'ROW_REFUSED', message: /team_rule/ } })
  })
})

it('WORK-5 a failure that the table refuses is reported with the reason', async () => {
  await withRule('length(error_reason) < 100', async () => {
    const app = open()
    app.handle('long', () => Promise.reject(new Error('x'.repeat(200))))
    const lost = new Promise((resolve) => {
      app.on('job:ended', resolve)
    })
    await app.enqueue({ type: 'long' })
    await app.start()
    expect(await lost).toMatchObject({
      end: 'lost',
      code: 'ROW_REFUSED',
      reason: expect.stringContaining('team_rule'),
    })
  })
})
