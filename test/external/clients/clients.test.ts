// Transactions of the clients that people have: an enqueue and a completion in them commit and roll back with their writes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import type { SqlClient } from '../../../src/store/postgres/connection/executor.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { clients, isInstalled, type OpenClient } from './open-clients.mjs'

const [table] = nativeProfile('unstuck').tables
const payload = { text: `it's "quoted" \\ and {braced} ?`, list: [1, null, 'x'], snake_case: { a: [] } }

let database: TestDatabase
let app: Unstuck
let store: JobStore<SqlClient>

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table orders (id serial primary key, item text not null)')
  store = createPostgresStore({ client: database.pool, table })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events, orders')
  app = unstuck({ databaseUrl: database.url, pollMs: [20, 40] })
})
afterEach(() => app.stop())

const countOrders = async () => (await database.pool.query('select from orders')).rows.length
const countJobs = async () => (await database.pool.query('select from unstuck.jobs')).rows.length

async function claim() {
  const [job] = await store.claimJobs({ workerId: 'w', queues: ['mail'], limit: 1 })
  if (job === undefined) throw new Error('nothing was claimed')
  return job
}

const wanted =
  process.env['UNSTUCK_TEST_SMOKE'] === undefined ? Object.keys(clients) : ['pg', 'postgres.js', 'Kysely']

describe.each(wanted)('%s', (name: string) => {
  let client: OpenClient
  // Skipped where the package, or Prisma's generated client, could not be installed.
  const isMissing = !isInstalled(name)
  beforeAll(async () => {
    if (isMissing) return
    const open = clients[name]
    if (open === undefined) throw new Error(`no client ${name}`)
    client = await open(database.url)
  })
  afterAll(() => client?.close())

  it.skipIf(isMissing)(
    'WORK-11 a commit keeps the order and its jobs; others see them only then',
    async () => {
      const jobIds = await client.transaction(async (tx) => {
        await client.order(tx, 'tea')
        const runAt = new Date(Date.now() + 60_000)
        const { jobId } = await app.enqueue({ type: 'mail', payload, runAt }, { tx })
        const others = await app.enqueueMany([{ type: 'mail', dedupeKey: 'k', owner: 'o' }], { tx })
        expect(await countJobs()).toBe(0)
        expect(await app.store.getJob(jobId, { tx })).toMatchObject({ status: 'waiting', payload, runAt })
        return [jobId, ...others.map((job) => job.jobId)]
      })
      expect(await countOrders()).toBe(1)
      expect(await store.getJob(String(jobIds[0]))).toMatchObject({ status: 'waiting', payload })
      expect(await store.getJob(String(jobIds[1]))).toMatchObject({
        status: 'waiting',
        owner: 'o',
        dedupeKey: 'k',
      })
    },
  )

  it.skipIf(isMissing)('WORK-11 a rollback leaves neither', async () => {
    const change = client.transaction(async (tx) => {
      await client.order(tx, 'tea')
      await app.enqueue({ type: 'mail', payload }, { tx })
      throw new Error('second thoughts')
    })
    await expect(change).rejects.toThrow('second thoughts')
    expect([await countOrders(), await countJobs()]).toEqual([0, 0])
  })

  it.skipIf(isMissing)('WORK-11 completes a job with its result, or nothing', async () => {
    await app.enqueue({ type: 'mail', payload })
    const job = await claim()
    const undone = client.transaction(async (tx) => {
      await client.order(tx, 'undone')
      expect(await store.completeJobs([{ ...job, result: payload }], { tx })).toEqual([
        { jobId: job.jobId, outcome: 'completed' },
      ])
      throw new Error('second thoughts')
    })
    await expect(undone).rejects.toThrow('second thoughts')
    expect(await store.getJob(job.jobId)).toMatchObject({ status: 'running' })
    await client.transaction(async (tx) => {
      await client.order(tx, 'done')
      await store.completeJobs([{ ...job, result: payload }], { tx })
    })
    expect(await store.getJob(job.jobId)).toMatchObject({ status: 'succeeded', result: payload })
    expect(await countOrders()).toBe(1)
  })

  it.skipIf(isMissing)('WORK-11 a handler completes its job in a transaction of the client', async () => {
    const ended = new Promise((resolve) => app.on('job:ended', ({ end }) => resolve(end)))
    app.handle('mail', (job, { ownTx }) =>
      ownTx((complete) =>
        client.transaction(async (tx) => {
          await client.order(tx, job.jobId)
          return complete(tx, { sent: 1 })
        }),
      ),
    )
    const { jobId } = await app.enqueue({ type: 'mail' })
    await app.start()
    expect(await ended).toBe('completed')
    expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded', result: { sent: 1 } })
    expect(await countOrders()).toBe(1)
  })

  it.skipIf(isMissing)('WORK-11 an error of the engine has its code, and shows no payload', async () => {
    const change = client.transaction(async (tx) => {
      await store.enqueueJobs([{ type: '', payload: { secret: 'hunter2' } }], { tx })
    })
    const error = await change.then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    )
    expect(error).toMatchObject({ name: 'UnstuckError', code: 'INVALID_ARGUMENT' })
    expect(error?.message).not.toContain('hunter2')
  })

  it.skipIf(isMissing)('WORK-11 refuses the client itself, which is in no transaction', async () => {
    const enqueued = app.enqueue({ type: 'mail' }, { tx: client.outside })
    await expect(enqueued).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^tx: got "the client of .*", takes an open transaction: /),
    })
    expect(await countJobs()).toBe(0)
  })

  it.skipIf(isMissing)('WORK-11 the store runs over the client itself', async () => {
    const over = createPostgresStore({ client: client.outside, table })
    await over.enqueueJobs([{ type: 'mail', payload }])
    const [job] = await over.claimJobs({ workerId: 'w', queues: ['mail'], limit: 1 })
    if (job === undefined) throw new Error('nothing was claimed')
    expect(job).toMatchObject({ payload, fence: 1, leaseMs: 60_000, createdAt: expect.any(Date) })
    expect((await over.heartbeatJobs([job])).answers.map(({ answer }) => answer)).toEqual(['kept'])
    const failure = {
      ...job,
      code: 'IO',
      reason: 'no space',
      category: 'TRANSIENT' as const,
      retryInMs: 5_000,
    }
    expect(await over.failJobs([failure])).toEqual([
      { jobId: job.jobId, outcome: 'retried', retryInMs: 5_000 },
    ])
    expect(await over.readPolicy()).toEqual(table.policy)
    expect(await over.readHealth()).toMatchObject({ waiting: 1, running: 0 })
  })
})
