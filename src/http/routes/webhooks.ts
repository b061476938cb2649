import {
  addWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
  switchWebhook,
} from '../../commands/webhook-commands.ts'
import {
  type Api,
  type ApiParts,
  contextOf,
  envelopeOf,
  json,
  jsonBody,
  readProblems,
  writeHeaders,
  writeProblems,
} from '../api.ts'
import {
  deliveriesAnswer,
  deliveriesQuery,
  newWebhookAnswer,
  newWebhookBody,
  redeliverAnswer,
  tableOnlyQuery,
  uuidParam,
  webhookAnswer,
  webhookChangeBody,
  webhookRemovedAnswer,
  webhooksAnswer,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'
import { toWireDelivery, toWireWebhook } from '../wire/workers.ts'

const SHOWN_DELIVERIES = 100

export function addWebhookRoutes(api: Api, parts: ApiParts): void {
  addWebhooks(api, parts)
  addWebhookChanges(api, parts)
  addDeliveries(api, parts)
}

function addWebhooks(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'Webhooks',
    request: { query: tableOnlyQuery },
    responses: {
      200: json(webhooksAnswer, 'Without secrets; without the path unless the caller may change webhooks.'),
      ...readProblems,
    },
  })
  api.openapi(list, async (c) => {
    const context = contextOf(c)
    const found = valueOf(await listWebhooks(context, c.req.valid('query')))
    const hasPath = context.actor.scopes.includes('webhooks:admin')
    const webhooks = found.map(({ table, value }) => toWireWebhook(value, table, hasPath))
    return c.json({ ...envelopeOf({ now: await clock.now() }), webhooks }, 200)
  })

  const add = createRoute({
    method: 'post',
    path: '/v1/webhooks',
    operationId: 'addWebhook',
    summary: 'Add a webhook; the signing secret is in this answer only',
    request: { ...jsonBody(newWebhookBody, true) },
    responses: {
      201: json(newWebhookAnswer, 'Store the secret: it cannot be shown again.'),
      ...writeProblems,
    },
  })
  api.openapi(add, async (c) => {
    const { table, webhook, secret } = valueOf(await addWebhook(contextOf(c), c.req.valid('json')))
    const now = envelopeOf({ now: await clock.now() })
    return c.json({ ...now, webhook: toWireWebhook(webhook, table, true), secret }, 201)
  })
}

function addWebhookChanges(api: Api, { clock }: ApiParts): void {
  const change = createRoute({
    method: 'patch',
    path: '/v1/webhooks/{id}',
    operationId: 'switchWebhook',
    summary: 'Enable or disable a webhook',
    request: {
      params: uuidParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(webhookChangeBody, true),
    },
    responses: { 200: json(webhookAnswer, 'The new state.'), ...writeProblems },
  })
  api.openapi(change, async (c) => {
    const { is_active: isActive, reason } = c.req.valid('json')
    const input = { webhookId: c.req.valid('param').id, ...c.req.valid('query'), isActive, reason }
    const { table, webhook } = valueOf(await switchWebhook(contextOf(c), input))
    return c.json(
      { ...envelopeOf({ now: await clock.now() }), webhook: toWireWebhook(webhook, table, true) },
      200,
    )
  })

  const remove = createRoute({
    method: 'delete',
    path: '/v1/webhooks/{id}',
    operationId: 'removeWebhook',
    summary: 'Remove a webhook and drop pending deliveries',
    request: { params: uuidParam, query: tableOnlyQuery, headers: writeHeaders },
    responses: { 200: json(webhookRemovedAnswer, 'The webhook is removed.'), ...writeProblems },
  })
  api.openapi(remove, async (c) => {
    const { id: webhookId } = c.req.valid('param')
    const { table } = valueOf(await removeWebhook(contextOf(c), { webhookId, ...c.req.valid('query') }))
    return c.json({ ...envelopeOf({ now: await clock.now() }), id: webhookId, table }, 200)
  })
}

function addDeliveries(api: Api, { clock }: ApiParts): void {
  const deliveries = createRoute({
    method: 'get',
    path: '/v1/webhooks/deliveries',
    operationId: 'listDeliveries',
    summary: 'Deliveries: pending, delivered and failed',
    request: { query: deliveriesQuery },
    responses: { 200: json(deliveriesAnswer, 'Newest first.'), ...readProblems },
  })
  api.openapi(deliveries, async (c) => {
    const { table: name, webhook_id: webhookId, status, limit = SHOWN_DELIVERIES } = c.req.valid('query')
    const found = valueOf(await listDeliveries(contextOf(c), { table: name, webhookId, status, limit }))
    const shown = found.map(({ table, value }) => toWireDelivery(value, table))
    return c.json({ ...envelopeOf({ now: await clock.now() }), deliveries: shown }, 200)
  })

  const again = createRoute({
    method: 'post',
    path: '/v1/webhooks/deliveries/{id}/redeliver',
    operationId: 'redeliver',
    summary: 'Send a delivery again, with the same id',
    request: { params: uuidParam, query: tableOnlyQuery, headers: writeHeaders },
    responses: { 200: json(redeliverAnswer, 'The delivery is due.'), ...writeProblems },
  })
  api.openapi(again, async (c) => {
    const { id: deliveryId } = c.req.valid('param')
    const { table } = valueOf(await redeliver(contextOf(c), { deliveryId, ...c.req.valid('query') }))
    return c.json({ ...envelopeOf({ now: await clock.now() }), id: deliveryId, table }, 200)
  })
}
