// The HTTP API as one fetch handler. A request goes through the guards from top to bottom, then to its route; the routes call
// commands, and those check who may do what.
import { OpenAPIHono } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import type { CommandContext } from '../commands/command.ts'
import { Operations } from '../commands/operations.ts'
import type { Api, ApiEnv, ApiParts } from './api.ts'
import type { App, AppOptions } from './app-options.ts'
import { type Authenticate, createAuthenticate } from './authenticate.ts'
import { addDashboardRoutes } from './dashboard-files.ts'
import { DatabaseClock } from './database-clock.ts'
import { docsStyle, renderDocsPage } from './docs-page.ts'
import { requireJson, requireLoopbackHost, requireOwnPage, secureHeaders } from './guards.ts'
import { idempotency } from './idempotency.ts'
import { LiveFeed } from './live-feed.ts'
import { packageVersion } from './package-version.ts'
import { ApiProblem, problemResponse, publicProblemBody, toApiProblem } from './problem.ts'
import { RequestLimit } from './request-limit.ts'
import { addBrakeRoutes } from './routes/brakes.ts'
import { addDeadLetterRoutes } from './routes/dead-letters.ts'
import { addJobChangeRoutes } from './routes/job-changes.ts'
import { addJobRoutes } from './routes/jobs.ts'
import { addLeaseRoutes } from './routes/leases.ts'
import { addMetricsRoute, addProbeRoutes } from './routes/probes.ts'
import { addServerRoutes } from './routes/server.ts'
import { addSessionRoutes } from './routes/session.ts'
import { addStreamRoute } from './routes/stream.ts'
import { addTokenRoutes } from './routes/tokens.ts'
import { addWorkerRoutes } from './routes/workers.ts'

const MAX_BODY_BYTES = 1_048_576
const RATE_LIMIT = { ratePerS: 50, burst: 200 }
const OWNER_RETRY = /\/api\/jobs\/[^/]+\/retry$/

export interface BuiltApp extends App {
  api: Api
}

/** Over a store that is open: `createApp` of index.ts opens one. */
export function buildApp(options: AppOptions): BuiltApp {
  const parts: ApiParts = {
    options,
    clock: new DatabaseClock(options.access),
    operations: new Operations(),
    feed: new LiveFeed(options),
  }
  const end = new AbortController()
  const api = openApi(options)
  const authenticate = createAuthenticate(options)
  const limit = new RequestLimit(options.rateLimit ?? RATE_LIMIT)

  addEarlyGuards(api, options)
  addProbeRoutes(api, parts)
  addSessionRoutes(api, parts, authenticate, limit)
  addDocumentRoutes(api)
  addDashboardRoutes(api, options)
  if (options.hasPublicMetrics === true) addMetricsRoute(api, parts)

  addAuthentication(api, options, authenticate, limit)
  api.use('*', idempotency(options.access))
  if (options.hasPublicMetrics !== true) addMetricsRoute(api, parts)
  addJobRoutes(api, parts)
  addJobChangeRoutes(api, parts)
  addLeaseRoutes(api, parts)
  addDeadLetterRoutes(api, parts)
  addBrakeRoutes(api, parts)
  addServerRoutes(api, parts)
  addTokenRoutes(api, parts)
  addWorkerRoutes(api, parts)
  addStreamRoute(api, parts, end.signal)

  return {
    api,
    fetch: (request) => api.fetch(request),
    async close() {
      end.abort()
      parts.feed.close()
      await parts.operations.close()
    },
  }
}

function openApi({ basePath }: AppOptions): Api {
  const root: Api = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (result.success) return
      const errors = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
      const first = errors[0] ?? { path: '', message: 'is wrong' }
      const detail = first.path === '' ? first.message : `${first.path}: ${first.message}`
      throw new ApiProblem('INVALID_ARGUMENT', detail, { errors: errors.slice(0, 20) })
    },
  })
  const api: Api = basePath === undefined ? root : root.basePath(basePath)
  api.onError((error, c) => {
    const problem = toApiProblem(error)
    const isOwners = OWNER_RETRY.test(c.req.path)
    return isOwners ? problemResponse(problem, publicProblemBody(problem)) : problemResponse(problem)
  })
  api.notFound((c) =>
    problemResponse(new ApiProblem('NOT_FOUND', `nothing is at ${c.req.path.slice(0, 200)}`)),
  )
  return api
}

function addEarlyGuards(
  api: Api,
  { isOpenToLoopback = false, maxBodyBytes = MAX_BODY_BYTES }: AppOptions,
): void {
  api.use('*', async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(secureHeaders)) c.res.headers.set(name, value)
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store')
  })
  api.use('*', async (c, next) => {
    if (isOpenToLoopback) requireLoopbackHost(c.req.raw)
    requireJson(c.req.raw)
    await next()
  })
  api.use(
    '*',
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => {
        throw new ApiProblem('REQUEST_TOO_LARGE', `a body has at most ${maxBodyBytes} bytes here`)
      },
    }),
  )
}

function addAuthentication(
  api: Api,
  options: AppOptions,
  authenticate: Authenticate,
  limit: RequestLimit,
): void {
  const { tables, policy, sourceExists, isReadOnly = false } = options
  api.use('*', async (c, next) => {
    const authenticated = await authenticate(c.req.raw)
    const { actor } = authenticated
    requireOwnPage(c.req.raw, authenticated)
    for (const [name, value] of Object.entries(limit.take(actor.id))) c.header(name, value)
    const context: CommandContext = {
      actor,
      isReadOnly,
      tables,
      ...(policy === undefined ? {} : { policy }),
      ...(sourceExists === undefined ? {} : { sourceExists }),
    }
    c.set('context', context)
    await next()
  })
}

export const documentInfo = {
  openapi: '3.1.0',
  info: {
    title: 'unstuck',
    version: packageVersion,
    description: 'Jobs, leases, dead letters, queues, breakers and sweeps.',
  },
}

function addDocumentRoutes(api: Api): void {
  api.get('/openapi.json', (c) => c.json(api.getOpenAPI31Document(documentInfo)))
  api.get('/docs', (c) => c.html(renderDocsPage(api.getOpenAPI31Document(documentInfo))))
  api.get('/docs/style.css', (c) => c.body(docsStyle, 200, { 'content-type': 'text/css; charset=utf-8' }))
}
