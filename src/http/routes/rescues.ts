import { listRateLimits } from '../../commands/queue-control-commands.ts'
import { listReclaims, listStaleJobs, listSweeps, validateStale } from '../../commands/rescue-commands.ts'
import { type Api, type ApiParts, contextOf, envelopeOf, json, readProblems } from '../api.ts'
import {
  rateLimitsAnswer,
  rateLimitsQuery,
  reclaimsAnswer,
  reclaimsQuery,
  staleAnswer,
  staleQuery,
  staleValidationAnswer,
  sweepsAnswer,
  sweepsQuery,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'
import { toWireLastSweep, toWireRateLimit, toWireReclaim, toWireStale, toWireSweep } from '../wire/rescues.ts'

const SHOWN = 100

export function addRescueRoutes(api: Api, parts: ApiParts): void {
  addReclaims(api, parts)
  addStale(api, parts)
  addSweeps(api, parts)
  addRateLimits(api, parts)
}

function addReclaims(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/reclaims',
    operationId: 'listReclaims',
    summary: 'Jobs that were taken back, the newest first, and when they were claimed again',
    request: { query: reclaimsQuery },
    responses: {
      200: json(reclaimsAnswer, 'With a filter a page may be short and have a next one all the same.'),
      ...readProblems,
    },
  })
  api.openapi(route, async (c) => {
    const { worker_id: workerId, limit = SHOWN, ...rest } = c.req.valid('query')
    const { reclaims, next } = valueOf(await listReclaims(contextOf(c), { ...rest, workerId, limit }))
    const shown = reclaims.map(toWireReclaim)
    return c.json({ ...envelopeOf({ now: await clock.now() }), reclaims: shown, next_cursor: next }, 200)
  })
}

function addStale(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/stale',
    operationId: 'listStaleJobs',
    summary: 'Running jobs past their lease, and why nobody took them back yet',
    request: { query: staleQuery },
    responses: { 200: json(staleAnswer, 'The longest overdue first.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const { table, limit = SHOWN } = c.req.valid('query')
    const { jobs, count } = valueOf(await listStaleJobs(contextOf(c), { table, limit }))
    const now = envelopeOf({ now: await clock.now() })
    return c.json({ ...now, jobs: jobs.map(toWireStale), count, is_complete: jobs.length === count }, 200)
  })

  const validation = createRoute({
    method: 'get',
    path: '/v1/stale/validation',
    operationId: 'validateStale',
    summary: 'Jobs past twice their lease: there is none, or nobody takes jobs back',
    request: { query: staleQuery },
    responses: { 200: json(staleValidationAnswer, '`is_valid` where there is none.'), ...readProblems },
  })
  api.openapi(validation, async (c) => {
    const { table, limit = SHOWN } = c.req.valid('query')
    const { jobs, count } = valueOf(await validateStale(contextOf(c), { table, limit }))
    const now = envelopeOf({ now: await clock.now() })
    return c.json({ ...now, is_valid: count === 0, count, jobs: jobs.map(toWireStale) }, 200)
  })
}

function addSweeps(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/reaper/sweeps',
    operationId: 'listSweeps',
    summary: 'The last sweep of each table, and those that found something',
    request: { query: sweepsQuery },
    responses: {
      200: json(sweepsAnswer, 'The newest first; 1,000 are kept for each table.'),
      ...readProblems,
    },
  })
  api.openapi(route, async (c) => {
    const { limit = SHOWN, ...rest } = c.req.valid('query')
    const { last, sweeps, next } = valueOf(await listSweeps(contextOf(c), { ...rest, limit }))
    return c.json(
      {
        ...envelopeOf({ now: await clock.now() }),
        last: last.map(toWireLastSweep),
        sweeps: sweeps.map(toWireSweep),
        next_cursor: next,
      },
      200,
    )
  })
}

function addRateLimits(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/rate-limits',
    operationId: 'listRateLimits',
    summary: 'Buckets of tokens as they are now; their settings come from the workers',
    request: { query: rateLimitsQuery },
    responses: { 200: json(rateLimitsAnswer, 'The one that was used last first.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const { prefix, limit = SHOWN } = c.req.valid('query')
    const found = valueOf(await listRateLimits(contextOf(c), { prefix, limit }))
    return c.json(
      {
        ...envelopeOf({ now: await clock.now() }),
        rate_limits: found.map(toWireRateLimit),
        is_complete: found.length < limit,
      },
      200,
    )
  })
}
