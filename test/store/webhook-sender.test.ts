// The sender over a real database: what is committed arrives, what is rolled back does not, and two senders share.
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { startWebhookSender } from '../../src/runtime/webhooks/webhook-sender.ts'
import { createWebhookSecret } from '../../src/runtime/webhooks/webhook-signature.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createPostgresStore, inTransaction } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { expectedSignature, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const profile = nativeProfile('unstuck')
const secret = createWebhookSecret()
let database: TestDatabase
let store: JobStore<SqlClient>
let receiver: WebhookReceiver

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.webhooks, unstuck.deliveries')
  receiver = await startWebhookReceiver()
  onTestFinished(() => receiver.close())
  await store.addWebhook({ url: receiver.url, secret, events: ['cancelled'] })
})

function send(): void {
  const sender = startWebhookSender({ table: 'jobs', store, allowsPrivate: true, intervalMs: 20 })
  onTestFinished(() => sender.stop())
}

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 10 })

it('C22 a cancel that is rolled back is never sent, the committed one is', async () => {
  const [job] = await store.enqueueJobs([{ type: 'asr' }])
  const jobId = job?.jobId ?? ''
  send()
  const rolledBack = inTransaction(database.pool, async (tx) => {
    await store.cancelJobs([jobId], { tx, reason: 'rolled back' })
    throw new Error('not this time')
  })
  await expect(rolledBack).rejects.toThrow('not this time')
  await inTransaction(database.pool, (tx) => store.cancelJobs([jobId], { tx, reason: 'committed' }))
  await until(async () => expect(await store.listDeliveries({ status: 'delivered' })).toHaveLength(1))
  expect(receiver.received.map(({ event }) => event.data)).toMatchObject([
    { job_id: jobId, details: { reason: 'committed' } },
  ])
  const [call] = receiver.received
  if (call === undefined) throw new Error('nothing was received')
  expect(call.headers['webhook-signature']).toBe(expectedSignature(call, secret))
})

it('OPS-10 several senders deliver each event once', async () => {
  const jobs = await store.enqueueJobs(Array.from({ length: 60 }, () => ({ type: 'asr' })))
  await store.cancelJobs(jobs.map(({ jobId }) => jobId))
  for (const _ of [1, 2, 3]) send()
  await until(async () =>
    expect(await store.listDeliveries({ status: 'delivered', limit: 100 })).toHaveLength(60),
  )
  expect(receiver.received.map(({ event }) => event.data.job_id).toSorted()).toEqual(
    jobs.map(({ jobId }) => jobId).toSorted(),
  )
})

it('OPS-10 a delivery that was made is made again on demand, and the receiver knows it by its id', async () => {
  const [job] = await store.enqueueJobs([{ type: 'asr' }])
  await store.cancelJobs([job?.jobId ?? ''])
  send()
  await until(() => expect(receiver.received).toHaveLength(1))
  const id = String(receiver.received[0]?.headers['webhook-id'])
  await until(async () => expect(await store.listDeliveries({ status: 'delivered' })).toHaveLength(1))
  expect(await store.redeliver(id)).toBe('due')
  await until(() => expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]))
})
