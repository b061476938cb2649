// The HTTP contract over the invented deployment: `answer(request)` for everything but the stream.
import type { Attempt, Job, Operation, WhyAnswer } from '../../src/http/contract.ts'
import { sloOf, workersOf } from './fake-workers.ts'
import { advance, createWorld, type FakeWorld, healthOf, iso, leasesOf } from './fake-world.ts'

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
  const operations: Operation[] = []
  const routes = [...readRoutes(world, operations), ...writeRoutes(world, operations)]
  return {
    world,
    answer(incoming: Incoming): Answer {
      advance(world, Date.now())
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

function readRoutes(world: FakeWorld, operations: Operation[]) {
  const job = (id: string | undefined) => (id === undefined ? undefined : world.jobs.get(id))
  return [
    route('GET', /^v1\/me$/, () => ({
      id: 'ana',
      scopes: ['*'],
      owner: null,
      is_read_only: false,
      commands: {},
    })),
    route('GET', /^v1\/config$/, () => configOf()),
    route('GET', /^v1\/health$/, () => ({ is_healthy: true, tables: [healthOf(world)] })),
    route('GET', /^v1\/leases$/, () => ({ leases: leasesOf(world, Date.now()), is_complete: true })),
    route('GET', /^v1\/queues$/, () => ({ queues: world.queues })),
    route('GET', /^v1\/breakers$/, () => ({ breakers: world.breakers })),
    route('GET', /^v1\/dead-letters$/, () => ({ groups: world.groups, is_complete: true })),
    route('GET', /^v1\/operations$/, () => ({ operations })),
    route('GET', /^v1\/workers$/, () => ({ workers: workersOf(world) })),
    route('GET', /^v1\/slo$/, () => ({ tables: [sloOf(world)] })),
    route('GET', /^v1\/tokens$/, () => ({ tokens: [] })),
    route('GET', /^v1\/doctor$/, () => doctorOf()),
    route('GET', /^v1\/jobs$/, ({ query }) => listJobs(world, query)),
    route('GET', /^v1\/jobs\/([^/]+)$/, (_, [id]) => {
      const found = job(id)
      if (found === undefined) return null
      const isGone = found.error?.code === 'SOURCE_UNREADABLE'
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
    route('GET', /^v1\/jobs\/([^/]+)\/why$/, (_, [id]) => whyOf(job(id))),
  ]
}

function writeRoutes(world: FakeWorld, operations: Operation[]) {
  const change = (id: string | undefined, status: Job['status'], outcome: string) => {
    const found = id === undefined ? undefined : world.jobs.get(id)
    if (found === undefined) return null
    found.status = status
    return { id: found.id, table: found.table, outcome }
  }
  return [
    route('POST', /^v1\/jobs\/([^/]+)\/retry$/, (_, [id]) => change(id, 'waiting', 'requeued')),
    route('POST', /^v1\/jobs\/([^/]+)\/cancel$/, (_, [id]) => change(id, 'cancelled', 'cancelled')),
    route('DELETE', /^v1\/jobs\/([^/]+)$/, (_, [id]) => change(id, 'cancelled', 'discarded')),
    route('POST', /^v1\/dead-letters\/([^/]+)\/redrive$/, ({ body }, [id]) =>
      redrive(world, operations, id ?? '', body),
    ),
    route('POST', /^v1\/breakers\/([^/]+)\/(hold|resume)$/, ({ body }, [name, verb]) => {
      const breaker = world.breakers.find((one) => one.name === name)
      if (breaker === undefined) return null
      breaker.state = verb === 'hold' ? 'held' : 'closed'
      breaker.reason = typeof body['reason'] === 'string' ? body['reason'] : null
      breaker.changed_by = 'ana'
      breaker.since = iso(Date.now())
      breaker.banner =
        verb === 'hold'
          ? `${name?.charAt(0).toUpperCase()}${name?.slice(1)} busy — jobs will resume automatically.`
          : null
      return { breaker }
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

function redrive(world: FakeWorld, operations: Operation[], causeId: string, body: Record<string, unknown>) {
  const group = world.groups.find(({ cause_id }) => cause_id === causeId)
  if (group === undefined) return null
  const isPlan = body['dry_run'] === true
  const operation: Operation = {
    id: `op-${operations.length + 1}`,
    action: 'redrive',
    table: 'jobs',
    cause_id: causeId,
    actor: 'ana',
    reason: typeof body['reason'] === 'string' ? body['reason'] : null,
    state: isPlan ? 'planned' : 'done',
    phase: null,
    total: group.jobs,
    redriven: isPlan ? 0 : group.jobs,
    refused: 0,
    succeeded: isPlan ? 0 : group.jobs,
    failed: 0,
    stopped: null,
    began_at: iso(Date.now()),
    ended_at: null,
  }
  if (!isPlan) {
    operations.unshift(operation)
    world.groups.splice(world.groups.indexOf(group), 1)
  }
  return { operation }
}

function listJobs(world: FakeWorld, query: URLSearchParams) {
  const tokens = (query.get('q') ?? '').split(/\s+/).filter(Boolean)
  const words = new Map(tokens.map((token) => [token.split(':')[0], token.split(':').slice(1).join(':')]))
  const isAsked = (key: string, value: string | null | undefined) =>
    !words.has(key) || words.get(key) === value
  const fits = (job: Job) =>
    isAsked('status', job.status) &&
    isAsked('type', job.type) &&
    isAsked('stage', job.stage) &&
    isAsked('worker', job.worker_id) &&
    isAsked('cause', job.cause_id)
  const all = [...world.jobs.values()].filter(fits)
  const from = Number(query.get('cursor') ?? 0)
  const limit = Number(query.get('limit') ?? 50)
  const next = from + limit
  return { table: 'jobs', jobs: all.slice(from, next), next_cursor: next < all.length ? String(next) : null }
}

function attemptsOf(job: Job | undefined): Attempt[] {
  if (job === undefined) return []
  const now = Date.now()
  const base = {
    stage: job.stage,
    code: null,
    category: null,
    reason: null,
    last_heartbeat_at: null,
    next_run_at: null,
  }
  return Array.from({ length: job.attempt }, (_, index): Attempt => {
    const isLast = index === job.attempt - 1
    const started = now - (job.attempt - index) * 75_000
    const ended = isLast && job.status === 'running' ? null : started + 55_000
    const isReaped = !isLast && index % 2 === 0
    return {
      ...base,
      attempt: index + 1,
      worker_id: isReaped ? 'ip-10-0-3-3:907' : 'ip-10-0-4-2:1733',
      started_at: iso(started),
      ended_at: ended === null ? null : iso(ended),
      duration_ms: ended === null ? null : 55_000,
      outcome:
        ended === null
          ? 'running'
          : isLast && job.status === 'dead'
            ? 'dead'
            : isReaped
              ? 'reaped'
              : 'retried',
      ...(isReaped
        ? { code: 'lease_expired', reason: 'lease_expired', last_heartbeat_at: iso(started + 25_000) }
        : { code: job.error?.code ?? 'GW_5XX', reason: 'gateway answered 503' }),
      next_run_at: isLast ? null : iso(started + 65_000),
    }
  })
}

function eventsOf(job: Job | undefined, world: FakeWorld) {
  if (job === undefined) return []
  const own = world.events.filter(({ job_id }) => job_id === job.id)
  return [
    ...attemptsOf(job)
      .filter(({ outcome }) => outcome !== 'running')
      .map((attempt, index) => ({
        id: String(index + 1),
        job_id: job.id,
        table: 'jobs',
        at: attempt.ended_at ?? iso(Date.now()),
        type:
          attempt.outcome === 'reaped' ? 'reaper:requeued' : attempt.outcome === 'dead' ? 'failed' : 'retry',
        details: {
          code: attempt.code,
          reason: attempt.reason,
          attempt: attempt.attempt,
          worker_id: attempt.worker_id,
        },
      })),
    ...own,
  ]
}

function whyOf(job: Job | undefined): Omit<WhyAnswer, 'db_now'> | null {
  if (job === undefined) return null
  const base = { id: job.id, table: job.table, runs_in_ms: null }
  const reason = (code: string, message: string, until: number | null = null) => ({
    code,
    is_blocking: true,
    message,
    until_ms: until,
  })
  if (job.status === 'running')
    return {
      ...base,
      verdict: 'running',
      sentence: `It runs on ${job.worker_id}.`,
      reasons: [{ ...reason('LEASED', 'its lease is renewed with every heartbeat'), is_blocking: false }],
    }
  if (job.status === 'dead')
    return {
      ...base,
      verdict: 'ended',
      sentence: `It is dead after ${job.attempt} attempts.`,
      reasons: [reason('DEAD_MAX_ATTEMPTS', job.error?.reason ?? 'no attempts left')],
    }
  if (job.status !== 'waiting')
    return { ...base, verdict: 'ended', sentence: `It is ${job.status}.`, reasons: [] }
  return {
    ...base,
    verdict: 'blocked',
    sentence: 'It waits for the converter, which is held back by its breaker.',
    runs_in_ms: 18_000,
    reasons: [
      reason('BREAKER_OPEN', 'converter is open since 42 s; next probe in 18 s', 18_000),
      reason('BACKOFF', 'attempt 1 failed with GW_5XX', 9_000),
    ],
  }
}

function configOf() {
  return {
    version: '0.1.0',
    profile: 'native',
    schema: 'unstuck',
    tables: ['jobs'],
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
