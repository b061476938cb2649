// A worker process as the registry of workers and the receiver of a webhook see it.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createWebhookSecret } from '../../../src/runtime/webhooks/webhook-signature.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { expectedSignature, startWebhookReceiver } from '../../support/webhook-receiver.ts'
import { openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import { startWorkerProcess } from '../worker-process.ts'

let database: TestDatabase
let harness: WorkerHarness

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
beforeEach(() => harness.reset())
afterEach(() => harness.endWorkers())
afterAll(async () => {
  await harness.close()
  await database.drop()
})

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 50 })

it('SEE-5 WORK-4 a worker is listed while it runs, and as stopped with its exit code afterwards', async () => {
  const worker = harness.work({ workerId: 'worker-1', concurrency: 3, handleSignals: true })
  await until(async () =>
    expect(await harness.store.listWorkers()).toMatchObject([
      {
        workerId: expect.stringMatching(/^worker-1:[0-9a-f]{8}$/),
        state: 'live',
        concurrency: 3,
        pid: worker.child.pid,
      },
    ]),
  )
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  expect(await harness.store.listWorkers()).toMatchObject([{ state: 'stopped', exitCode: 0, running: 0 }])
})

it('OPS-10 a worker sends what happened to jobs to a webhook', async () => {
  const receiver = await startWebhookReceiver()
  onTestFinished(() => receiver.close())
  const secret = createWebhookSecret()
  const { webhookId } = await harness.store.addWebhook({ url: receiver.url, secret, events: ['cancelled'] })
  onTestFinished(async () => void (await harness.store.removeWebhook(webhookId)))
  const [jobId = ''] = await harness.enqueue('nobody-handles-this')
  await harness.store.cancelJobs([jobId], { reason: 'not wanted' })
  const worker = startWorkerProcess(database.url, {}, { env: { UNSTUCK_WEBHOOK_ALLOW_PRIVATE: '1' } })
  onTestFinished(async () => {
    worker.child.kill('SIGKILL')
    await worker.ended
  })
  await until(() => expect(receiver.received).toHaveLength(1))
  const [call] = receiver.received
  if (call === undefined) throw new Error('nothing was received')
  expect(call.event).toMatchObject({ type: 'cancelled', data: { job_id: jobId } })
  expect(call.headers['webhook-signature']).toBe(expectedSignature(call, secret))
})
