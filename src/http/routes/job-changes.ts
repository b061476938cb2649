import {
  cancelJob,
  discardJob,
  enqueueJob,
  type JobChange,
  retryJob,
} from '../../commands/jobs/job-commands.ts'
import type { JsonValue, NewJob } from '../../job/job.ts'
import {
  type Api,
  type ApiParts,
  contextOf,
  envelopeOf,
  json,
  jsonBody,
  present,
  readGeneration,
  writeHeaders,
  writeProblems,
} from '../api.ts'
import {
  actAnswer,
  actBody,
  enqueueAnswer,
  idParam,
  type NewJobRequest,
  newJobSchema,
  reasonSchema,
  retryBody,
  tableOnlyQuery,
  tableQuery,
} from '../contract/index.ts'
import { z } from '../openapi/zod.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { ApiProblem, valueOf } from '../problem.ts'

export function addJobChangeRoutes(api: Api, parts: ApiParts): void {
  addEnqueue(api, parts)
  addRetry(api, parts)
  addOwnerRetry(api, parts)
  addCancel(api, parts)
  addDiscard(api, parts)
}

function toNewJob(body: NewJobRequest): NewJob {
  const {
    payload,
    delay_ms,
    run_at,
    expected_duration_ms,
    max_attempts,
    dedupe_key,
    table: _,
    ...same
  } = body
  return {
    ...present(same),
    type: body.type,
    ...present({
      payload: payload as JsonValue | undefined,
      delayMs: delay_ms,
      runAt: run_at === undefined ? undefined : new Date(run_at),
      expectedDurationMs: expected_duration_ms,
      maxAttempts: max_attempts,
      dedupeKey: dedupe_key,
    }),
  }
}

function addEnqueue(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/jobs',
    operationId: 'enqueueJob',
    summary: 'Enqueue a job',
    description: 'With an `Idempotency-Key` the same request sent again is answered as the first, for a day.',
    request: { headers: writeHeaders, ...jsonBody(newJobSchema, true) },
    responses: {
      200: json(enqueueAnswer, 'An unfinished job has its dedupe key already.'),
      201: json(enqueueAnswer, 'It waits for a worker.'),
      ...writeProblems,
    },
  })
  api.openapi(route, async (c) => {
    const body = c.req.valid('json')
    const input = { job: toNewJob(body), table: body.table }
    const { id, table, outcome } = valueOf(await enqueueJob(contextOf(c), input))
    const answer = { ...envelopeOf({ now: await clock.now() }), id, table, outcome }
    return outcome === 'created' ? c.json(answer, 201) : c.json(answer, 200)
  })
}

const changeRequest = { params: idParam, query: tableOnlyQuery, headers: writeHeaders }

async function answerOf({ id, table, outcome }: JobChange, { clock }: ApiParts) {
  return { ...envelopeOf({ now: await clock.now() }), id, table, outcome }
}

function addRetry(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/jobs/{id}/retry',
    operationId: 'retryJob',
    summary: 'Bring a dead job back, or end the wait of one in backoff',
    request: { ...changeRequest, ...jsonBody(retryBody, false) },
    responses: { 200: json(actAnswer, 'It waits for a worker.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { reset_attempts: isReset = true, now: isNow = false, reason } = c.req.valid('json')
    const act = valueOf(
      await retryJob(contextOf(c), {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
        keepAttempts: !isReset,
        isNow,
        reason,
      }),
    )
    return c.json(await answerOf(act, parts), 200)
  })
}

/** As document 004 has it: the owner's own dead job, while its source exists (OPS-1). */
function addOwnerRetry(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/api/jobs/{id}/retry',
    operationId: 'retryOwnJob',
    summary: 'An owner brings a dead job of its own back',
    description:
      'Its problems carry one of the ten public codes in `code`, and the catalogue’s in `catalog_code`.',
    request: { ...changeRequest, ...jsonBody(actBody, false) },
    responses: { 200: json(actAnswer, 'It waits for a worker.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const context = contextOf(c)
    if (context.actor.owner === undefined)
      throw new ApiProblem(
        'FORBIDDEN',
        'only the owner of a job retries it here; others use /v1/jobs/{id}/retry',
      )
    const act = valueOf(
      await retryJob(context, {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
        reason: c.req.valid('json').reason,
      }),
    )
    return c.json(await answerOf(act, parts), 200)
  })
}

function addCancel(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/jobs/{id}/cancel',
    operationId: 'cancelJob',
    summary: 'Cancel: a waiting job at once, a running one through its next heartbeat',
    request: { ...changeRequest, ...jsonBody(actBody, false) },
    responses: { 200: json(actAnswer, 'cancelled or cancel-requested'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const act = valueOf(
      await cancelJob(contextOf(c), {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
        reason: c.req.valid('json').reason,
      }),
    )
    return c.json(await answerOf(act, parts), 200)
  })
}

function addDiscard(api: Api, parts: ApiParts): void {
  const query = z.strictObject({ table: tableQuery, reason: reasonSchema.optional() })
  const route = createRoute({
    method: 'delete',
    path: '/v1/jobs/{id}',
    operationId: 'discardJob',
    summary: 'Delete a job for good, unless it is running',
    request: { ...changeRequest, query },
    responses: { 200: json(actAnswer, 'One event tells who did it and why.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const act = valueOf(
      await discardJob(contextOf(c), {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
      }),
    )
    return c.json(await answerOf(act, parts), 200)
  })
}
