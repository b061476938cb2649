import { createRoute } from '@hono/zod-openapi'
import {
  drainWorker,
  listDeliveries,
  listWebhooks,
  listWorkers,
  readSlo,
  redeliver,
} from '../../commands/worker-commands.ts'
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
  actBody,
  deliveriesAnswer,
  deliveriesQuery,
  drainAnswer,
  idParam,
  redeliverAnswer,
  sloAnswer,
  sloQuery,
  tableOnlyQuery,
  webhooksAnswer,
  workersAnswer,
} from '../contract.ts'
import { ApiProblem, valueOf } from '../problem.ts'
import { toWireDelivery, toWireSlo, toWireWebhook, toWireWorker } from '../wire-workers.ts'

const SHOWN_DELIVERIES = 100

export function addWorkerRoutes(api: Api, parts: ApiParts): void {
  addWorkers(api, parts)
  addSlo(api, parts)
  addWebhooks(api, parts)
}

function addWorkers(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/workers',
    operationId: 'listWorkers',
    summary: 'Workers that tell of themselves, the one that was seen last first',
    request: { query: tableOnlyQuery },
    responses: { 200: json(workersAnswer, 'By table.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const found = valueOf(await listWorkers(contextOf(c), c.req.valid('query')))
    const workers = found.map(({ table, value }) => toWireWorker(value, table))
    return c.json({ ...envelopeOf({ now: await clock.now() }), workers }, 200)
  })

  const drain = createRoute({
    method: 'post',
    path: '/v1/workers/{id}/drain',
    operationId: 'drainWorker',
    summary: 'Ask a worker to claim no more, finish what it runs and leave',
    request: { params: idParam, query: tableOnlyQuery, headers: writeHeaders, ...jsonBody(actBody, false) },
    responses: { 200: json(drainAnswer, 'It hears of it with its next report.'), ...writeProblems },
  })
  api.openapi(drain, async (c) => {
    const { id: workerId } = c.req.valid('param')
    const input = { workerId, ...c.req.valid('query'), reason: c.req.valid('json').reason }
    const { table, outcome } = valueOf(await drainWorker(contextOf(c), input))
    if (outcome !== 'asked' && outcome !== 'already-asked')
      throw new ApiProblem('INTERNAL', 'no such outcome')
    return c.json({ ...envelopeOf({ now: await clock.now() }), id: workerId, table, outcome }, 200)
  })
}

function addSlo(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/slo',
    operationId: 'readSlo',
    summary: 'How fast lost jobs were rescued, against the promise',
    request: { query: sloQuery },
    responses: { 200: json(sloAnswer, 'Of the last day, or of `window_ms`.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const { table: name, window_ms: windowMs } = c.req.valid('query')
    const found = valueOf(await readSlo(contextOf(c), { table: name, windowMs }))
    const tables = found.map(({ table, value }) => toWireSlo(value, table))
    return c.json({ ...envelopeOf({ now: await clock.now() }), tables }, 200)
  })
}

function addWebhooks(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'Who is told of events; `unstuck webhooks` adds and removes them',
    request: { query: tableOnlyQuery },
    responses: { 200: json(webhooksAnswer, 'Without their secrets.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const found = valueOf(await listWebhooks(contextOf(c), c.req.valid('query')))
    const webhooks = found.map(({ table, value }) => toWireWebhook(value, table))
    return c.json({ ...envelopeOf({ now: await clock.now() }), webhooks }, 200)
  })

  const deliveries = createRoute({
    method: 'get',
    path: '/v1/webhooks/deliveries',
    operationId: 'listDeliveries',
    summary: 'What was sent, is to be sent, or was given up',
    request: { query: deliveriesQuery },
    responses: { 200: json(deliveriesAnswer, 'The newest first.'), ...readProblems },
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
    summary: 'Send a delivery once more; the receiver sees the same id',
    request: { params: idParam, query: tableOnlyQuery, headers: writeHeaders },
    responses: { 200: json(redeliverAnswer, 'It is due.'), ...writeProblems },
  })
  api.openapi(again, async (c) => {
    const { id: deliveryId } = c.req.valid('param')
    const { table } = valueOf(await redeliver(contextOf(c), { deliveryId, ...c.req.valid('query') }))
    return c.json({ ...envelopeOf({ now: await clock.now() }), id: deliveryId, table }, 200)
  })
}
