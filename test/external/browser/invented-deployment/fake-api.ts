// The HTTP contract over the invented deployment: `answer(request)` for everything but the stream.
import type { CauseState, Job } from '../../../../src/http/contract/index.ts'
import { toWireBreaker } from '../../../../src/http/wire/breakers.ts'
import { resumeQueue } from '../../../../src/policy/explain/remedy.ts'
import { createFakeOperations, type FakeOperations } from './fake-operations.ts'
import { rateLimitsOf, reclaimsOf, staleOf, sweepsOf, validationOf } from './fake-reaper.ts'
import { attemptsOf, eventsOf, whyOf } from './fake-story.ts'
import { trendsOf } from './fake-trends.ts'
import { auditOf, createFakeWebhooks, type FakeWebhooks, webhookOf } from './fake-webhooks.ts'
import { fleetOf, sloOf, workersOf } from './fake-workers.ts'
import {
  advance,
  createWorld,
  type FakeWorld,
  fitsFilter,
  healthsOf,
  leasesOf,
  TABLES,
} from './fake-world.ts'
import { iso } from './iso.ts'

interface Incoming {
  method: string
  path: string
  query: URLSearchParams
  body: Record<string, unknown>
}

interface Answer {
  status: number
  body: unknown
}

type Route = (incoming: Incoming, params: string[]) => object | null

const problem = (status: number, code: string, detail: string): Answer => ({
  status,
  body: { type: 'about:blank', title: code, status, code, detail, is_retryable: false },
})

export function createFakeApi(kind: 'full' | 'empty') {
  const world = createWorld(kind)
  const operations = createFakeOperations(world)
  const webhooks = createFakeWebhooks(world)
  const routes = [
    ...readRoutes(world),
    ...jobRoutes(world),
    ...operationRoutes(operations),
    ...webhookRoutes(webhooks),
    ...writeRoutes(world),
  ]
  return {
    world,
    operations,
    answer(incoming: Incoming): Answer {
      advance(world, Date.now())
      operations.advance(Date.now())
      const bad = incoming.query
        .get('q')
        ?.split(/\s+/)
        .find((token) => token !== '' && !/^\w+:.+$/.test(token))
      if (bad !== undefined) return problem(400, 'INVALID_FILTER', `"${bad}" takes key:value`)
      for (const { method, pattern, run } of routes) {
        const match = incoming.method === method ? pattern.exec(incoming.path) : null
        if (match === null) continue
        const body = run(incoming, match.slice(1).map(decodeURIComponent))
        return body === null
          ? problem(404, 'JOB_NOT_FOUND', 'There is no such job.')
          : { status: 200, body: { db_now: iso(Date.now()), ...body } }
      }
      return problem(404, 'NOT_FOUND', 'There is nothing here.')
    },
  }
}

const route = (method: string, pattern: RegExp, run: Route) => ({ method, pattern, run })

function readRoutes(world: FakeWorld) {
  return [
    route('GET', /^v1\/me$/, () => ({
      id: 'ana',
      scopes: ['*'],
      owner: null,
      is_read_only: false,
      commands: {},
    })),
    route('GET', /^v1\/config$/, () => configOf()),
    route('GET', /^v1\/health$/, () => ({ is_healthy: true, tables: healthsOf(world) })),
    route('GET', /^v1\/leases$/, () => ({ leases: leasesOf(world, Date.now()), is_complete: true })),
    route('GET', /^v1\/queues$/, () => ({ queues: world.queues, is_complete: true })),
    route('GET', /^v1\/trends$/, ({ query }) => ({ trends: trendsOf(world, query.get('span')) })),
    route('GET', /^v1\/breakers$/, () => ({ breakers: world.breakers.map(toWireBreaker) })),
    route('GET', /^v1\/rate-limits$/, () => rateLimitsOf(world)),
    route('GET', /^v1\/dead-letters$/, () => ({ groups: world.groups, is_complete: true })),
    route('GET', /^v1\/workers$/, () => fleetOf(workersOf(world))),
    route('GET', /^v1\/slo$/, () => ({ tables: [sloOf(world)] })),
    route('GET', /^v1\/reclaims$/, ({ query }) => reclaimsOf(world, query)),
    route('GET', /^v1\/stale$/, () => staleOf(world)),
    route('GET', /^v1\/stale\/validation$/, () => validationOf()),
    route('GET', /^v1\/reaper\/sweeps$/, () => sweepsOf(world)),
    route('GET', /^v1\/audit$/, ({ query }) => ({ entries: auditOf(world, query), next_cursor: null })),
    route('GET', /^v1\/tokens$/, () => ({ tokens: [] })),
    route('GET', /^v1\/doctor$/, () => doctorOf()),
  ]
}

