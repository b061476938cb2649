import { createRoute } from '@hono/zod-openapi'
import {
  createOperationCommands,
  createRedrive,
  listDeadLetters,
  planRedrive,
} from '../../commands/dead-letter-commands.ts'
import {
  type Api,
  type ApiParts,
  contextOf,
  envelopeOf,
  json,
  jsonBody,
  readProblems,
  viewOf,
  writeHeaders,
  writeProblems,
} from '../api.ts'
import {
  causeParam,
  deadLetterAnswer,
  deadLettersAnswer,
  deadLettersQuery,
  idParam,
  operationAnswer,
  operationsAnswer,
  redriveBody,
  tableOnlyQuery,
} from '../contract.ts'
import { ApiProblem, valueOf } from '../problem.ts'
import { toWireGroup, toWireOperation } from '../wire.ts'

const GROUPS = 100
const MAX_GROUPS = 1000

export function addDeadLetterRoutes(api: Api, parts: ApiParts): void {
  addGroups(api, parts)
  addRedrive(api, parts)
  addOperations(api, parts)
}

function addGroups(api: Api, parts: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/dead-letters',
    operationId: 'listDeadLetters',
    summary: 'Dead jobs by cause, the largest group first',
    request: { query: deadLettersQuery },
    responses: {
      200: json(deadLettersAnswer, 'Of the 10,000 newest dead jobs of a table.'),
      ...readProblems,
    },
  })
  api.openapi(list, async (c) => {
    const { limit = GROUPS, table } = c.req.valid('query')
    const found = valueOf(await listDeadLetters(contextOf(c), { limit, table }))
    const view = await viewOf(c, parts)
    const groups = found.groups.map((each) => toWireGroup(each.group, each.table, view))
    return c.json({ ...envelopeOf(view), groups, is_complete: found.isComplete }, 200)
  })

  const one = createRoute({
    method: 'get',
    path: '/v1/dead-letters/{cause_id}',
    operationId: 'readDeadLetters',
    summary: 'The dead jobs of one cause; list them with q=cause:…',
    request: { params: causeParam, query: tableOnlyQuery },
    responses: { 200: json(deadLetterAnswer, 'The group.'), ...readProblems },
  })
  api.openapi(one, async (c) => {
    const { cause_id: causeId } = c.req.valid('param')
    const input = { limit: MAX_GROUPS, ...c.req.valid('query') }
    const { groups } = valueOf(await listDeadLetters(contextOf(c), input))
    const found = groups.find(({ group }) => group.causeId === causeId)
    if (found === undefined) throw new ApiProblem('JOB_NOT_FOUND', `no dead job has the cause ${causeId}`)
    const view = await viewOf(c, parts)
    return c.json({ ...envelopeOf(view), group: toWireGroup(found.group, found.table, view) }, 200)
  })
}

function addRedrive(api: Api, parts: ApiParts): void {
  const redrive = createRedrive(parts.operations)
  const route = createRoute({
    method: 'post',
    path: '/v1/dead-letters/{cause_id}/redrive',
    operationId: 'redrive',
    summary: 'Bring the dead jobs of a cause back: a canary first, then at a rate, with an automatic stop',
    request: {
      params: causeParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(redriveBody, true),
    },
    responses: {
      200: json(operationAnswer, 'With `dry_run`: what would be brought back.'),
      202: json(operationAnswer, 'It has begun: watch it under /v1/operations.'),
      ...writeProblems,
    },
  })
  api.openapi(route, async (c) => {
    const body = c.req.valid('json')
    const { cause_id: causeId } = c.req.valid('param')
    const { canary, limit, expect, reason } = body
    const input = {
      causeId,
      ...c.req.valid('query'),
      canary,
      limit,
      expect,
      reason,
      ratePerS: body.rate_per_s,
      keepAttempts: body.keep_attempts,
    }
    const context = contextOf(c)
    const now = await parts.clock.now()
    if (body.dry_run !== true) {
      const operation = valueOf(await redrive(context, input))
      return c.json({ ...envelopeOf({ now }), operation: toWireOperation(operation) }, 202)
    }
    const { table, jobs } = valueOf(await planRedrive(context, input))
    const counts = { redriven: 0, refused: 0, succeeded: 0, failed: 0, stopped: null, phase: null }
    const plan = { id: '', table: table.name, causeId, actor: context.actor.id, reason: reason ?? null }
    const operation = { ...plan, ...counts, total: jobs.length, beganAt: now, endedAt: null }
    return c.json({ ...envelopeOf({ now }), operation: toWireOperation(operation) }, 200)
  })
}

function addOperations(api: Api, { operations, clock }: ApiParts): void {
  const commands = createOperationCommands(operations)
  const list = createRoute({
    method: 'get',
    path: '/v1/operations',
    operationId: 'listOperations',
    summary: 'Operations of this server process, the newest first',
    responses: { 200: json(operationsAnswer, 'They are forgotten with the process.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const found = valueOf(await commands.listOperations(contextOf(c), undefined))
    return c.json({ ...envelopeOf({ now: await clock.now() }), operations: found.map(toWireOperation) }, 200)
  })

  const read = createRoute({
    method: 'get',
    path: '/v1/operations/{id}',
    operationId: 'readOperation',
    summary: 'One operation and how far it is',
    request: { params: idParam },
    responses: { 200: json(operationAnswer, 'The operation.'), ...readProblems },
  })
  api.openapi(read, async (c) => {
    const found = valueOf(await commands.readOperation(contextOf(c), c.req.valid('param').id))
    return c.json({ ...envelopeOf({ now: await clock.now() }), operation: toWireOperation(found) }, 200)
  })

  const abort = createRoute({
    method: 'post',
    path: '/v1/operations/{id}/abort',
    operationId: 'abortOperation',
    summary: 'Stop an operation; what it brought back stays so',
    request: { params: idParam },
    responses: { 200: json(operationAnswer, 'It has ended.'), ...writeProblems },
  })
  api.openapi(abort, async (c) => {
    const ended = valueOf(await commands.abortOperation(contextOf(c), c.req.valid('param').id))
    return c.json({ ...envelopeOf({ now: await clock.now() }), operation: toWireOperation(ended) }, 200)
  })
}
