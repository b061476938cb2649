// Webhooks and their deliveries. The secret of a webhook is returned once, when it is added.
import { eventTypes } from '../job/event-types.ts'
import { createWebhookSecret } from '../runtime/webhooks/webhook-signature.ts'
import type { Delivery, DeliveryStatus, Webhook } from '../store/job-store.ts'
import {
  command,
  done,
  findTable,
  firstOfTables,
  fromTables,
  type InTable,
  manualOptions,
  refused,
} from './command.ts'
import { given } from './given.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const notAnId = (field: string) => refused('INVALID_ARGUMENT', `${field}: must be a UUID`)
const noWebhook = (webhookId: string) => refused('NOT_FOUND', `no webhook has the id ${webhookId}`)

export const listWebhooks = command('listWebhooks', (context, input: InTable) =>
  fromTables<Webhook>(context, input, ({ store }) => store.listWebhooks()),
)

export interface NewWebhookInput extends InTable {
  url: string
  events?: readonly string[] | undefined
  /** `whsec_` and base64. Default: a new one. */
  secret?: string | undefined
  reason?: string | undefined
}

export interface AddedWebhook {
  table: string
  webhook: Webhook
  secret: string
}

/** The address is resolved and checked at every delivery: a name may point elsewhere by then (C22). */
export const addWebhook = command('addWebhook', async (context, input: NewWebhookInput) => {
  const { url, events = [], secret = createWebhookSecret(), reason } = input
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '')
    return refused('INVALID_ARGUMENT', 'url: must be an address such as https://example.com/hooks')
  const unknown = events.find((name) => !eventTypes.some((type) => type === name))
  if (unknown !== undefined)
    return refused(
      'INVALID_ARGUMENT',
      `events: ${unknown.slice(0, 100)} is unknown; use ${eventTypes.join(', ')}`,
    )
  const actor = context.actor.id
  const added = { url, secret, events: [...events], actor, ...given({ reason }) }
  const webhook = await table.value.store.addWebhook(added)
  return done<AddedWebhook>({ table: table.value.name, webhook, secret })
})

export interface WebhookInput extends InTable {
  webhookId: string
  reason?: string | undefined
}

export const switchWebhook = command(
  'switchWebhook',
  async (context, input: WebhookInput & { isActive: boolean }) => {
    const { webhookId, isActive, reason } = input
    if (!UUID.test(webhookId)) return notAnId('id')
    const found = await firstOfTables<Webhook>(context, input, ({ store }) =>
      store.switchWebhook(webhookId, isActive, manualOptions(context, reason)),
    )
    if (!found.isDone) return found
    if (found.value === null) return noWebhook(webhookId)
    return done<{ table: string; webhook: Webhook }>({
      table: found.value.table,
      webhook: found.value.value,
    })
  },
)

export const removeWebhook = command('removeWebhook', async (context, input: WebhookInput) => {
  const { webhookId, reason } = input
  if (!UUID.test(webhookId)) return notAnId('id')
  const found = await firstOfTables(context, input, async ({ store }) =>
    (await store.removeWebhook(webhookId, manualOptions(context, reason))) ? webhookId : null,
  )
  if (!found.isDone) return found
  if (found.value === null) return noWebhook(webhookId)
  return done<{ table: string; webhookId: string }>({ table: found.value.table, webhookId })
})

export interface DeliveriesInput extends InTable {
  webhookId?: string | undefined
  status?: DeliveryStatus | undefined
  limit: number
}

export const listDeliveries = command('listDeliveries', async (context, input: DeliveriesInput) => {
  const { webhookId, status, limit } = input
  if (webhookId !== undefined && !UUID.test(webhookId)) return notAnId('webhook_id')
  const filter = { limit, ...given({ webhookId, status }) }
  return fromTables<Delivery>(context, input, ({ store }) => store.listDeliveries(filter))
})

export const redeliver = command('redeliver', async (context, input: InTable & { deliveryId: string }) => {
  const { deliveryId } = input
  if (!UUID.test(deliveryId)) return notAnId('id')
  const found = await firstOfTables(context, input, async ({ store }) => {
    const outcome = await store.redeliver(deliveryId)
    return outcome === 'not-found' ? null : outcome
  })
  if (!found.isDone) return found
  if (found.value === null) return refused('NOT_FOUND', `no delivery has the id ${deliveryId}`)
  const { table, value: outcome } = found.value
  if (outcome === 'inactive')
    return refused('STATE_CONFLICT', `delivery ${deliveryId}: its webhook is disabled`)
  return done<{ table: string; deliveryId: string }>({ table, deliveryId })
})
