import { explainJob, listJobs, readEvents, readJob } from '../../commands/jobs/job-commands.ts'
import { parseFilter } from '../../commands/jobs/parse-filter.ts'
import { redactText } from '../../observe/redact.ts'
import { type Api, type ApiParts, contextOf, envelopeOf, etagOf, json, readProblems, viewOf } from '../api.ts'
import {
  attemptsAnswer,
  eventsAnswer,
  idParam,
  jobAnswer,
  jobListAnswer,
  jobListQuery,
  tableOnlyQuery,
  whyAnswer,
} from '../contract/index.ts'
import { z } from '../openapi/zod.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { ApiProblem, valueOf } from '../problem.ts'
import { attemptsOf } from '../wire/attempts.ts'
import { toWireEvent, toWireJob } from '../wire/jobs.ts'

const PAGE = 50

export function addJobRoutes(api: Api, parts: ApiParts): void {
  addList(api, parts)
  addJob(api, parts)
  addStory(api, parts)
}

function addList(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/jobs',
    operationId: 'listJobs',
    summary: 'Jobs, newest first',
    description:
      '`q` has key:value pairs with the keys type, status, queue, owner, worker, stage, error, cause, lease (<0), ' +
      'older and younger (2h). A job must match all. Continue with `next_cursor` until it is null.',
    request: { query: jobListQuery },
    responses: {
      200: json(jobListAnswer, 'A page; it may be short and still have a next one.'),
      ...readProblems,
    },
  })
  api.openapi(route, async (c) => {
    const { q = '', cursor, limit = PAGE, table, with_payload: withPayload = false } = c.req.valid('query')
    const parsed = parseFilter(q)
    if ('problem' in parsed) {
      const { message, token, position } = parsed.problem
      throw new ApiProblem('INVALID_ARGUMENT', `q: ${message}`, { token: { text: token, position } })
    }
    const input = { filter: parsed.filter, limit, cursor, table, withPayload }
    const page = valueOf(await listJobs(contextOf(c), input))
    const view = await viewOf(c, parts)
    return c.json(
      {
        ...envelopeOf(view),
        table: page.table,
        jobs: page.jobs.map((job) => toWireJob(job, page.table, view)),
        next_cursor: page.next,
        searched_to: page.searchedTo?.toISOString() ?? null,
      },
      200,
    )
  })
}

function addJob(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/jobs/{id}',
    operationId: 'readJob',
    summary: 'One job',
    request: { params: idParam, query: tableOnlyQuery },
    responses: {
      200: {
        ...json(jobAnswer, 'The job, and whether it can be retried. The ETag is its generation.'),
        headers: z.object({ etag: z.string() }),
      },
      ...readProblems,
    },
  })
  api.openapi(route, async (c) => {
    const found = valueOf(await readJob(contextOf(c), { ...c.req.valid('param'), ...c.req.valid('query') }))
    const view = await viewOf(c, parts)
    c.header('etag', etagOf(found.job))
    return c.json(
      {
        ...envelopeOf(view),
        job: toWireJob(found.job, found.table.name, view),
        retry: { is_allowed: found.retry.isAllowed, reason: found.retry.reason },
      },
      200,
    )
  })
}

function addStory(api: Api, parts: ApiParts): void {
  const request = { params: idParam, query: tableOnlyQuery }
  const events = createRoute({
    method: 'get',
    path: '/v1/jobs/{id}/events',
    operationId: 'listEvents',
    summary: 'Events of a job',
    request,
    responses: { 200: json(eventsAnswer, 'Oldest first.'), ...readProblems },
  })
  api.openapi(events, async (c) => {
    const ref = { ...c.req.valid('param'), ...c.req.valid('query') }
    const found = valueOf(await readEvents(contextOf(c), ref))
    const view = await viewOf(c, parts)
    return c.json({ ...envelopeOf(view), events: found.events.map((event) => toWireEvent(event, view)) }, 200)
  })

  const attempts = createRoute({
    method: 'get',
    path: '/v1/jobs/{id}/attempts',
    operationId: 'listAttempts',
    summary: 'Attempts of a job, derived from its events',
    request,
    responses: { 200: json(attemptsAnswer, 'Oldest first.'), ...readProblems },
  })
  api.openapi(attempts, async (c) => {
    const ref = { ...c.req.valid('param'), ...c.req.valid('query') }
    const found = valueOf(await readEvents(contextOf(c), ref))
    const view = await viewOf(c, parts)
    return c.json({ ...envelopeOf(view), attempts: attemptsOf(found.job, found.events, view) }, 200)
  })

  const why = createRoute({
    method: 'get',
    path: '/v1/jobs/{id}/why',
    operationId: 'explainJob',
    summary: 'Why a job is, or is not, running',
    request,
    responses: { 200: json(whyAnswer, 'Blocking reasons first.'), ...readProblems },
  })
  api.openapi(why, async (c) => {
    const ref = { ...c.req.valid('param'), ...c.req.valid('query') }
    const explained = valueOf(await explainJob(contextOf(c), ref))
    const { id, table, verdict, sentence, runsInMs, reasons, facts } = explained
    const view = await viewOf(c, parts)
    return c.json(
      {
        ...envelopeOf(view),
        id,
        table,
        verdict,
        sentence,
        runs_in_ms: runsInMs,
        attempt: facts.attempt,
        max_attempts: facts.maxAttempts,
        reasons: reasons.map(({ code, isBlocking, message, untilMs, remedies = [] }) => {
          return {
            code,
            is_blocking: isBlocking,
            message: redactText(message, view.redact),
            until_ms: untilMs,
            remedies: contextOf(c).actor.owner === undefined ? remedies : [],
          }
        }),
      },
      200,
    )
  })
}
