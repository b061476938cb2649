// The API over a real database. Every answer is checked against the contract of its route: documented status, body by schema.
import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { ZodType } from 'zod'
import { type Actor, type Role, roles } from '../../src/commands/actor.ts'
import { openDeployment } from '../../src/compose/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { type BuiltApp, buildApp } from '../../src/http/app.ts'
import type { AppOptions } from '../../src/http/app-options.ts'
import type { Lease } from '../../src/job/lease.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { AccessStore } from '../../src/store/access-store.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { elapse } from '../support/postgres-harness.ts'
import type { TestDatabase } from '../support/test-database.ts'

export interface Call {
  /** A role, or a token's secret. */
  as?: string
  body?: unknown
  headers?: Record<string, string>
}

export interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- checked by the contract and by assertions
  body: any
  headers: Headers
}

export interface HttpBench {
  database: TestDatabase
  store: JobStore
  access: AccessStore
  /** Read-only connections. */
  reading: NonNullable<AppOptions['reading']>
  app: BuiltApp
  /** Another app over the same store; closed with the bench. */
  build(options?: Partial<AppOptions>): BuiltApp
  /** `GET /v1/jobs`. `as` is a role or a secret. */
  call(line: string, call?: Call, app?: BuiltApp): Promise<Reply>
  /** Creates a token and returns its secret. */
  token(grant: Partial<Actor> & { role?: Role; expiresInMs?: number }): Promise<string>
  elapse(ms: number): Promise<void>
  close(): Promise<void>
}

const [table] = nativeProfile('unstuck').tables

export async function openHttpBench(options: Partial<AppOptions> = {}): Promise<HttpBench> {
  const database = await createInstalledDatabase()
  const config = loadConfig({ env: { DATABASE_URL: database.url } })
  const deployment = openDeployment(config)
  const { tables, access, reading } = deployment
  const apps: BuiltApp[] = []
  const secrets = new Map<string, string>()
  const rateLimit = { ratePerS: 100_000, burst: 100_000 }

  const build = (more: Partial<AppOptions> = {}) => {
    // A store set by a test is used for reads and writes.
    const isOwn = more.tables !== undefined || more.access !== undefined
    const app = buildApp({
      ...(isOwn ? {} : { reading }),
      tables,
      access,
      config,
      rateLimit,
      failureLimit: rateLimit,
      ...options,
      ...more,
    })
    apps.push(app)
    return app
  }
  const app = build()

  const token: HttpBench['token'] = async ({ role, scopes, owner, expiresInMs }) => {
    const secret = `unstuck_${randomBytes(32).toString('base64url')}`
    const isCreated = await access.createToken({
      name: `t-${randomBytes(6).toString('hex')}`,
      sha256: createHash('sha256').update(secret).digest('hex'),
      scopes: scopes ?? roles[role ?? 'admin'],
      ...(owner === undefined ? {} : { owner }),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    })
    expect(isCreated).toBe(true)
    return secret
  }

  const secretOf = async (as: string) => {
    if (!Object.hasOwn(roles, as)) return as
    const secret = secrets.get(as) ?? (await token({ role: as as Role }))
    secrets.set(as, secret)
    return secret
  }

  return {
    database,
    store: tables[0].store,
    access,
    reading,
    app,
    build,
    token,
    async call(line, { as = 'admin', body, headers = {} } = {}, target = app) {
      const [method = '', path = ''] = line.split(' ')
      const response = await target.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: {
            ...(as === '' ? {} : { authorization: `Bearer ${await secretOf(as)}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      )
      return {
        status: response.status,
        body: await readChecked(target, method, path, response),
        headers: response.headers,
      }
    },
    elapse: (ms) => elapse(database.pool, table, 'unstuck', ms),
    async close() {
      for (const each of apps) await each.close()
      await deployment.close()
      await database.drop()
    },
  }
}

interface DocumentedRoute {
  method: string
  path: string
  responses: Record<string, { content?: Record<string, { schema: ZodType }> }>
}

async function readChecked(
  { api }: BuiltApp,
  method: string,
  path: string,
  response: Response,
): Promise<unknown> {
  const text = await response.text()
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const body: unknown = type.endsWith('json') ? JSON.parse(text) : text
  const { pathname } = new URL(`http://x${path}`)
  const found = api.openAPIRegistry.definitions.find(
    (definition) =>
      definition.type === 'route' && isRoute(definition.route as DocumentedRoute, method, pathname),
  )
  if (found === undefined || found.type !== 'route') return body
  const { responses } = found.route as unknown as DocumentedRoute
  const documented = responses[String(response.status)]
  expect(
    documented,
    `${method} ${pathname} documents ${response.status}: ${text.slice(0, 300)}`,
  ).toBeDefined()
  const schema = documented?.content?.[type]?.schema
  if (schema !== undefined) expect(schema.safeParse(body).error?.message ?? '').toBe('')
  return body
}

function isRoute(route: DocumentedRoute, method: string, pathname: string): boolean {
  if (route.method !== method.toLowerCase()) return false
  const pattern = route.path.replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`).test(pathname)
}

export async function enqueue(
  store: JobStore,
  job: Parameters<JobStore['enqueueJobs']>[0][0],
): Promise<string> {
  const [enqueued] = await store.enqueueJobs([job])
  if (enqueued === undefined) throw new Error('nothing was enqueued')
  return enqueued.jobId
}

export async function claim(store: JobStore, queue: string): Promise<Lease> {
  const [claimed] = await store.claimJobs({ workerId: 'host:1', queues: [queue], limit: 1 })
  if (claimed === undefined) throw new Error(`nothing is due in ${queue}`)
  return { jobId: claimed.jobId, leaseId: claimed.leaseId }
}

export async function kill(
  store: JobStore,
  job: Parameters<JobStore['enqueueJobs']>[0][0],
  failure: { code?: string; reason?: string; stack?: string } = {},
): Promise<string> {
  const jobId = await enqueue(store, job)
  const claimed = await store.claimJob(jobId, { workerId: 'host:1' })
  if (claimed === 'not-claimable') throw new Error(`${jobId} cannot be claimed`)
  const lease = { jobId, leaseId: claimed.leaseId }
  await store.failJobs([{ ...lease, code: 'GW_4XX', reason: 'broken', ...failure, isRetryable: false }])
  return jobId
}
