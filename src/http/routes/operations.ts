import {
  abortOperation,
  beginOperation,
  listOperationJobs,
  listOperations,
  planOperation,
  readOperation,
} from '../../commands/jobs/operation-commands.ts'
import { parseFilter } from '../../commands/jobs/parse-filter.ts'
import type { JobFilter } from '../../store/job-store.ts'
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
  idParam,
  operationAnswer,
  operationBody,
  operationJobsAnswer,
  operationJobsQuery,
  operationsAnswer,
  operationsQuery,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { ApiProblem, valueOf } from '../problem.ts'
import { toWireOperation, toWireOperationJob, toWirePlan, toWireReadOperation } from '../wire/operations.ts'

const PAGE = 100
const MAX_POSITION = 100_000

export function addOperationRoutes(api: Api, parts: ApiParts): void {
  addBegin(api, parts)
  addLists(api, parts)
  addJobs(api, parts)
  addAbort(api, parts)
}

function filterOf(q: string): JobFilter {
  const parsed = parseFilter(q)
  if ('filter' in parsed) return parsed.filter
  const { message, token, position } = parsed.problem
  throw new ApiProblem('INVALID_ARGUMENT', `q: ${message}`, { token: { text: token, position } })
}

function addBegin(api: Api, { runner, clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/operations',
    operationId: 'beginOperation',
    summary: 'Change all jobs that match `q`: retry, run-now, cancel, discard or redrive',
    description:
      'The jobs are chosen at once, at most 100,000, and changed in the background: those that the action can change, ' +
      'as of `as_of`. Needs ops:bulk and the scope of the action. `expect` refuses another number of jobs.',
    request: { headers: writeHeaders, ...jsonBody(operationBody, true) },
    responses: {
      200: json(operationAnswer, 'With `dry_run`: the number of jobs; `at_least` if the count stopped.'),
      202: json(operationAnswer, 'Started; follow it at /v1/operations/{id}.'),
      ...writeProblems,
    },
  })
  api.openapi(route, async (c) => {
    const body = c.req.valid('json')
    const { action, q, table, canary, limit, expect, reason } = body
    const filter = filterOf(q)
    const asOf = body.as_of === undefined ? undefined : new Date(body.as_of)
    const options = {
      canary,
      limit,
      expect,
      reason,
      ratePerS: body.rate_per_s,
      keepAttempts: body.keep_attempts,
    }
    const input = { action, filter, q, table, asOf, ...options }
    const context = contextOf(c)
    const now = await clock.now()
    if (body.dry_run !== true) {
      const begun = valueOf(await beginOperation(context, input))
      runner.wake()
      return c.json({ ...envelopeOf({ now }), operation: toWireOperation(begun) }, 202)
    }
    const plan = valueOf(await planOperation(context, input))
    const asked = { action, q, causeId: filter.causeId ?? null }
    const who = { actor: context.actor.id, reason: reason ?? null }
    return c.json({ ...envelopeOf({ now }), operation: toWirePlan({ ...plan, ...asked, ...who }) }, 200)
  })
}

function addLists(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/operations',
    operationId: 'listOperations',
    summary: 'Operations, newest first',
    request: { query: operationsQuery },
    responses: { 200: json(operationsAnswer, 'Kept for a week after they end.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const { limit = PAGE, cursor, table } = c.req.valid('query')
    const page = valueOf(await listOperations(contextOf(c), { limit, cursor, table }))
    const operations = page.operations.map(toWireOperation)
    return c.json({ ...envelopeOf({ now: await clock.now() }), operations, next_cursor: page.next }, 200)
  })

  const read = createRoute({
    method: 'get',
    path: '/v1/operations/{id}',
    operationId: 'readOperation',
    summary: 'One operation and its progress',
    request: { params: idParam },
    responses: { 200: json(operationAnswer, 'The operation.'), ...readProblems },
  })
  api.openapi(read, async (c) => {
    const found = valueOf(await readOperation(contextOf(c), c.req.valid('param').id))
    return c.json({ ...envelopeOf({ now: await clock.now() }), operation: toWireReadOperation(found) }, 200)
  })
}

function addJobs(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/operations/{id}/jobs',
    operationId: 'listOperationJobs',
    summary: 'Outcomes of its jobs, in order',
    request: { params: idParam, query: operationJobsQuery },
    responses: {
      200: json(operationJobsAnswer, 'Continue with `next_cursor` until it is null.'),
      ...readProblems,
    },
  })
  api.openapi(route, async (c) => {
    const { limit = PAGE, cursor } = c.req.valid('query')
    const input = { id: c.req.valid('param').id, limit, cursor: readPosition(cursor) }
    const page = valueOf(await listOperationJobs(contextOf(c), input))
    const next = page.next === null ? null : String(page.next)
    const jobs = page.jobs.map(toWireOperationJob)
    return c.json({ ...envelopeOf({ now: await clock.now() }), jobs, next_cursor: next }, 200)
  })
}

function readPosition(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (/^\d{1,6}$/.test(cursor) && Number(cursor) <= MAX_POSITION) return Number(cursor)
  throw new ApiProblem('INVALID_ARGUMENT', 'cursor: must be the next_cursor of an earlier page')
}

function addAbort(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/operations/{id}/abort',
    operationId: 'abortOperation',
    summary: 'Stop an operation; changed jobs stay changed',
    request: { params: idParam },
    responses: { 200: json(operationAnswer, 'The operation has ended.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const ended = valueOf(await abortOperation(contextOf(c), c.req.valid('param').id))
    return c.json({ ...envelopeOf({ now: await clock.now() }), operation: toWireOperation(ended) }, 200)
  })
}
