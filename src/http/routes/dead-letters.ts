import { listDeadLetters, markCause } from '../../commands/jobs/dead-letter-commands.ts'
import { planRedrive, redrive } from '../../commands/jobs/operation-commands.ts'
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
  markCauseBody,
  operationAnswer,
  redriveBody,
  tableOnlyQuery,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { ApiProblem, valueOf } from '../problem.ts'
import { toWireGroup, toWireOperation, toWirePlan } from '../wire/operations.ts'

const GROUPS = 100
const MAX_GROUPS = 1000

export function addDeadLetterRoutes(api: Api, parts: ApiParts): void {
  addGroups(api, parts)
  addMark(api, parts)
  addRedrive(api, parts)
}

function addGroups(api: Api, parts: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/dead-letters',
    operationId: 'listDeadLetters',
    summary: 'Dead jobs by cause, largest group first',
    request: { query: deadLettersQuery },
    responses: {
      200: json(deadLettersAnswer, 'Of the 10,000 newest dead jobs per table.'),
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
    summary: 'One cause of dead jobs; list its jobs with q=cause:…',
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

function addMark(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'patch',
    path: '/v1/dead-letters/{cause_id}',
    operationId: 'markCause',
    summary: 'Set the state of a cause: new, investigating, resolved or ignored',
    request: {
      params: causeParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(markCauseBody, true),
    },
    responses: {
      200: json(deadLetterAnswer, 'The group. `back_since` is set if a resolved cause is back.'),
      ...writeProblems,
    },
  })
  api.openapi(route, async (c) => {
    const { cause_id: causeId } = c.req.valid('param')
    const input = { causeId, ...c.req.valid('query'), ...c.req.valid('json') }
    const { group, table } = valueOf(await markCause(contextOf(c), input))
    const view = await viewOf(c, parts)
    return c.json({ ...envelopeOf(view), group: toWireGroup(group, table, view) }, 200)
  })
}

function addRedrive(api: Api, { runner, clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/dead-letters/{cause_id}/redrive',
    operationId: 'redrive',
    summary: 'Retry the dead jobs of a cause: a canary first, then at a rate, with an automatic stop',
    request: {
      params: causeParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(redriveBody, true),
    },
    responses: {
      200: json(operationAnswer, 'With `dry_run`: the plan.'),
      202: json(operationAnswer, 'Started; follow it at /v1/operations.'),
      ...writeProblems,
    },
  })
  api.openapi(route, async (c) => {
    const body = c.req.valid('json')
    const { cause_id: causeId } = c.req.valid('param')
    const { canary, limit, expect, reason, rate_per_s: ratePerS, keep_attempts: keepAttempts } = body
    const options = { canary, limit, expect, reason, ratePerS, keepAttempts }
    const input = { causeId, ...c.req.valid('query'), ...options }
    const context = contextOf(c)
    const now = await clock.now()
    if (body.dry_run !== true) {
      const begun = valueOf(await redrive(context, input))
      runner.wake()
      return c.json({ ...envelopeOf({ now }), operation: toWireOperation(begun) }, 202)
    }
    const plan = valueOf(await planRedrive(context, input))
    const asked = { action: 'redrive', q: `status:dead cause:${causeId}`, causeId } as const
    const who = { actor: context.actor.id, reason: reason ?? null }
    return c.json({ ...envelopeOf({ now }), operation: toWirePlan({ ...plan, ...asked, ...who }) }, 200)
  })
}