function jobRoutes(world: FakeWorld) {
  const job = (id: string | undefined) => (id === undefined ? undefined : world.jobs.get(id))
  const change = (id: string | undefined, status: Job['status'], outcome: string) => {
    const found = job(id)
    if (found === undefined) return null
    found.status = status
    return { id: found.id, table: found.table, outcome, next: null }
  }
  return [
    route('GET', /^v1\/jobs$/, ({ query }) => listJobs(world, query)),
    route('GET', /^v1\/jobs\/([^/]+)$/, (_, [id]) => {
      const found = job(id)
      if (found === undefined) return null
      const isGone = found.error_detail?.code === 'SOURCE_UNREADABLE'
      const retry =
        found.status !== 'dead'
          ? 'It is not dead.'
          : isGone
            ? 'Source document was deleted — cannot run again.'
            : null
      const left = found.lease_expires_at === null ? null : Date.parse(found.lease_expires_at) - Date.now()
      return {
        job: { ...found, lease_remaining_ms: left },
        retry: { is_allowed: retry === null, reason: retry },
      }
    }),
    route('GET', /^v1\/jobs\/([^/]+)\/events$/, (_, [id]) => ({ events: eventsOf(job(id), world) })),
    route('GET', /^v1\/jobs\/([^/]+)\/attempts$/, (_, [id]) => ({ attempts: attemptsOf(job(id)) })),
    route('GET', /^v1\/jobs\/([^/]+)\/why$/, (_, [id]) => whyOf(job(id), world)),
    route('POST', /^v1\/jobs\/([^/]+)\/retry$/, (_, [id]) => change(id, 'waiting', 'requeued')),
    route('POST', /^v1\/jobs\/([^/]+)\/cancel$/, (_, [id]) => change(id, 'cancelled', 'cancelled')),
    route('DELETE', /^v1\/jobs\/([^/]+)$/, (_, [id]) => change(id, 'cancelled', 'discarded')),
  ]
}

function operationRoutes(operations: FakeOperations) {
  const answer = (operation: object | null) => (operation === null ? null : { operation })
  return [
    route('GET', /^v1\/operations$/, () => ({ operations: operations.list(), next_cursor: null })),
    route('GET', /^v1\/operations\/([^/]+)$/, (_, [id]) => answer(operations.find(id))),
    route('GET', /^v1\/operations\/([^/]+)\/jobs$/, (_, [id]) => {
      const jobs = operations.jobsOf(id)
      return jobs === null ? null : { jobs, next_cursor: null }
    }),
    route('POST', /^v1\/operations$/, ({ body }) => answer(operations.begin(body))),
    route('POST', /^v1\/operations\/([^/]+)\/abort$/, (_, [id]) => answer(operations.abort(id))),
  ]
}

function webhookRoutes(fake: FakeWebhooks) {
  return [
    route('GET', /^v1\/webhooks$/, () => ({ webhooks: fake.webhooks })),
    route('GET', /^v1\/webhooks\/deliveries$/, ({ query }) => ({
      deliveries: fake.deliveries.filter(({ webhook_id }) => webhook_id === query.get('webhook_id')),
    })),
    route('POST', /^v1\/webhooks\/deliveries\/([^/]+)\/redeliver$/, (_, [id]) => ({ id, table: 'jobs' })),
    route('POST', /^v1\/webhooks$/, ({ body }) => {
      const webhook = webhookOf(fake.webhooks.length + 1, { url: String(body['url']) })
      fake.webhooks.push(webhook)
      return { webhook, secret: 'whsec_aW52ZW50ZWQgYW5kIHdvcnRoIG5vdGhpbmc=' }
    }),
    route('PATCH', /^v1\/webhooks\/([^/]+)$/, ({ body }, [id]) => {
      const webhook = fake.webhooks.find((one) => one.id === id)
      if (webhook === undefined) return null
      webhook.is_active = body['is_active'] === true
      webhook.inactive_reason = webhook.is_active ? null : 'disabled by ana'
      return { webhook }
    }),
    route('DELETE', /^v1\/webhooks\/([^/]+)$/, (_, [id]) => {
      fake.webhooks = fake.webhooks.filter((one) => one.id !== id)
      return { id, table: 'jobs' }
    }),
  ]
}

