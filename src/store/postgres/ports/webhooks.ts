// Webhooks of the PostgreSQL store: every verb is one call of a function. Nothing is decided here.
import type { ActorOptions } from '../../ports/dependency-store.ts'
import type {
  Delivery,
  DeliveryAnswer,
  DeliveryFilter,
  DeliveryOutcome,
  DeliveryStatus,
  NewWebhook,
  RedeliverOutcome,
  TakeDeliveriesRequest,
  TakenDelivery,
  Webhook,
  WebhookEvent,
  WebhookStore,
} from '../../ports/webhook-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { PostgresWorkers } from './workers.ts'

export class PostgresWebhooks extends PostgresWorkers implements WebhookStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    super(call)
    this.#call = call
  }

  async addWebhook({ url, secret, events, actor, reason }: NewWebhook): Promise<Webhook> {
    const params = [url, secret, events ?? [], actor ?? null, reason ?? null]
    const [row] = await this.#call('add_webhook', params)
    return toWebhook(row ?? {})
  }

  async listWebhooks(): Promise<Webhook[]> {
    return (await this.#call('list_webhooks', [])).map(toWebhook)
  }

  async removeWebhook(webhookId: string, { actor, reason }: ActorOptions = {}): Promise<boolean> {
    const [row] = await this.#call('remove_webhook', [webhookId, actor ?? null, reason ?? null])
    return row?.['is_removed'] === true
  }

  async switchWebhook(
    webhookId: string,
    isActive: boolean,
    { actor, reason }: ActorOptions = {},
  ): Promise<Webhook | null> {
    const params = [webhookId, isActive, actor ?? null, reason ?? null]
    const [row] = await this.#call('switch_webhook', params)
    return row === undefined ? null : toWebhook(row)
  }

  async takeDeliveries({ limit, leaseMs }: TakeDeliveriesRequest = {}): Promise<TakenDelivery[]> {
    return (await this.#call('take_deliveries', [limit ?? 10, leaseMs ?? 60_000])).map(toTakenDelivery)
  }

  async settleDelivery(
    { deliveryId, tries }: Pick<TakenDelivery, 'deliveryId' | 'tries'>,
    { isDelivered, status, error, isGone }: DeliveryAnswer,
  ): Promise<DeliveryOutcome> {
    // PostgreSQL stores neither NUL nor half of a surrogate pair.
    const message = error?.toWellFormed().replaceAll('\0', '\uFFFD') ?? null
    const params = [deliveryId, tries, isDelivered, status, message, isGone ?? false]
    const [row] = await this.#call('settle_delivery', params)
    return row?.['outcome'] as DeliveryOutcome
  }

  async listDeliveries({ webhookId, status, limit }: DeliveryFilter = {}): Promise<Delivery[]> {
    const params = [webhookId ?? null, status ?? null, limit ?? 100]
    return (await this.#call('list_deliveries', params)).map(toDelivery)
  }

  async redeliver(deliveryId: string): Promise<RedeliverOutcome> {
    const [row] = await this.#call('redeliver', [deliveryId])
    return row?.['outcome'] as RedeliverOutcome
  }
}

const text = (value: unknown) => (value ?? null) as string | null
const number = (value: unknown) => (value === null ? null : Number(value))
const date = (value: unknown) => new Date(value as string | Date)

function toWebhook(row: Row): Webhook {
  return {
    webhookId: String(row['id']),
    url: String(row['url']),
    events: row['events'] as string[],
    isActive: row['is_active'] === true,
    inactiveReason: text(row['inactive_reason']),
    createdAt: date(row['created_at']),
    createdBy: text(row['created_by']),
    waiting: Number(row['waiting']),
  }
}

function toTakenDelivery(row: Row): TakenDelivery {
  return {
    deliveryId: String(row['delivery_id']),
    webhookId: String(row['webhook_id']),
    url: String(row['url']),
    secret: String(row['secret']),
    event: row['event'] as WebhookEvent,
    tries: Number(row['tries']),
  }
}

function toDelivery(row: Row): Delivery {
  return {
    deliveryId: String(row['id']),
    webhookId: String(row['webhook_id']),
    jobId: String(row['job_id']),
    type: String(row['type']),
    status: row['status'] as DeliveryStatus,
    tries: Number(row['tries']),
    nextTryInMs: number(row['next_try_in_ms']),
    lastStatus: number(row['last_status']),
    lastError: text(row['last_error']),
    createdAt: date(row['created_at']),
    deliveredAt: row['delivered_at'] === null ? null : date(row['delivered_at']),
  }
}
