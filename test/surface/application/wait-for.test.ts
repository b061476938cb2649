// waitFor and enqueueAndWait on a real database.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { permanentError, type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  apps = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.waits')
})
afterEach(async () => {
  const store = open().store
  await store.writePolicy(nativePolicy)
  await Promise.all(apps.map((app) => app.stop()))
})

function open(options: UnstuckOptions = {}): Unstuck {
  const app = unstuck({ databaseUrl: database.url, pollMs: [20, 40], ...options })
  apps.push(app)
  return app
}

async function startWorker(): Promise<Unstuck> {
  const worker = open()
  worker.handle('double', async ({ payload }) => ({ twice: Number(payload) * 2 }))
  worker.handle('refuse', async () => {
    throw permanentError('card declined', { code: 'CARD_DECLINED' })
  })
  await worker.start()
  return worker
}

/** The error that a wait ends with, taken up at once: it may come before it is looked at. */
const errorOf = (wait: Promise<unknown>) =>
  wait.then(
    () => undefined,
    (error: unknown) => error as Error,
  )

describe('enqueueAndWait', () => {
  it('WORK-9 resolves with the result, from a process that runs no worker', async () => {
    await startWorker()
    const app = open()
    expect(await app.enqueueAndWait({ type: 'double', payload: 21 })).toEqual({ twice: 42 })
    const countWaits = async () => (await database.pool.query('select from unstuck.waits')).rowCount
    await expect.poll(countWaits, { timeout: 30_000 }).toBe(0)
  })

  it('WORK-9 many at once get each their own result', async () => {
    await startWorker()
    const app = open()
    const numbers = Array.from({ length: 200 }, (_, n) => n)
    const results = await Promise.all(numbers.map((n) => app.enqueueAndWait({ type: 'double', payload: n })))
    expect(results).toEqual(numbers.map((n) => ({ twice: 2 * n })))
  })

  it('WORK-9 rejects with code and reason of a dead job', async () => {
    await startWorker()
    await expect(open().enqueueAndWait({ type: 'refuse' })).rejects.toMatchObject({
      code: 'JOB_DEAD',
      message: expect.stringMatching(/^job [\w-]+ is dead: CARD_DECLINED: card declined$/),
      details: { code: 'CARD_DECLINED', reason: 'card declined', category: 'PERMANENT' },
    })
  })

  it('WORK-9 refuses a type whose completed jobs are not kept, before it is enqueued', async () => {
    const app = open()
    await app.store.writePolicy({ ...nativePolicy, typeKeepCompleted: { fire: false } })
    await expect(app.enqueueAndWait({ type: 'fire' })).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: 'completed jobs of type fire are not kept: nobody can wait for one',
    })
    expect((await database.pool.query('select from unstuck.jobs')).rows).toHaveLength(0)
    const { jobId } = await app.enqueue({ type: 'fire' })
    await expect(app.waitFor(jobId)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })
})

describe('waitFor', () => {
  it('WORK-9 answers at once for a job that has ended, in any spelling of its id', async () => {
    const app = await startWorker()
    const { jobId } = await app.enqueue({ type: 'double', payload: 1 })
    expect(await app.waitFor(jobId)).toEqual({ twice: 2 })
    expect(await app.waitFor(jobId.toUpperCase())).toEqual({ twice: 2 })
  })

  it('WORK-9 tells cancelled, gone and late apart', async () => {
    const app = open()
    const { jobId } = await app.enqueue({ type: 'double' })
    await expect(app.waitFor(jobId, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' })
    const waiting = errorOf(app.waitFor(jobId))
    await app.store.cancelJobs([jobId], { reason: 'not needed' })
    expect(await waiting).toMatchObject({
      code: 'JOB_CANCELLED',
      details: { jobId, reason: 'not needed' },
    })
    await app.store.discardJobs([jobId])
    await expect(app.waitFor(jobId)).rejects.toMatchObject({
      code: 'JOB_NOT_FOUND',
      message: `job ${jobId}: no job has this id, or its row was deleted`,
    })
  })

  it.each([
    ['', {}, 'jobId: got "", takes the id of a job'],
    ['x', { timeoutMs: 0 }, 'timeoutMs: got 0, takes a whole number from 1 to 2147483647'],
    ['x', { timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs: got Infinity'],
    ['no uuid', {}, 'invalid input syntax for type uuid'],
  ])('WORK-9 OPS-8 refuses %o with %o', async (jobId, options, message) => {
    await expect(open().waitFor(jobId, options)).rejects.toThrow(message)
  })

  it('WORK-9 stop ends a wait', async () => {
    const app = open()
    const { jobId } = await app.enqueue({ type: 'double' })
    const waiting = errorOf(app.waitFor(jobId))
    await app.stop()
    expect(await waiting).toMatchObject({ message: expect.stringContaining('was ended by stop') })
  })

  it('WORK-9 stop ends a wait that has been registered, and its row', async () => {
    const app = open()
    const { jobId } = await app.enqueue({ type: 'double' })
    const waiting = errorOf(app.waitFor(jobId))
    const rows = async () => (await database.pool.query('select from unstuck.waits')).rows.length
    await expect.poll(rows).toBe(1)
    await app.stop()
    expect(await waiting).toMatchObject({ message: expect.stringContaining('was ended by stop') })
    expect(await rows()).toBe(0)
  })
})
