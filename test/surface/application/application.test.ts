// `unstuck()` as an application uses it, in this process, on a real database.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type RuntimeEvents, type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const profile = nativeProfile('unstuck')
const childHandler = new URL('../fixtures/child-handler.mjs', import.meta.url)
let database: TestDatabase
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  apps = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.schedules, unstuck.dispatches')
  const store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  await store.writePolicy({ ...nativePolicy, failureBackoffStepsMs: [0], failureBackoffJitterMs: 0 })
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
})

/** Looks for work by itself once a minute only. */
function open(options: UnstuckOptions = {}): Unstuck {
  const app = unstuck({ databaseUrl: database.url, pollMs: [60_000, 60_000], ...options })
  apps.push(app)
  return app
}

const once = <Name extends keyof RuntimeEvents>(app: Unstuck, name: Name) =>
  new Promise<RuntimeEvents[Name]>((resolve) => {
    const off = app.on(name, (fields) => {
      off()
      resolve(fields)
    })
  })

it('WORK-1 C16 a hint wakes an idle worker long before its next poll', async () => {
  const app = open().handle('asr', async () => 'done')
  const listening = once(app, 'listen:started')
  await app.start()
  await listening
  const ended = once(app, 'job:ended')
  await app.enqueue({ type: 'asr' })
  expect(await ended).toMatchObject({ end: 'completed' })
})

it('C16 where hints are switched off nobody listens, and the poll finds the work', async () => {
  const app = open({ pollMs: [20, 40] }).handle('asr', async () => 'done')
  await app.store.writePolicy({ notify: 'off' })
  let hasListened = false
  app.on('listen:started', () => {
    hasListened = true
  })
  await app.start()
  const ended = once(app, 'job:ended')
  await app.enqueue({ type: 'asr' })
  expect(await ended).toMatchObject({ end: 'completed' })
  expect(hasListened).toBe(false)
})

it('WORK-10 a worker claims each job of a backlog once, short and slow ones alike, and has none reaped', async () => {
  const app = open().handle('asr', async ({ payload }) => {
    const { ms } = payload as { ms: number }
    await new Promise((resolve) => setTimeout(resolve, ms))
  })
  const jobs = Array.from({ length: 100 }, (_, job) => ({
    type: 'asr',
    payload: { ms: job % 5 < 2 ? 1_000 : 0 },
  }))
  await app.enqueueMany(jobs)
  let ended = 0
  const done = new Promise<void>((resolve) => {
    app.on('job:ended', () => ++ended === jobs.length && resolve())
  })
  await app.start()
  await done
  const { rows } = await database.pool.query(
    `select sum(fence)::int as claims, coalesce(sum(releases), 0)::int as releases,
            coalesce(sum(crashes), 0)::int as crashes from unstuck.jobs`,
  )
  expect(rows).toEqual([{ claims: jobs.length, releases: 0, crashes: 0 }])
})

it('WORK-4 an idle worker leaves at once, whatever its grace', async () => {
  const app = open({ graceMs: 3_600_000 }).handle('asr', async () => 'done')
  await app.start()
  await app.stop()
  expect(await app.ended).toBe(0)
  expect(app.health()).toEqual({ isHealthy: false, problems: ['the worker is leaving'] })
})

it('WORK-7 a recurring job is enqueued when it is due, once for all workers', async () => {
  const seen: string[] = []
  const started = [open(), open()].map(async (app) => {
    app.recurring('every-second', '* * * * * *', { type: 'tick' }, { overlap: 'allow' })
    app.handle('tick', async () => 'done')
    app.on('schedule:enqueued', ({ dueAt }) => void seen.push(dueAt.toISOString()))
    await app.start()
  })
  await Promise.all(started)
  await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(3), { timeout: 30_000 })
  expect(new Set(seen).size).toBe(seen.length)
})

it('LEASE-8 a handler file runs in a process of its own, and its result is that of the job', async () => {
  const app = open().handle('asr', { file: childHandler })
  await app.start()
  const ended = once(app, 'job:ended')
  const { jobId } = await app.enqueue({ type: 'asr', payload: { mode: 'echo' } })
  expect(await ended).toMatchObject({ end: 'completed' })
  const result = (await app.store.getJob(jobId))?.result as { pid: number }
  expect(result.pid).not.toBe(process.pid)
})

it('REAP-12 what waits again is published to the outside queue after the commit', async () => {
  const published: string[] = []
  const app = open({
    dispatch: {
      async publish(jobs) {
        published.push(...jobs.map(({ jobId }) => jobId))
      },
    },
  })
  await app.store.writePolicy({ dispatch: 'requeued', failureBackoffStepsMs: [3_600_000] })
  app.handle('asr', () => Promise.reject(new Error('not yet')))
  await app.start()
  const told = once(app, 'dispatch:done')
  const { jobId } = await app.enqueue({ type: 'asr' })
  expect(await told).toMatchObject({ table: 'jobs', published: 1 })
  expect(published).toEqual([jobId])
})

it('RATE-5 OPS-8 what an application gets wrong is refused at once, in one sentence', async () => {
  expect(() => unstuck({ concurency: 3 } as UnstuckOptions)).toThrow(/did you mean concurrency/)
  expect(() => open({ concurrency: 0 })).toThrow(/concurrency/)
  const app = open()
  await expect(app.start()).rejects.toThrow(/handlers/)
  app.handle('asr', async () => {})
  expect(() => app.handle('asr', async () => {})).toThrow(/a type that has no handler yet/)
  expect(() => app.handle('b', async () => {}, { limits: [{ key: '', ratePerS: 1, burst: 1 }] })).toThrow(
    /key/,
  )
  expect(() => app.handle('c', { file: './not-there.js' })).toThrow(/not-there/)
  expect(() => app.recurring('r', 'every day', { type: 'asr' })).toThrow(/cron/)
  await expect(app.enqueue({ type: 'asr', payload: 'a\u0000b' })).rejects.toThrow(/payload/)
  await expect(app.enqueue({ type: 'asr', payload: 'x'.repeat(2 ** 20) })).rejects.toThrow(/1048578 bytes/)
  await expect(app.enqueue({ typ: 'asr' } as never)).rejects.toThrow(/did you mean type/)
})

it('LEASE-4 a worker whose beats do not fit into its leases does not start, and one whose do barely says so', async () => {
  const app = open().handle('asr', async () => {})
  await app.store.writePolicy({ defaultLeaseMs: 25_000, heartbeatMs: 15_000 })
  await expect(app.start()).rejects.toThrow(/fewer than 2 heartbeats/)
  await app.store.writePolicy({ defaultLeaseMs: 40_000, heartbeatMs: 15_000 })
  const warned = once(app, 'config:warned')
  await app.start()
  expect((await warned).warning).toMatch(/fewer than 3 heartbeats/)
})
