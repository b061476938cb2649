// The HTTP API as one fetch handler. A request passes the guards from top to bottom, then its route, which calls a command;
// commands check permissions.
import { bodyLimit } from 'hono/body-limit'
import type { CommandContext } from '../commands/command.ts'
import { shardTables } from '../commands/shard-tables.ts'
import { OperationRunner } from '../runtime/operations/operation-runner.ts'
import { collectSilentShards } from '../store/silent-shards.ts'
import { type Authenticate, createLimitedAuthenticate } from './access/authenticate.ts'
import {
  requireJson,
  requireLoopbackHost,
  requireOwnPage,
  secureHeaders,
  withoutEmptyBody,
} from './access/guards.ts'
import { idempotency } from './access/idempotency.ts'
import { disconnectOf, peerAddress } from './access/peer-address.ts'
import { RequestLimit } from './access/request-limit.ts'
import { type Api, type ApiEnv, type ApiParts, peerOf } from './api.ts'
import type { App, AppOptions } from './app-options.ts'
import { addDashboardRoutes } from './dashboard-files.ts'
import { docsStyle, renderDocsPage } from './openapi/docs-page.ts'
import { OpenAPIHono } from './openapi/zod-openapi.ts'
import { packageVersion } from './package-version.ts'
import { ApiProblem, problemResponse, publicProblemBody, toApiProblem } from './problem.ts'
import { addAuditRoutes } from './routes/audit.ts'
import { addDeadLetterRoutes } from './routes/dead-letters.ts'
import { addJobChangeRoutes } from './routes/job-changes.ts'
import { addJobRoutes } from './routes/jobs.ts'
import { addLeaseRoutes } from './routes/leases.ts'
import { addOperationRoutes } from './routes/operations.ts'
import { addMetricsRoute, addProbeRoutes } from './routes/probes.ts'
import { addQueueControlRoutes } from './routes/queue-controls.ts'
import { addRescueRoutes } from './routes/rescues.ts'
import { addServerRoutes } from './routes/server.ts'
import { addSessionRoutes } from './routes/session.ts'
import { addStreamRoute } from './routes/stream.ts'
import { addTokenRoutes } from './routes/tokens.ts'
import { addTrendRoutes } from './routes/trends.ts'
import { addWebhookRoutes } from './routes/webhooks.ts'
import { addWorkerRoutes } from './routes/workers.ts'
import { DatabaseClock } from './stream/database-clock.ts'
import { LiveFeed } from './stream/live-feed.ts'
import { OpenStreams } from './stream/open-streams.ts'

const MAX_BODY_BYTES = 1_048_576
const RATE_LIMIT = { ratePerS: 50, burst: 200 }
const OWNER_RETRY = /\/api\/jobs\/[^/]+\/retry$/

export interface BuiltApp extends App {
  api: Api
  /** Runs abandoned operations. Without this call, only those that this app begins. */
  runOperations(): void
}

/** Uses an open store; `createApp` of index.ts opens one. */
export function buildApp(options: AppOptions): BuiltApp {
  const authenticate = createLimitedAuthenticate(options)
  const parts: ApiParts = {
    options,
    clock: new DatabaseClock(options.access),
    runner: new OperationRunner({ ...options, tables: shardTables(options.tables) }),
    feed: new LiveFeed({ ...options, ...(options.live ?? options.reading) }),
    streams: new OpenStreams(authenticate, options.streamLimit),
  }
  const end = new AbortController()
  const api = openApi(options)
  const limit = new RequestLimit(options.rateLimit ?? RATE_LIMIT)

  addEarlyGuards(api, options)
  addProbeRoutes(api, parts)
  addSessionRoutes(api, parts, authenticate)
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
  addOperationRoutes(api, parts)
  addQueueControlRoutes(api, parts)
  addTrendRoutes(api, parts)
  addServerRoutes(api, parts)
  addTokenRoutes(api, parts)
  addWorkerRoutes(api, parts)
  addWebhookRoutes(api, parts)
  addRescueRoutes(api, parts)
  addAuditRoutes(api, parts)
  addStreamRoute(api, parts, end.signal)

  return {
    api,
    fetch: (request, connection) =>
      api.fetch(request, { peer: peerAddress(request, connection), disconnect: disconnectOf(connection) }),
    runOperations: () => parts.runner.wake(),
    async close() {
      end.abort()
      parts.feed.close()
      await parts.runner.stop()
    },
  }
}

function openApi({ basePath }: AppOptions): Api {
  const root: Api = new OpenAPIHono<ApiEnv>({
    // Accepts a trailing slash.
    strict: false,
    defaultHook: (result) => {
      if (result.success) return
      const errors = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
      const first = errors[0] ?? { path: '', message: 'is invalid' }
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
    problemResponse(new ApiProblem('NOT_FOUND', `no route for ${c.req.path.slice(0, 200)}`)),
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
    if (isOpenToLoopback !== false) requireLoopbackHost(c.req.raw)
    requireJson(c.req.raw)
    c.req.raw = withoutEmptyBody(c.req.raw)
    await next()
  })
  api.use(
    '*',
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => {
        throw new ApiProblem('REQUEST_TOO_LARGE', `the body exceeds ${maxBodyBytes} bytes`)
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
  const { policy, sourceExists, isReadOnly = false } = options
  api.use('*', async (c, next) => {
    const authenticated = await authenticate(c.req.raw, peerOf(c))
    const { actor } = authenticated
    requireOwnPage(c.req.raw, authenticated)
    for (const [name, value] of Object.entries(limit.take(actor.id))) c.header(name, value)
    const context: CommandContext = {
      actor,
      isReadOnly,
      tables: tablesFor(c.req.raw, options),
      ...(policy === undefined ? {} : { policy }),
      ...(sourceExists === undefined ? {} : { sourceExists }),
    }
    c.set('context', context)
    const { silentShards } = await collectSilentShards(next)
    if (silentShards.length > 0) c.res.headers.set(SILENT_SHARDS, headerText(silentShards.join(', ')))
  })
}

/** Names the shards whose part is missing from the answer. */
const SILENT_SHARDS = 'unstuck-silent-shards'

const headerText = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?')

/** `/why` tries to lock the row, which a read-only transaction cannot. */
function tablesFor({ method, url }: Request, { tables, reading }: AppOptions): AppOptions['tables'] {
  const isLook = (method === 'GET' || method === 'HEAD') && !new URL(url).pathname.endsWith('/why')
  return isLook ? (reading?.tables ?? tables) : tables
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
