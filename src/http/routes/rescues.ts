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
    summary: 'Reclaimed jobs, newest first, with their next claim',
    request: { query: reclaimsQuery },
    responses: {
      200: json(reclaimsAnswer, 'A filtered page may be short and still have a next one.'),
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
    summary: 'Running jobs past their lease, with the reason',
    request: { query: staleQuery },
    responses: { 200: json(staleAnswer, 'Longest overdue first.'), ...readProblems },
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
    summary: 'Jobs past twice their lease: any means that no reaper works',
    request: { query: staleQuery },
    responses: { 200: json(staleValidationAnswer, '`is_valid` if there is none.'), ...readProblems },
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
    summary: 'The last sweep of each table, and sweeps that found jobs',
    request: { query: sweepsQuery },
    responses: {
      200: json(sweepsAnswer, 'Newest first; 1,000 are kept per table.'),
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
    summary: 'Current state of rate limits; workers send the settings',
    request: { query: rateLimitsQuery },
    responses: { 200: json(rateLimitsAnswer, 'Most recently used first.'), ...readProblems },
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
