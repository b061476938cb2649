import { given } from '../../commands/given.ts'
import {
  cancelJob,
  discardJob,
  enqueueJob,
  type JobChange,
  retryJob,
} from '../../commands/jobs/job-commands.ts'
import { invalidArgument } from '../../errors/index.ts'
import type { JsonValue, NewJob } from '../../job/job.ts'
import {
  type Api,
  type ApiParts,
  contextOf,
  envelopeOf,
  json,
  jsonBody,
  readGeneration,
  writeHeaders,
  writeProblems,
} from '../api.ts'
import {
  changeAnswer,
  changeBody,
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
  const { type, queue, priority, stage, owner, group, traceparent } = body
  return {
    type,
    ...given({
      queue,
      priority,
      stage,
      owner,
      group,
      traceparent,
      payload: body.payload as JsonValue | undefined,
      delayMs: body.delay_ms,
      runAt: timeOf(body.run_at),
      expectedDurationMs: body.expected_duration_ms,
      maxAttempts: body.max_attempts,
      retry: body.backoff_steps_ms === undefined ? undefined : { backoff: body.backoff_steps_ms },
      expiresAt: timeOf(body.expires_at),
      ttlMs: body.ttl_ms,
      ...dedupeOf(body),
    }),
  }
}

const timeOf = (time: string | undefined) => (time === undefined ? undefined : new Date(time))

function dedupeOf({ dedupe_key, dedupe_for_ms, dedupe_replace }: NewJobRequest): Partial<NewJob> {
  if (dedupe_for_ms === undefined && dedupe_replace === undefined) return { dedupeKey: dedupe_key }
  if (dedupe_key === undefined)
    throw invalidArgument('dedupe_key', null, 'a text, if there is dedupe_for_ms or dedupe_replace')
  return { dedupe: { key: dedupe_key, forMs: dedupe_for_ms, replace: dedupe_replace } }
}

function addEnqueue(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/jobs',
    operationId: 'enqueueJob',
    summary: 'Enqueue a job',
    description: 'With an `Idempotency-Key`, a repeated request gets the first answer for a day.',
    request: { headers: writeHeaders, ...jsonBody(newJobSchema, true) },
    responses: {
      200: json(enqueueAnswer, 'A job has this dedupe key: nothing was enqueued, or it was replaced.'),
      201: json(enqueueAnswer, 'The job is waiting for a worker.'),
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

async function answerOf({ id, table, outcome, next }: JobChange, { clock }: ApiParts) {
  return { ...envelopeOf({ now: await clock.now() }), id, table, outcome, next: next ?? null }
}

function addRetry(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/jobs/{id}/retry',
    operationId: 'retryJob',
    summary: 'Retry a dead job, or make a waiting job due now',
    request: { ...changeRequest, ...jsonBody(retryBody, false) },
    responses: { 200: json(changeAnswer, 'The job is waiting for a worker.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { reset_attempts: isReset = true, now: isNow = false, reason } = c.req.valid('json')
    const change = valueOf(
      await retryJob(contextOf(c), {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
        keepAttempts: !isReset,
        isNow,
        reason,
      }),
    )
    return c.json(await answerOf(change, parts), 200)
  })
}

/** From document 004: an owner retries a dead job while its source exists (OPS-1). */
function addOwnerRetry(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/api/jobs/{id}/retry',
    operationId: 'retryOwnJob',
    summary: 'Retry a dead job as its owner',
    description:
      'Problems have one of the ten public codes in `code`, and the catalogue code in `catalog_code`.',
    request: { ...changeRequest, ...jsonBody(changeBody, false) },
    responses: { 200: json(changeAnswer, 'The job is waiting for a worker.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const context = contextOf(c)
    if (context.actor.owner === undefined)
      throw new ApiProblem(
        'FORBIDDEN',
        'only the owner of a job may use this route; others use /v1/jobs/{id}/retry',
      )
    const change = valueOf(
      await retryJob(context, {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
        reason: c.req.valid('json').reason,
      }),
    )
    return c.json(await answerOf(change, parts), 200)
  })
}

function addCancel(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/jobs/{id}/cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job: a waiting one at once, a running one by its worker',
    request: { ...changeRequest, ...jsonBody(changeBody, false) },
    responses: { 200: json(changeAnswer, 'cancelled or cancel-requested'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const change = valueOf(
      await cancelJob(contextOf(c), {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
        reason: c.req.valid('json').reason,
      }),
    )
    return c.json(await answerOf(change, parts), 200)
  })
}

function addDiscard(api: Api, parts: ApiParts): void {
  const query = z.strictObject({ table: tableQuery, reason: reasonSchema.optional() })
  const route = createRoute({
    method: 'delete',
    path: '/v1/jobs/{id}',
    operationId: 'discardJob',
    summary: 'Permanently delete a job that is not running',
    request: { ...changeRequest, query },
    responses: { 200: json(changeAnswer, 'An event records actor and reason.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const change = valueOf(
      await discardJob(contextOf(c), {
        ...c.req.valid('param'),
        ...c.req.valid('query'),
        generation: readGeneration(c.req.valid('header')['if-match']),
      }),
    )
    return c.json(await answerOf(change, parts), 200)
  })
}
