import { given } from '../../commands/given.ts'
import {
  claimJobs,
  completeJob,
  type EndedLease,
  failJob,
  heartbeatJobs,
  listLeases,
  releaseJob,
  reportProgress,
} from '../../commands/lease-commands.ts'
import type { JsonValue } from '../../job/job.ts'
import {
  type Api,
  type ApiParts,
  contextOf,
  envelopeOf,
  json,
  jsonBody,
  readProblems,
  viewOf,
  writeProblems,
} from '../api.ts'
import {
  claimAnswer,
  claimBody,
  completeBody,
  failBody,
  heartbeatAnswer,
  heartbeatBody,
  leaseListAnswer,
  leaseListQuery,
  outcomeAnswer,
  progressAnswer,
  progressBody,
  releaseBody,
} from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'
import { toWireClaimed, toWireRunning } from '../wire/jobs.ts'

const SHOWN = 200

export function addLeaseRoutes(api: Api, parts: ApiParts): void {
  addList(api, parts)
  addClaim(api, parts)
  addHeartbeat(api, parts)
  addProgress(api, parts)
  addComplete(api, parts)
  addFail(api, parts)
  addRelease(api, parts)
}

function addList(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/leases',
    operationId: 'listLeases',
    summary: 'Running jobs and their remaining lease',
    request: { query: leaseListQuery },
    responses: { 200: json(leaseListAnswer, 'Newest jobs first.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const { limit = SHOWN, table } = c.req.valid('query')
    const found = valueOf(await listLeases(contextOf(c), { limit, table }))
    const leases = found.leases.map((lease) => toWireRunning(lease.job, lease.table))
    return c.json({ ...envelopeOf(await viewOf(c, parts)), leases, is_complete: found.isComplete }, 200)
  })
}

function addClaim(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/leases/claim',
    operationId: 'claimJobs',
    summary: 'Claim due jobs, each with a lease',
    description: 'Later calls for a job need the `lease_id` of this answer. It is a secret.',
    request: jsonBody(claimBody, true),
    responses: { 200: json(claimAnswer, 'Empty if nothing is due.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { worker_id: workerId, queues, limit = 1, types, lease_ms: leaseMs, table } = c.req.valid('json')
    const claimed = valueOf(await claimJobs(contextOf(c), { workerId, queues, limit, types, leaseMs, table }))
    const jobs = claimed.jobs.map(toWireClaimed)
    return c.json({ ...envelopeOf({ now: await clock.now() }), table: claimed.table, jobs }, 200)
  })
}

function addHeartbeat(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/leases/heartbeat',
    operationId: 'heartbeatJobs',
    summary: 'Extend leases',
    description: 'One answer per lease; a lost lease is an answer, not an error. Stop working on lost jobs.',
    request: jsonBody(heartbeatBody, true),
    responses: { 200: json(heartbeatAnswer, 'In the order of the request.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { leases, lease_ms: leaseMs, table } = c.req.valid('json')
    const asked = leases.map(({ id, lease_id: leaseId }) => ({ jobId: id, leaseId }))
    const report = valueOf(await heartbeatJobs(contextOf(c), { leases: asked, leaseMs, table }))
    const answers = report.answers.map(({ jobId, leaseId, answer }) => {
      return { id: jobId, lease_id: leaseId, answer }
    })
    const now = await clock.now()
    return c.json({ ...envelopeOf({ now }), answers, reaper_age_ms: report.reaperAgeMs }, 200)
  })
}

function addProgress(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/leases/progress',
    operationId: 'reportProgress',
    summary: 'Report the progress of running jobs',
    description:
      'The last value is kept, and extends no lease. `is_kept` is false if the lease is lost, or the row locked for the moment.',
    request: jsonBody(progressBody, true),
    responses: { 200: json(progressAnswer, 'In the order of the request.'), ...writeProblems },
  })
  api.openapi(route, async (c) => {
    const { reports, table } = c.req.valid('json')
    const asked = reports.map(({ id, lease_id: leaseId, value, text = null }) => ({
      jobId: id,
      leaseId,
      value,
      text,
    }))
    const kept = valueOf(await reportProgress(contextOf(c), { reports: asked, table }))
    const answers = reports.map(({ id, lease_id }, n) => ({ id, lease_id, is_kept: kept[n] === true }))
    return c.json({ ...envelopeOf({ now: await clock.now() }), answers }, 200)
  })
}

async function answerOf({ id, outcome, retryInMs }: EndedLease, { clock }: ApiParts) {
  const answer = { ...envelopeOf({ now: await clock.now() }), id, outcome }
  return retryInMs === undefined ? answer : { ...answer, retry_in_ms: retryInMs }
}

const outcomeResponses = {
  responses: {
    200: json(outcomeAnswer, 'already-done: this lease already ended the job.'),
    ...writeProblems,
  },
}

function addComplete(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/leases/complete',
    operationId: 'completeJob',
    summary: 'Complete a job',
    request: jsonBody(completeBody, true),
    ...outcomeResponses,
  })
  api.openapi(route, async (c) => {
    const { id, lease_id: leaseId, result, table } = c.req.valid('json')
    const input = { jobId: id, leaseId, result: result as JsonValue | undefined, table }
    return c.json(await answerOf(valueOf(await completeJob(contextOf(c), input)), parts), 200)
  })
}

function addFail(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/leases/fail',
    operationId: 'failJob',
    summary: 'Fail an attempt: the policy decides between retry, dead and cancelled',
    request: jsonBody(failBody, true),
    ...outcomeResponses,
  })
  api.openapi(route, async (c) => {
    const body = c.req.valid('json')
    const { code, reason, category, stack, cause } = body
    const failure = {
      jobId: body.id,
      leaseId: body.lease_id,
      ...given({
        code,
        reason,
        category,
        stack,
        cause,
        isRetryable: body.is_retryable,
        retryInMs: body.retry_in_ms,
      }),
    }
    return c.json(
      await answerOf(valueOf(await failJob(contextOf(c), { failure, table: body.table })), parts),
      200,
    )
  })
}

function addRelease(api: Api, parts: ApiParts): void {
  const route = createRoute({
    method: 'post',
    path: '/v1/leases/release',
    operationId: 'releaseJob',
    summary: 'Release a job without spending an attempt',
    request: jsonBody(releaseBody, true),
    ...outcomeResponses,
  })
  api.openapi(route, async (c) => {
    const { id, lease_id: leaseId, delay_ms: delayMs, cause, reason, table } = c.req.valid('json')
    const input = { jobId: id, leaseId, delayMs, cause, reason, table }
    return c.json(await answerOf(valueOf(await releaseJob(contextOf(c), input)), parts), 200)
  })
}