function writeRoutes(world: FakeWorld) {
  const reasonOf = (body: Record<string, unknown>) =>
    typeof body['reason'] === 'string' ? body['reason'] : null
  const durationOf = (body: Record<string, unknown>) =>
    typeof body['duration_ms'] === 'number' ? body['duration_ms'] : null
  return [
    route('PATCH', /^v1\/dead-letters\/([^/]+)$/, ({ body }, [id]) => {
      const group = world.groups.find(({ cause_id }) => cause_id === id)
      if (group === undefined) return null
      const now = iso(Date.now())
      const state = body['state'] as CauseState
      Object.assign(group, { state, changed_by: 'ana', changed_at: now, back_since: null })
      group.state_reason = reasonOf(body)
      return { group }
    }),
    route('POST', /^v1\/breakers\/([^/]+)\/(hold|resume)$/, ({ body }, [name, verb]) => {
      const breaker = world.breakers.find((one) => one.name === name)
      if (breaker === undefined) return null
      breaker.state = verb === 'hold' ? 'held' : 'closed'
      breaker.reason = reasonOf(body)
      breaker.heldForMs = durationOf(body)
      breaker.changedBy = 'ana'
      breaker.since = new Date()
      return { breaker: toWireBreaker(breaker) }
    }),
    route('POST', /^v1\/queues\/([^/]+)\/(pause|resume)$/, ({ body }, [name, verb]) => {
      const queue = world.queues.find((one) => one.queue === name)
      if (queue === undefined) return null
      queue.is_paused = verb === 'pause'
      queue.paused_by = 'ana'
      queue.pause_reason = reasonOf(body)
      queue.paused_for_ms = durationOf(body)
      queue.remedy = queue.is_paused ? resumeQueue(queue.queue) : null
      return { queue: name, table: queue.table, is_paused: queue.is_paused, is_changed: true }
    }),
    route('POST', /^v1\/reaper\/run$/, () => ({
      table: 'jobs',
      dry_run: true,
      requeuedIds: [],
      failedIds: [],
      reaped: [],
      held: 0,
      hold_reason: null,
    })),
  ]
}

function listJobs(world: FakeWorld, query: URLSearchParams) {
  const table = query.get('table') ?? 'jobs'
  const q = query.get('q') ?? ''
  const all = [...world.jobs.values()].filter((job) => job.table === table && fitsFilter(job, q))
  const from = Number(query.get('cursor') ?? 0)
  const limit = Number(query.get('limit') ?? 50)
  const next = from + limit
  const last = next < all.length ? all[next - 1] : undefined
  const next_cursor = last === undefined ? null : String(next)
  return { table, jobs: all.slice(from, next), next_cursor, searched_to: last?.created_at ?? null }
}

function configOf() {
  return {
    version: '0.1.0',
    profile: 'native',
    schema: 'unstuck',
    tables: TABLES,
    environment: 'staging',
    is_read_only: false,
    values: [
      { name: 'database.url', value: 'postgres://***@db/app', source: 'DATABASE_URL' },
      { name: 'reaper.intervalMs', value: 5000, source: 'default' },
    ],
  }
}

function doctorOf() {
  return {
    problems: 1,
    warnings: 1,
    findings: [
      { check: 'reaper', level: 'fine', message: 'somebody swept 0.6 s ago', fix: null },
      {
        check: 'heartbeat-fit',
        level: 'warning',
        message: 'the lease of upload is only 2 heartbeats long',
        fix: 'Set UNSTUCK_HEARTBEAT_MS=5000',
      },
      {
        check: 'indexes',
        level: 'problem',
        message: 'the index of the claim is missing',
        fix: 'unstuck migrate',
      },
    ],
  }
}
