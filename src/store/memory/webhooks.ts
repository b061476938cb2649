import { invalidArgument } from '../../errors/index.ts'
import { backoffMs } from '../../policy/retry/backoff.ts'
import type { ActorOptions } from '../ports/call-options.ts'
import type {
  Delivery,
  DeliveryAnswer,
  DeliveryFilter,
  DeliveryOutcome,
  NewWebhook,
  RedeliverOutcome,
  TakeDeliveriesRequest,
  TakenDelivery,
  Webhook,
  WebhookStore,
} from '../ports/webhook-store.ts'
import type { MemoryDelivery, MemoryWebhook } from './deliveries.ts'
import { checkWhole } from './state/checks.ts'
import type { MemoryState } from './state/memory-state.ts'

const YEAR_MS = 31_536_000_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const stepsMs = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
]
const retryBackoff = { stepsMs, baseMs: 0, maxMs: 0, jitterMs: 0 }

export function bindWebhookVerbs(state: MemoryState): WebhookStore {
  return {
    addWebhook: async (webhook) => addWebhook(state, webhook),
    listWebhooks: async () => [...state.webhooks.values()].map((webhook) => describe(state, webhook)),
    removeWebhook: async (webhookId) => removeWebhook(state, webhookId),
    switchWebhook: async (webhookId, isActive, options = {}) =>
      switchWebhook(state, webhookId, isActive, options),
    takeDeliveries: async (request = {}) => takeDeliveries(state, request),
    recordDelivery: async (taken, answer) => recordDelivery(state, taken, answer),
    listDeliveries: async (filter = {}) => listDeliveries(state, filter),
    redeliver: async (deliveryId) => redeliver(state, deliveryId),
  }
}

function addWebhook(state: MemoryState, { url, secret, events = [], actor }: NewWebhook): Webhook {
  if (url.length > 2_000 || !/^https?:\/\/[^/\s@]+(\/\S*)?$/.test(url))
    throw invalidArgument('url', url, 'an address of at most 2000 characters: https://…, without a password')
  if (!/^whsec_[A-Za-z0-9+/]{32,100}={0,2}$/.test(secret))
    throw invalidArgument('secret', 'something else', 'whsec_ and the base64 of 24 to 64 bytes')
  if (events.length > 100 || events.some((name) => name === '' || name.length > 100))
    throw invalidArgument('events', events, 'at most 100 types of 1 to 100 characters')
  const webhook: MemoryWebhook = {
    webhookId: state.createUuid(),
    url,
    secret,
    events: [...events],
    isActive: true,
    inactiveReason: null,
    createdAt: new Date(state.nowMs()),
    createdBy: actor ?? null,
  }
  state.webhooks.set(webhook.webhookId, webhook)
  return describe(state, webhook)
}

function describe(state: MemoryState, webhook: MemoryWebhook): Webhook {
  const { webhookId: id, url, events, isActive, inactiveReason, createdAt, createdBy } = webhook
  const waiting = [...state.deliveries.values()].filter(
    ({ webhookId, status }) => webhookId === id && status === 'waiting',
  )
  const shown = { webhookId: id, url, events, isActive, inactiveReason, createdAt, createdBy }
  return structuredClone({ ...shown, waiting: waiting.length })
}

function removeWebhook(state: MemoryState, id: string): boolean {
  for (const { deliveryId, webhookId, status } of state.deliveries.values())
    if (webhookId === id && status === 'waiting') state.deliveries.delete(deliveryId)
  return state.webhooks.delete(id)
}

function switchWebhook(
  state: MemoryState,
  webhookId: string,
  isActive: boolean,
  { reason = 'switched off' }: ActorOptions,
): Webhook | null {
  const webhook = state.webhooks.get(webhookId)
  if (webhook === undefined) return null
  const switched = { ...webhook, isActive, inactiveReason: isActive ? null : reason }
  const now = webhook.isActive === isActive ? webhook : switched
  state.webhooks.set(webhookId, now)
  return describe(state, now)
}

