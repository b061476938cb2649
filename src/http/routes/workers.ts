import { drainWorker, listWorkers, readSlo } from '../../commands/worker-commands.ts'
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
  changeBody,
  drainAnswer,
  idParam,
  sloAnswer,
  sloQuery,
  tableOnlyQuery,
  workersAnswer,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { ApiProblem, valueOf } from '../problem.ts'
import { toWireFleet, toWireSlo, toWireWorker } from '../wire/workers.ts'

export function addWorkerRoutes(api: Api, parts: ApiParts): void {
  addWorkers(api, parts)
  addSlo(api, parts)
}

function addWorkers(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/workers',
    operationId: 'listWorkers',
    summary: 'Workers, most recently seen first',
    request: { query: tableOnlyQuery },
    responses: { 200: json(workersAnswer, 'By table.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const found = valueOf(await listWorkers(contextOf(c), c.req.valid('query')))
    const workers = found.map(({ table, value }) => toWireWorker(value, table))
    const now = await clock.now()
    const fleet = toWireFleet(
      found.map(({ value }) => value),
      now,
    )
    return c.json({ ...envelopeOf({ now }), fleet, workers }, 200)
  })

  const drain = createRoute({
    method: 'post',
    path: '/v1/workers/{id}/drain',
    operationId: 'drainWorker',
    summary: 'Drain a worker: it stops claiming, finishes its jobs and stops',
    request: {
      params: idParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(changeBody, false),
    },
    responses: { 200: json(drainAnswer, 'The worker reads it with its next report.'), ...writeProblems },
  })
  api.openapi(drain, async (c) => {
    const { id: workerId } = c.req.valid('param')
    const input = { workerId, ...c.req.valid('query'), reason: c.req.valid('json').reason }
    const { table, outcome } = valueOf(await drainWorker(contextOf(c), input))
    if (outcome !== 'asked' && outcome !== 'already-asked')
      throw new ApiProblem('INTERNAL', 'unexpected outcome')
    return c.json({ ...envelopeOf({ now: await clock.now() }), id: workerId, table, outcome }, 200)
  })
}

function addSlo(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/slo',
    operationId: 'readSlo',
    summary: 'Rescue times of lost jobs, against the promise',
    request: { query: sloQuery },
    responses: { 200: json(sloAnswer, 'Over the last day, or `window_ms`.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const { table: name, window_ms: windowMs } = c.req.valid('query')
    const found = valueOf(await readSlo(contextOf(c), { table: name, windowMs }))
    const tables = found.map(({ table, value }) => toWireSlo(value, table))
    return c.json({ ...envelopeOf({ now: await clock.now() }), tables }, 200)
  })
}
