import type { Command } from '../../commands/command.ts'
import {
  type HoldInput,
  holdBreaker,
  limitQueue,
  listBreakers,
  listQueues,
  listSchedules,
  type PauseChange,
  pauseQueue,
  previewSweep,
  resumeBreaker,
  resumeQueue,
  sweep,
} from '../../commands/queue-control-commands.ts'
import type { Breaker } from '../../store/job-store.ts'
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
  breakerAnswer,
  breakersAnswer,
  holdBody,
  limitAnswer,
  limitBody,
  nameParam,
  pauseAnswer,
  queuesAnswer,
  schedulesAnswer,
  sweepAnswer,
  sweepBody,
  tableOnlyQuery,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'
import { toWireBreaker } from '../wire/breakers.ts'
import { toWireQueue, toWireReaped, toWireSchedule } from '../wire/jobs.ts'

export function addQueueControlRoutes(api: Api, parts: ApiParts): void {
  addLists(api, parts)
  addPause(api, parts, 'pause', pauseQueue, 'Pause a queue: stops claims; running jobs continue')
  addPause(api, parts, 'resume', resumeQueue, 'Resume a queue')
  addLimit(api, parts)
  addHold(api, parts, 'hold', holdBreaker, 'Hold a breaker: stops claims for its dependency')
  addHold(api, parts, 'resume', resumeBreaker, 'End a hold and close the breaker')
  addSweep(api, parts)
}

function addLists(api: Api, { clock }: ApiParts): void {
  const now = async () => envelopeOf({ now: await clock.now() })
  const queues = createRoute({
    method: 'get',
    path: '/v1/queues',
    operationId: 'listQueues',
    summary: 'Queues with unfinished jobs, a pause or a dependency',
    request: { query: tableOnlyQuery },
    responses: { 200: json(queuesAnswer, 'By table and name.'), ...readProblems },
  })
  api.openapi(queues, async (c) => {
    const found = valueOf(await listQueues(contextOf(c), c.req.valid('query')))
    const listed = found.queues.map(({ table, value }) => toWireQueue(value, table))
    return c.json({ ...(await now()), queues: listed, is_complete: found.isComplete }, 200)
  })

  const breakers = createRoute({
    method: 'get',
    path: '/v1/breakers',
    operationId: 'listBreakers',
    summary: 'Circuit breakers',
    responses: { 200: json(breakersAnswer, 'By name.'), ...readProblems },
  })
  api.openapi(breakers, async (c) => {
    const found = valueOf(await listBreakers(contextOf(c), undefined))
    return c.json({ ...(await now()), breakers: found.map(toWireBreaker) }, 200)
  })

  const schedules = createRoute({
    method: 'get',
    path: '/v1/schedules',
    operationId: 'listSchedules',
    summary: 'Recurring jobs',
    request: { query: tableOnlyQuery },
    responses: { 200: json(schedulesAnswer, 'By table and name.'), ...readProblems },
  })
  api.openapi(schedules, async (c) => {
    const found = valueOf(await listSchedules(contextOf(c), c.req.valid('query')))
    const shown = found.map(({ table, value }) => toWireSchedule(value, table))
    return c.json({ ...(await now()), schedules: shown }, 200)
  })
}

function addPause(
  api: Api,
  { clock }: ApiParts,
  verb: 'pause' | 'resume',
  run: Command<HoldInput, PauseChange>,
  summary: string,
): void {
  const route = createRoute({
    method: 'post',
    path: `/v1/queues/{name}/${verb}`,
    operationId: run.commandName,
    summary,
    request: {
      params: nameParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(holdBody, false),
    },
    responses: { 200: json(pauseAnswer, 'The new state.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { reason, duration_ms: durationMs } = c.req.valid('json')
    const input = { ...c.req.valid('param'), ...c.req.valid('query'), reason, durationMs }
    const { queue, table, isPaused, isChanged } = valueOf(await run(contextOf(c), input))
    const now = await clock.now()
    return c.json({ ...envelopeOf({ now }), queue, table, is_paused: isPaused, is_changed: isChanged }, 200)
  })
}

function addLimit(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/queues/{name}/limit',
    operationId: 'limitQueue',
    summary: 'Limit how many jobs of a queue, and of each of its groups, run at once',
    request: {
      params: nameParam,
      query: tableOnlyQuery,
      headers: writeHeaders,
      ...jsonBody(limitBody, false),
    },
    responses: { 200: json(limitAnswer, 'Whether anything changed.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const {
      reason,
      concurrency,
      group_concurrency: groupConcurrency,
      group_order: groupOrder,
    } = c.req.valid('json')
    const limits = { concurrency, groupConcurrency, groupOrder }
    const input = { ...c.req.valid('param'), ...c.req.valid('query'), reason, limits }
    const { queue, table, isChanged } = valueOf(await limitQueue(contextOf(c), input))
    return c.json({ ...envelopeOf({ now: await clock.now() }), queue, table, is_changed: isChanged }, 200)
  })
}

function addHold(
  api: Api,
  { clock }: ApiParts,
  verb: 'hold' | 'resume',
  run: Command<HoldInput, Breaker>,
  summary: string,
): void {
  const route = createRoute({
    method: 'post',
    path: `/v1/breakers/{name}/${verb}`,
    operationId: run.commandName,
    summary,
    request: { params: nameParam, headers: writeHeaders, ...jsonBody(holdBody, false) },
    responses: { 200: json(breakerAnswer, 'The new state.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { reason, duration_ms: durationMs } = c.req.valid('json')
    const breaker = valueOf(await run(contextOf(c), { ...c.req.valid('param'), reason, durationMs }))
    return c.json({ ...envelopeOf({ now: await clock.now() }), breaker: toWireBreaker(breaker) }, 200)
  })
}

function addSweep(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/reaper/run',
    operationId: 'sweep',
    summary: 'Run one sweep; with dry_run only preview it',
    request: { headers: writeHeaders, ...jsonBody(sweepBody, false) },
    responses: { 200: json(sweepAnswer, 'Requeued and ended jobs.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { dry_run: isDryRun = false, table, reason } = c.req.valid('json')
    const swept = valueOf(await (isDryRun ? previewSweep : sweep)(contextOf(c), { table, reason }))
    return c.json(
      {
        ...envelopeOf({ now: await clock.now() }),
        table: swept.table,
        dry_run: isDryRun,
        requeuedIds: swept.requeuedIds,
        failedIds: swept.failedIds,
        reaped: swept.reaped.map(toWireReaped),
        held: swept.held,
        hold_reason: swept.holdReason,
      },
      200,
    )
  })
}
