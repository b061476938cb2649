// The scripts of docs/guides/operate/database-roles.md are executed as they stand; only the names of the roles are made unique,
// for roles belong to the whole server. That is also why the page does not mark them as plain SQL, which runs elsewhere.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openTable } from '../../../src/compose/index.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { elapse } from '../../support/postgres-harness.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
const prefix = `unstuck_test_${randomBytes(6).toString('hex')}`
const worker = `${prefix}_worker`
const enqueuer = `${prefix}_enqueuer`
const page = readFileSync(new URL('../../../docs/guides/operate/database-roles.md', import.meta.url), 'utf8')
const scripts = [...page.matchAll(/^```postgresql\n([\s\S]*?)^```$/gm)]
  .map(([, code]) => code ?? '')
  // The policy of an attached table: test/external/teams has one.
  .filter((script) => !script.includes('public.executor_jobs'))

let database: TestDatabase
let asWorker: ReturnType<typeof openTable>

beforeAll(async () => {
  database = await createInstalledDatabase()
  for (const script of scripts)
    await database.pool.query(script.replaceAll(/unstuck_(worker|enqueuer)/g, `${prefix}_$1`))
  for (const role of [worker, enqueuer]) await database.pool.query(`alter role ${role} password 'of-a-test'`)
  asWorker = openTable({ databaseUrl: urlOf(worker), schema: 'unstuck', table })
})

function urlOf(role: string): string {
  const url = new URL(database.url)
  url.username = role
  url.password = 'of-a-test'
  return url.href
}

afterAll(async () => {
  await asWorker.close()
  for (const role of [worker, enqueuer]) await database.pool.query(`drop owned by ${role}; drop role ${role}`)
  await database.drop()
})

it('C20 a role with the documented grants alone enqueues, claims, beats, ends, sweeps and prunes', async () => {
  const { store } = asWorker
  const enqueued = await store.enqueueJobs([
    { type: 'asr', dedupeKey: 'once' },
    { type: 'asr' },
    { type: 'asr' },
    { type: 'asr' },
  ])
  expect(await store.enqueueJobs([{ type: 'asr', dedupeKey: 'once' }])).toMatchObject([
    { outcome: 'duplicate' },
  ])
  const [first, second, third, fourth] = await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 4 })
  if (!first || !second || !third || !fourth) throw new Error('not all jobs were claimed')
  expect((await store.heartbeatJobs([first])).answers).toMatchObject([{ answer: 'kept' }])
  expect(await store.enterStage(first, 'upload')).toMatchObject({ outcome: 'entered' })
  expect(await store.reportProgress([{ ...first, value: 0.5, text: 'half' }])).toEqual([true])
  expect(await store.readProgress([first.jobId])).toMatchObject([{ value: 0.5, text: 'half' }])
  expect(await store.completeJobs([first])).toMatchObject([{ outcome: 'completed' }])
  expect(await store.failJobs([{ ...second, code: 'GW_5XX', reason: 'x' }])).toMatchObject([
    { outcome: 'retried' },
  ])
  expect(await store.releaseJobs([third])).toMatchObject([{ outcome: 'released' }])
  expect(await store.cancelJobs([third.jobId])).toMatchObject([{ outcome: 'cancelled' }])

  await elapse(database.pool, table, 'unstuck', 3_600_000)
  const { reaped } = await store.sweepJobs({ reaper: { reaperId: 'test' } })
  expect(reaped).toMatchObject([{ jobId: fourth.jobId, action: 'requeued' }])
  expect(await store.listEvents(fourth.jobId)).not.toEqual([])
  expect(await store.readHealth()).toMatchObject({ overdue: 0 })

  await elapse(database.pool, table, 'unstuck', 30 * 86_400_000)
  expect(await store.pruneJobs()).toMatchObject({ deleted: 2 })
  expect(await store.getJob(enqueued[0]?.jobId ?? '')).toBeNull()
})

it('C20 and uses breakers, limits and pauses', async () => {
  const { store } = asWorker
  await store.writeBreaker('gateway', {})
  await store.mapDependency('asr', 'gateway')
  await store.holdBreaker('gateway', { actor: 'test' })
  await store.resumeBreaker('gateway')
  expect(await store.takeTokens([{ key: 'gateway', ratePerS: 1, burst: 5 }])).toMatchObject({ granted: 1 })
  await elapse(database.pool, table, 'unstuck', 2 * 3_600_000)
  expect(await store.pruneRateLimits()).toBe(1)
  await store.pauseQueue('asr')
  await store.resumeQueue('asr')
})

it('C20 OPS-10 and reports itself, and sends webhooks', async () => {
  const { store } = asWorker
  const report = { workerId: 'w', types: ['asr'], concurrency: 1, running: 0, reportMs: 1_000 }
  expect(await store.reportWorker({ ...report, phase: 'running' })).toMatchObject({ isDrainRequested: false })
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const { webhookId } = await store.addWebhook({ url: 'https://example.com/', secret })
  const [job] = await store.enqueueJobs([{ type: 'hook' }])
  await store.cancelJobs([job?.jobId ?? ''])
  const [taken] = await store.takeDeliveries()
  if (taken === undefined) throw new Error('nothing is to be sent')
  expect(await store.recordDelivery(taken, { isDelivered: true, status: 200 })).toBe('delivered')
  expect(await store.removeWebhook(webhookId)).toBe(true)
})

it('C20 and may change neither policy, attachments nor schema', async () => {
  await expect(asWorker.store.writePolicy({ maxAttempts: 9 })).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
  })
  for (const sql of ['truncate unstuck.jobs', 'drop table unstuck.jobs', 'create table unstuck.mine ()']) {
    const attempt = asWorker.transaction((client) => createRaw(client)(sql))
    await expect(attempt).rejects.toMatchObject({ code: '42501' })
  }
  const owner = createPostgresStore({ client: database.pool, table })
  expect(await owner.readPolicy()).toMatchObject({ maxAttempts: 3 })
})

it('C20 a role that only enqueues can do that, also with events for everything, and nothing else', async () => {
  const { store, close } = openTable({ databaseUrl: urlOf(enqueuer), schema: 'unstuck', table })
  onTestFinished(close)
  const owner = createPostgresStore({ client: database.pool, table })
  await owner.writePolicy({ events: 'all' })
  await owner.addWebhook({
    url: 'https://example.com/',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    events: ['queued'],
  })
  expect(await store.enqueueJobs([{ type: 'pdf', dedupeKey: 'a' }])).toMatchObject([{ outcome: 'created' }])
  expect(await owner.takeDeliveries()).toHaveLength(1)
  await expect(store.takeDeliveries()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  expect(await store.enqueueJobs([{ type: 'pdf', dedupeKey: 'a' }])).toMatchObject([{ outcome: 'duplicate' }])
  await owner.writePolicy({ events: 'recovery' })
  const claim = store.claimJobs({ workerId: 'w', queues: ['pdf'], limit: 1 })
  await expect(claim).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
})

it('C13 the limits come with the role, whoever makes the connection', async () => {
  const client = new pg.Client({ connectionString: urlOf(worker) })
  onTestFinished(() => client.end())
  await client.connect()
  const { rows } = await client.query(
    `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
            current_setting('idle_in_transaction_session_timeout') as idle`,
  )
  expect(rows).toEqual([{ lock: '10s', statement: '1min', idle: '1min' }])
})

type Transacting = Parameters<Parameters<typeof asWorker.transaction>[0]>[0]

function createRaw(client: Transacting): (sql: string) => Promise<unknown> {
  if (!('query' in client)) throw new Error('not a pg client')
  return (sql) => client.query(sql, [])
}
