import type {
  Delivery,
  DeliveryOutcome,
  RedeliverOutcome,
  TakenDelivery,
  Webhook,
  WebhookEvent,
  WebhookStore,
} from '../../ports/webhook-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { fromRecord, storable } from '../rows/values.ts'

export function bindWebhookVerbs(call: CallQuery): WebhookStore {
  return {
    async addWebhook({ url, secret, events, actor, reason }) {
      const params = [url, secret, events ?? [], actor ?? null, reason ?? null]
      const [row] = await call('add_webhook', params)
      return toWebhook(row ?? {})
    },

    async listWebhooks() {
      return (await call('list_webhooks', [])).map(toWebhook)
    },

    async removeWebhook(webhookId, { actor, reason } = {}) {
      const [row] = await call('remove_webhook', [webhookId, actor ?? null, reason ?? null])
      return row?.['is_removed'] === true
    },

    async switchWebhook(webhookId, isActive, { actor, reason } = {}) {
      const params = [webhookId, isActive, actor ?? null, reason ?? null]
      const [row] = await call('switch_webhook', params)
      return row === undefined ? null : toWebhook(row)
    },

    async takeDeliveries({ limit, leaseMs } = {}) {
      return (await call('take_deliveries', [limit ?? 10, leaseMs ?? 60_000])).map(toTakenDelivery)
    },

    async recordDelivery({ deliveryId, tries }, { isDelivered, status, error, isGone }) {
      const message = error === undefined ? null : storable(error)
      const params = [deliveryId, tries, isDelivered, status, message, isGone ?? false]
      const [row] = await call('record_delivery', params)
      return row?.['outcome'] as DeliveryOutcome
    },

    async listDeliveries({ webhookId, status, limit } = {}) {
      const params = [webhookId ?? null, status ?? null, limit ?? 100]
      return (await call('list_deliveries', params)).map(toDelivery)
    },

    async redeliver(deliveryId) {
      const [row] = await call('redeliver', [deliveryId])
      return row?.['outcome'] as RedeliverOutcome
    },
  }
}

function toWebhook({ id, ...row }: Row): Webhook {
  return { webhookId: String(id), ...fromRecord<Omit<Webhook, 'webhookId'>>(row, ['createdAt']) }
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

function toDelivery({ id, ...row }: Row): Delivery {
  const delivery = fromRecord<Omit<Delivery, 'deliveryId'>>(row, ['createdAt', 'deliveredAt'])
  return { deliveryId: String(id), ...delivery }
}
