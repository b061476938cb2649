// Sends events to webhooks. The engine writes deliveries in the transaction of an event; a sender takes them, posts them and
// writes the result (OPS-10, C22). Any number of senders may run; a lease on each delivery keeps them apart. Delivery is at
// least once: the receiver recognises a repeat by its id.
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import { redactJson } from '../../observe/redact.ts'
import type {
  DeliveryAnswer,
  TakenDelivery,
  WebhookEvent,
  WebhookStore,
} from '../../store/ports/webhook-store.ts'
import { repeat } from '../timing/repeat.ts'
import { timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'
import { postWebhook } from './post-webhook.ts'
import { findAddress, type Resolve } from './webhook-address.ts'
import { signWebhook } from './webhook-signature.ts'

export interface WebhookSenderOptions {
  /** Name of the table in events. */
  table: string
  store: Pick<WebhookStore, 'takeDeliveries' | 'recordDelivery'>
  events?: Pick<RuntimeEventEmitter, 'emit'>
  /** Interval between two looks for deliveries. Default: 5 s. */
  intervalMs?: number
  /** Asked before each look: false if there can be none. Default: always true. */
  isNeeded?: () => boolean
  /** Deliveries sent at a time. Default: 10. */
  batchSize?: number
  /** Timeout of one try. Default: 10 s. */
  timeoutMs?: number
  /** Also allows plain HTTP and private addresses. Default: false. */
  allowsPrivate?: boolean
  /** Default: the system's resolver. */
  resolve?: Resolve
}

export interface WebhookSender {
  /** Looks at once. */
  wake(): void
  /** Resolves when the current tries have ended, after 2 s at most: an unanswered delivery is sent again. */
  stop(): Promise<void>
}

export function startWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { table, store, events, intervalMs = 5_000, batchSize = 10, timeoutMs = 10_000 } = options
  const { isNeeded = () => true } = options
  const leaving = new AbortController()
  const sending = repeat(async (stopping) => {
    if (isNeeded()) await sendDue(stopping)
    return intervalMs
  })
  return {
    wake: () => sending.wake(),
    async stop() {
      const timer = timing.setTimeout(() => leaving.abort(), STOP_GRACE_MS)
      await sending.stop()
      timing.clearTimeout(timer)
    },
  }

  async function sendDue(stopping: AbortSignal): Promise<void> {
    try {
      while (!stopping.aborted) {
        // Long enough for a try and the write after it: a result written later would send the delivery twice.
        const taken = await store.takeDeliveries({ limit: batchSize, leaseMs: timeoutMs + 50_000 })
        if (taken.length === 0) return
        await Promise.all(taken.map(sendOne))
      }
    } catch (error) {
      // The store is unreachable. Deliveries that were taken come back when their lease expires.
      events?.emit('delivery:failed', {
        table,
        webhookId: null,
        deliveryId: null,
        tries: 0,
        outcome: 'unknown',
        error,
      })
    }
  }

  async function sendOne(delivery: TakenDelivery): Promise<void> {
    const { webhookId, deliveryId, tries } = delivery
    const startedAt = timing.nowMs()
    const answer = await send(delivery, { timeoutMs, leaving: leaving.signal }, options)
    const outcome = await store.recordDelivery(delivery, answer)
    const fields = { table, webhookId, deliveryId, tries }
    if (answer.isDelivered)
      events?.emit('delivery:done', { ...fields, durationMs: timing.nowMs() - startedAt })
    else events?.emit('delivery:failed', { ...fields, outcome, error: answer.error })
  }
}

async function send(
  { deliveryId, url: address, secret, event }: TakenDelivery,
  { timeoutMs, leaving }: { timeoutMs: number; leaving: AbortSignal },
  { allowsPrivate = false, resolve }: WebhookSenderOptions,
): Promise<DeliveryAnswer> {
  const ended = new AbortController()
  const late = wait(timeoutMs, ended.signal, leaving).then(() => {
    throw new Error(leaving.aborted ? 'the worker stopped' : `no answer within ${timeoutMs} ms`)
  })
  try {
    const body = bodyOf(event)
    const status = await Promise.race([post(), late])
    return judge(status)

    async function post(): Promise<number> {
      const url = new URL(address)
      const found = await findAddress(url, { allowsPrivate, ...(resolve === undefined ? {} : { resolve }) })
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'unstuck',
        ...signWebhook(secret, deliveryId, timing.wallMs(), body),
      }
      return postWebhook({ url, address: found, headers, body, signal: ended.signal })
    }
  } catch (error) {
    return { isDelivered: false, status: null, error: error instanceof Error ? error.message : String(error) }
  } finally {
    // The timer ends, and with it a request that is still in flight.
    late.catch(() => {})
    ended.abort()
  }
}

/** Redacted as in the HTTP API: it leaves the deployment. */
function bodyOf({ type, timestamp, data }: WebhookEvent): string {
  const { lease_id: _credential, ...details } = data.details
  return JSON.stringify({ type, timestamp, data: { ...data, details: redactJson(details) } })
}

const GONE = 410
const STOP_GRACE_MS = 2_000

function judge(status: number): DeliveryAnswer {
  if (status >= 200 && status < 300) return { isDelivered: true, status }
  return { isDelivered: false, status, error: `answered ${status}`, isGone: status === GONE }
}
