// Workers whose completed jobs are not kept: their rows are deleted, and a lost answer cannot be resolved any more.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { TcpProxy } from '../../../chaos/src/faults/tcp-proxy.ts'
import { type RuntimeEvents, type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let proxy: TcpProxy
let proxied: string
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  const url = new URL(database.url)
  proxy = new TcpProxy(Number(url.port))
  url.port = String(await proxy.listen())
  proxied = url.href
})
afterAll(async () => {
  proxy.close()
  await database.drop()
})
beforeEach(async () => {
  apps = []
  await database.pool.query('delete from unstuck.jobs; delete from unstuck.events')
  const store = createPostgresStore({ client: database.pool, table: nativeProfile('unstuck').tables[0] })
  await store.writePolicy({ ...nativePolicy, keepCompleted: false, heartbeatMs: 200, defaultLeaseMs: 5_000 })
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
})

function open(options: UnstuckOptions = {}): { app: Unstuck; ended: Promise<RuntimeEvents['job:ended']> } {
  const app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], ...options })
  apps.push(app)
  const ended = new Promise<RuntimeEvents['job:ended']>((resolve) => {
    app.on('job:ended', resolve)
  })
  return { app, ended }
}

async function countJobs(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>('select count(*)::int from unstuck.jobs')
  return rows[0]?.count ?? -1
}

it('LEASE-12 a worker completes its jobs, counts them, and leaves no row', async () => {
  const { app } = open()
  const ends: string[] = []
  app.on('job:ended', ({ end }) => ends.push(end))
  await app.handle('thumbnail', async () => {}).start()
  await app.enqueueMany(Array.from({ length: 50 }, () => ({ type: 'thumbnail' })))
  await vi.waitFor(() => expect(ends).toHaveLength(50), { timeout: 30_000 })
  expect(new Set(ends)).toEqual(new Set(['completed']))
  expect(await countJobs()).toBe(0)
})

it('LEASE-12 a handler that returns a result fails, with the reason', async () => {
  const { app, ended } = open()
  await app.handle('thumbnail', async () => ({ width: 64 })).start()
  const { jobId } = await app.enqueue({ type: 'thumbnail', maxAttempts: 1 })
  expect(await ended).toMatchObject({ end: 'dead', code: 'INVALID_ARGUMENT' })
  const job = await app.store.getJob(jobId)
  expect(job).toMatchObject({ status: 'dead', attempt: 1 })
  expect(job?.error?.reason).toContain('keep_completed')
})

it('C3 LEASE-12 a completion whose answer was lost has an unknown outcome, and is not reported as completed', async () => {
  const { app, ended } = open({ databaseUrl: proxied })
  const aborted = vi.fn()
  app.on('job:aborted', aborted)
  await app
    .handle('thumbnail', async () => {
      proxy.loseAnswerTo('complete_batch', () => {})
    })
    .start()
  await app.enqueue({ type: 'thumbnail' })
  expect(await ended).toMatchObject({ end: 'unknown', reason: expect.stringContaining('lost') })
  expect(await countJobs()).toBe(0)
  expect(aborted).not.toHaveBeenCalled()
})

it('C3 LEASE-12 so has a transaction whose commit was not answered', async () => {
  const { app, ended } = open({ databaseUrl: proxied })
  await app
    .handle('thumbnail', async (_, { tx }) => {
      await tx(async () => {
        proxy.loseAnswerTo('commit', () => {})
        return undefined
      })
    })
    .start()
  await app.enqueue({ type: 'thumbnail' })
  expect(await ended).toMatchObject({ end: 'unknown' })
  expect(await countJobs()).toBe(0)
})

it('LEASE-12 a transaction that was rolled back is retried: its row is still there', async () => {
  const { app, ended } = open()
  await app
    .handle('thumbnail', async (_, { tx }) => {
      await tx(async () => Promise.reject(new Error('full')))
    })
    .start()
  await app.enqueue({ type: 'thumbnail' })
  expect(await ended).toMatchObject({ end: 'retried' })
  expect(await countJobs()).toBe(1)
})
