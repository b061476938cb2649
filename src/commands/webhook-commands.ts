// Webhooks: who is told of events. The secret is answered once and shown to nobody again.
import { eventTypes } from '../job/event-types.ts'
import { createWebhookSecret } from '../runtime/webhooks/webhook-signature.ts'
import type { Webhook } from '../store/job-store.ts'
import { command, done, findTable, type InTable, manualOptions, refused } from './command.ts'

export interface NewWebhookInput extends InTable {
  url: string
  events?: readonly string[] | undefined
  /** `whsec_` and base64; default: a new one. */
  secret?: string | undefined
  reason?: string | undefined
}

export interface AddedWebhook {
  table: string
  webhook: Webhook
  secret: string
}

/** Where it leads is looked at whenever something is sent: a name may lead elsewhere by then (C22). */
export const addWebhook = command('addWebhook', async (context, input: NewWebhookInput) => {
  const { url, events = [], secret = createWebhookSecret(), reason } = input
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '')
    return refused('INVALID_ARGUMENT', 'url: takes an address such as https://example.com/hooks')
  const unknown = events.find((name) => !eventTypes.some((type) => type === name))
  if (unknown !== undefined)
    return refused('INVALID_ARGUMENT', `events: ${unknown.slice(0, 100)} is none of ${eventTypes.join(', ')}`)
  const { actor } = context
  const webhook = await table.value.store.addWebhook({
    url,
    secret,
    events: [...events],
    actor: actor.id,
    ...(reason === undefined ? {} : { reason }),
  })
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
    const named = findTable(context, input.table)
    if (!named.isDone) return named
    for (const table of input.table === undefined ? context.tables : [named.value]) {
      const options = manualOptions(context, reason)
      const webhook = await table.store.switchWebhook(webhookId, isActive, options)
      if (webhook !== null) return done<{ table: string; webhook: Webhook }>({ table: table.name, webhook })
    }
    return notFound(webhookId)
  },
)

export const removeWebhook = command('removeWebhook', async (context, input: WebhookInput) => {
  const { webhookId, reason } = input
  const named = findTable(context, input.table)
  if (!named.isDone) return named
  for (const table of input.table === undefined ? context.tables : [named.value]) {
    const isRemoved = await table.store.removeWebhook(webhookId, manualOptions(context, reason))
    if (isRemoved) return done<{ table: string; webhookId: string }>({ table: table.name, webhookId })
  }
  return notFound(webhookId)
})

const notFound = (webhookId: string) => refused('NOT_FOUND', `no webhook has the id ${webhookId}`)