function takeDeliveries(state: MemoryState, { limit, leaseMs }: TakeDeliveriesRequest): TakenDelivery[] {
  checkWhole(limit, 'limit', 1, 1_000)
  checkWhole(leaseMs, 'leaseMs', 1, YEAR_MS)
  const nowMs = state.nowMs()
  return [...state.deliveries.values()]
    .filter(({ status, nextTryAtMs }) => status === 'waiting' && nextTryAtMs <= nowMs)
    .toSorted((a, b) => a.nextTryAtMs - b.nextTryAtMs)
    .slice(0, limit ?? 10)
    .flatMap((delivery) => take(state, delivery, nowMs + (leaseMs ?? MINUTE_MS)))
}

function take(state: MemoryState, delivery: MemoryDelivery, untilMs: number): TakenDelivery[] {
  const { deliveryId, webhookId, event } = delivery
  const webhook = state.webhooks.get(webhookId)
  if (webhook?.isActive !== true) {
    change(state, delivery, { status: 'failed', lastError: 'the webhook is not active' })
    return []
  }
  const tries = delivery.tries + 1
  change(state, delivery, { tries, nextTryAtMs: untilMs })
  const { url, secret } = webhook
  return [{ deliveryId, webhookId, url, secret, event: structuredClone(event), tries }]
}

function recordDelivery(
  state: MemoryState,
  { deliveryId, tries }: Pick<TakenDelivery, 'deliveryId' | 'tries'>,
  { isDelivered, status, error, isGone = false }: DeliveryAnswer,
): DeliveryOutcome {
  const delivery = state.deliveries.get(deliveryId)
  if (delivery?.tries !== tries || delivery.status !== 'waiting') return 'lost'
  const nowMs = state.nowMs()
  const lastError = error ?? null
  const answered = { lastStatus: status, lastError }
  if (isDelivered) {
    change(state, delivery, { ...answered, status: 'delivered', deliveredAtMs: nowMs })
    return 'delivered'
  }
  const webhook = state.webhooks.get(delivery.webhookId)
  if (isGone && webhook !== undefined)
    state.webhooks.set(webhook.webhookId, { ...webhook, isActive: false, inactiveReason: lastError })
  if (isGone || tries > stepsMs.length) {
    change(state, delivery, { ...answered, status: 'failed' })
    return 'failed'
  }
  change(state, delivery, { ...answered, nextTryAtMs: nowMs + backoffMs(retryBackoff, tries, 0) })
  return 'retried'
}

function listDeliveries(state: MemoryState, { webhookId, status, limit }: DeliveryFilter): Delivery[] {
  checkWhole(limit, 'limit', 1, 1_000)
  const nowMs = state.nowMs()
  return [...state.deliveries.values()]
    .filter((delivery) => webhookId === undefined || delivery.webhookId === webhookId)
    .filter((delivery) => status === undefined || delivery.status === status)
    .toReversed()
    .slice(0, limit ?? 100)
    .map(({ event, nextTryAtMs, createdAtMs, deliveredAtMs, ...delivery }) => ({
      ...delivery,
      jobId: event.data.job_id,
      type: event.type,
      nextTryInMs: delivery.status === 'waiting' ? nextTryAtMs - nowMs : null,
      createdAt: new Date(createdAtMs),
      deliveredAt: deliveredAtMs === null ? null : new Date(deliveredAtMs),
    }))
}

function redeliver(state: MemoryState, deliveryId: string): RedeliverOutcome {
  const delivery = state.deliveries.get(deliveryId)
  if (delivery === undefined) return 'not-found'
  if (state.webhooks.get(delivery.webhookId)?.isActive !== true) return 'inactive'
  change(state, delivery, {
    status: 'waiting',
    tries: 0,
    nextTryAtMs: state.nowMs(),
    deliveredAtMs: null,
  })
  return 'due'
}

function change(state: MemoryState, delivery: MemoryDelivery, fields: Partial<MemoryDelivery>): void {
  state.deliveries.set(delivery.deliveryId, { ...delivery, ...fields })
}
