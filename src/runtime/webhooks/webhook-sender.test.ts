import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  expectedSignature,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../test/support/webhook-receiver.ts'
import { RuntimeEventEmitter, type RuntimeEvents } from '../../observe/events.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { startWebhookSender, type WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'
import { createWebhookSecret } from './webhook-signature.ts'

const secret = createWebhookSecret()
let receiver: WebhookReceiver
let store: ReturnType<typeof createMemoryStore>
let events: RuntimeEventEmitter
let done: RuntimeEvents['delivery:done'][]
let failed: RuntimeEvents['delivery:failed'][]

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  store = createMemoryStore()
  events = new RuntimeEventEmitter()
  done = []
  failed = []
  events.on('delivery:done', (fields) => done.push(fields))
  events.on('delivery:failed', (fields) => failed.push(fields))
})
afterEach(() => receiver.close())

function send(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const sender = startWebhookSender({
    table: 'jobs',
    store,
    events,
    allowsPrivate: true,
    intervalMs: 60_000,
    ...options,
  })
  onTestFinished(() => sender.stop())
  return sender
}

async function cancelWithWebhook(url = receiver.url): Promise<string> {
  const { webhookId } = await store.addWebhook({ url, secret, events: ['cancelled'] })
  const [job] = await store.enqueueJobs([{ type: 'asr', payload: { card: '4111' } }])
  await store.cancelJobs([job?.jobId ?? ''], { actor: 'ana', reason: 'no longer wanted' })
  return webhookId
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 5 })

