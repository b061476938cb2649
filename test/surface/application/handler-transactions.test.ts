// `tx` of a handler on a real database: role settings that change transactions, and more transactions than connections.
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
  await database.pool.query('create table effects (job_id uuid)')
})
afterAll(() => database.drop())
beforeEach(async () => {
  apps = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events, effects')
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

interface Query {
  query(text: string, params?: unknown[]): Promise<unknown>
}

/** As of a role or a database with this default. */
function withIsolation(level: string): string {
  const url = new URL(database.url)
  url.searchParams.set('options', `-c default_transaction_isolation=${level.replaceAll(' ', '\\ ')}`)
  return url.href
}

it.each(['repeatable read', 'serializable'])(
  'WORK-5 transactions of handlers beside each other commit at their first attempt where %s is the default',
  async (level) => {
    const app = open({ databaseUrl: withIsolation(level), concurrency: 10 })
    const levels = new Set<unknown>()
    app.handle('charge', ({ jobId }, { tx }) =>
      tx(async (client) => {
        await (client as Query).query('insert into effects values ($1)', [jobId])
        const { rows } = (await (client as Query).query('show transaction_isolation')) as { rows: object[] }
        levels.add(Object.values(rows[0] ?? {})[0])
        return 'charged'
      }),
    )
    const jobs = await app.enqueueMany(Array.from({ length: 40 }, () => ({ type: 'charge' })))
    await app.start()
    await untilAll(jobs, app)
    const rows = await Promise.all(jobs.map(({ jobId }) => app.store.getJob(jobId)))
    for (const row of rows) expect(row).toMatchObject({ failures: 0, crashes: 0, attempt: 1 })
    expect([...levels]).toEqual([level])
    expect(await countEffects()).toEqual({ effects: 40, jobs: 40 })
  },
)

it('WORK-5 a transaction that gets no connection in time is released without an attempt, and runs later', async () => {
  const app = open({ concurrency: 8, txConnections: 1, txTimeoutMs: 4_000 })
  const ends: string[] = []
  app.on('job:ended', ({ end, code = '' }) => ends.push(`${end} ${code}`.trim()))
  const errors: unknown[] = []
  app.handle('charge', async ({ jobId }, { tx }) =>
    tx(async (client) => {
      await (client as Query).query('select pg_sleep(1)')
      await (client as Query).query('insert into effects values ($1)', [jobId])
      return 'charged'
    }).catch((error: unknown) => {
      errors.push(error)
      throw error
    }),
  )
  const jobs = await app.enqueueMany(Array.from({ length: 8 }, () => ({ type: 'charge' })))
  await app.start()
  await untilAll(jobs, app)
  expect(ends).toContain('released POOL_EXHAUSTED')
  expect(errors[0]).toMatchObject({ message: /within 4000 ms/, hint: /txConnections/ })
  const rows = await Promise.all(jobs.map(({ jobId }) => app.store.getJob(jobId)))
  for (const row of rows) expect(row).toMatchObject({ failures: 0, crashes: 0, attempt: 1 })
  expect(await countEffects()).toEqual({ effects: 8, jobs: 8 })
})

async function countEffects(): Promise<unknown> {
  const { rows } = await database.pool.query(
    'select count(*)::int as effects, count(distinct job_id)::int as jobs from effects',
  )
  return rows[0]
}

const untilAll = (jobs: { jobId: string }[], app: Unstuck) =>
  vi.waitFor(
    async () => {
      const rows = await Promise.all(jobs.map(({ jobId }) => app.store.getJob(jobId)))
      expect(rows.filter((row) => row?.status !== 'succeeded')).toEqual([])
    },
    { timeout: 50_000, interval: 100 },
  )