describe('what is sent', () => {
  it('OPS-10 is the event as JSON, signed as Standard Webhooks say', async () => {
    const webhookId = await cancelWithWebhook()
    send()
    await until(() => expect(done).toHaveLength(1))
    expect(done).toMatchObject([{ table: 'jobs', webhookId, tries: 1 }])
    const [call] = receiver.received
    if (call === undefined) throw new Error('nothing was received')
    expect(call.path).toBe('/hooks')
    expect(call.headers['content-type']).toBe('application/json')
    expect(call.headers['webhook-id']).toBe(done[0]?.deliveryId)
    expect(Math.abs(Number(call.headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(5)
    expect(call.headers['webhook-signature']).toBe(expectedSignature(call, secret))
    expect(call.headers['webhook-signature']).not.toBe(expectedSignature(call, createWebhookSecret()))
    expect(call.event).toMatchObject({
      type: 'cancelled',
      data: { table: 'jobs', details: { actor: 'ana', reason: 'no longer wanted' } },
    })
    expect(call.body).not.toContain('4111')
    expect(await store.listDeliveries()).toMatchObject([{ status: 'delivered', lastStatus: 200 }])
  })
})

it('OPS-10 a sender that is not needed leaves the store alone, and sends once it is', async () => {
  await cancelWithWebhook()
  let isNeeded = false
  let asked = 0
  send({
    intervalMs: 5,
    isNeeded: () => {
      asked++
      return isNeeded
    },
  })
  await until(() => expect(asked).toBeGreaterThan(3))
  expect(done).toEqual([])
  isNeeded = true
  await until(() => expect(done).toHaveLength(1))
})

describe('what is not sent', () => {
  it('OPS-10 a secret in a reason, and the id of a lease', async () => {
    await store.addWebhook({ url: receiver.url, secret, events: ['failed'] })
    await store.enqueueJobs([{ type: 'asr' }])
    const [lease] = await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })
    if (lease === undefined) throw new Error('nothing was claimed')
    const { jobId, leaseId } = lease
    const reason = 'refused: postgres://u:hunter2@db/x with token=abc'
    await store.failJobs([{ jobId, leaseId, code: 'AUTH', reason, isRetryable: false }])
    send()
    await until(() => expect(done).toHaveLength(1))
    const [call] = receiver.received
    expect(call?.event).toMatchObject({
      type: 'failed',
      data: {
        job_id: jobId,
        details: { code: 'AUTH', reason: 'refused: postgres://u:[redacted]@db/x with token=[redacted]' },
      },
    })
    expect(call?.body).not.toContain(leaseId)
  })
})

describe('a try that fails', () => {
  it('OPS-10 is made again later, with the same id and body, until the receiver takes it', async () => {
    receiver.answers = [500, 503]
    await cancelWithWebhook()
    const sender = send()
    for (const tries of [1, 2]) {
      await until(() => expect(failed).toHaveLength(tries))
      store.elapse(60_000)
      sender.wake()
    }
    await until(() => expect(done).toMatchObject([{ tries: 3 }]))
    expect(failed).toMatchObject([
      { outcome: 'retried', error: 'answered 500' },
      { outcome: 'retried', error: 'answered 503' },
    ])
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
  })

  it('OPS-10 is one without an answer in time, and the sender goes on', async () => {
    receiver.answers = [null]
    await cancelWithWebhook()
    // Long enough for the second try, whatever else this machine does.
    const sender = send({ timeoutMs: 1_500 })
    await until(() => expect(failed).toMatchObject([{ error: 'no answer within 1500 ms' }]))
    store.elapse(60_000)
    sender.wake()
    await until(() => expect(done).toHaveLength(1))
  })

  it('C22 is a redirect: it is not followed', async () => {
    receiver.answers = [302]
    await cancelWithWebhook()
    send()
    await until(() => expect(failed).toMatchObject([{ error: 'answered 302', outcome: 'retried' }]))
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hooks'])
  })

  it('OPS-10 switches the webhook off where the receiver says it is gone', async () => {
    receiver.answers = [410]
    await cancelWithWebhook()
    send()
    await until(() => expect(failed).toMatchObject([{ outcome: 'failed' }]))
    expect(await store.listWebhooks()).toMatchObject([{ isActive: false, inactiveReason: 'answered 410' }])
  })

  it('OPS-10 is told where nobody listens, and where the store is away', async () => {
    receiver.close()
    await cancelWithWebhook()
    send()
    await until(() => expect(failed).toHaveLength(1))
    expect(String(failed[0]?.error)).toContain('ECONNREFUSED')
    const away = { ...store, takeDeliveries: () => Promise.reject(new Error('the database is away')) }
    send({ store: away })
    await until(() => expect(failed[1]).toMatchObject({ deliveryId: null, outcome: 'unknown' }))
  })
})

it('WORK-4 a receiver that does not answer does not hold up the end of a worker', async () => {
  receiver.answers = [null]
  await cancelWithWebhook()
  const sender = send()
  await until(() => expect(receiver.received).toHaveLength(1))
  await sender.stop()
  expect(failed).toMatchObject([{ error: 'the worker stopped', outcome: 'retried' }])
})

describe('where it goes', () => {
  it('C22 a name that leads into a private network is refused, and nothing is sent', async () => {
    await cancelWithWebhook('https://hooks.example.com/')
    send({ allowsPrivate: false, resolve: async () => [{ address: '169.254.169.254', family: 4 }] })
    await until(() =>
      expect(failed).toMatchObject([{ error: 'refused: 169.254.169.254 is not a public address' }]),
    )
    expect(await store.listDeliveries()).toMatchObject([{ status: 'waiting', lastStatus: null }])
  })

  it('C22 so are plain HTTP and the address of this machine', async () => {
    await cancelWithWebhook()
    await cancelWithWebhook(receiver.url.replace('http:', 'https:'))
    send({ allowsPrivate: false })
    await until(() => expect(failed).toHaveLength(3))
    expect(failed.map(({ error }) => String(error)).toSorted()).toEqual([
      'refused: 127.0.0.1 is not a public address',
      'refused: http is not https',
      'refused: http is not https',
    ])
    expect(receiver.received).toEqual([])
  })

  it('C22 the address that was checked is the one that is called, and asked for once', async () => {
    const { port } = new URL(receiver.url)
    await cancelWithWebhook(`http://hooks.example.com:${port}/pinned`)
    let asked = 0
    send({
      resolve: async () => {
        asked++
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    await until(() => expect(done).toHaveLength(1))
    expect(asked).toBe(1)
    expect(receiver.received).toMatchObject([
      { path: '/pinned', headers: { host: `hooks.example.com:${port}` } },
    ])
  })
})
