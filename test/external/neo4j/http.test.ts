// `unstuck serve` over nodes: what the store has is served, and what it has not is told by name.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Me } from '../../../src/http/contract/index.ts'
import { installNeo4j } from '../../../src/store/neo4j/install.ts'
import { type Neo4jJobStore, openDriver, openNeo4jStore } from '../../../src/store/neo4j/open-neo4j-store.ts'
import { type RunningCommand, runCommand, startCommand } from '../../cli/support/run-command.ts'
import { urlOf } from '../../cli/support/serve-command.ts'
import { readEventSource } from '../../http/stream/event-source.ts'
import { clear } from './server/neo4j-harness.ts'

const env = { EMBED_JOB_RETENTION_DAYS: '14' }
const store = ['--store', inject('neo4jUrl')]

interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- an assertion judges it
  body: any
}

describe('unstuck serve over nodes', () => {
  let server: RunningCommand
  let url: string
  let jobs: Neo4jJobStore

  beforeAll(async () => {
    const { driver } = openDriver(inject('neo4jUrl'))
    await clear(driver, 'EmbeddingJob')
    await installNeo4j({ driver })
    await driver.close()
    jobs = await openNeo4jStore({ url: inject('neo4jUrl') })
    await jobs.writePolicy({ events: 'all' })
    server = startCommand(['serve', '--port', '0', '--json', ...store], env)
    url = await urlOf(server)
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    expect(await server.result).toMatchObject({ exitCode: 0, stderr: '' })
    await jobs.close()
    const { driver } = openDriver(inject('neo4jUrl'))
    await clear(driver, 'EmbeddingJob')
    await driver.close()
  })

  async function call(line: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const [method = 'GET', path = '/'] = line.split(' ')
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, body: isJson ? JSON.parse(text) : text }
  }

  async function claimOne() {
    const claimed = await call('POST /v1/leases/claim', { worker_id: 'http-1', queues: ['embed'] })
    return claimed.body.jobs[0] as { id: string; lease_id: string }
  }

  it('WORK-3 a job is enqueued, claimed, kept, completed and looked at', async () => {
    const made = await call('POST /v1/jobs', { type: 'embed', payload: { document: 'a.pdf' } })
    expect(made).toMatchObject({ status: 201, body: { table: 'EmbeddingJob' } })
    const lease = await claimOne()
    expect(lease.id).toBe(made.body.id)
    const running = await call('GET /v1/leases')
    expect(running.body).toMatchObject({
      leases: [{ id: lease.id, table: 'EmbeddingJob' }],
      is_complete: true,
    })
    const { id, lease_id } = lease
    const beat = await call('POST /v1/leases/heartbeat', { leases: [{ id, lease_id }] })
    expect(beat.body.answers).toMatchObject([{ id, answer: 'kept' }])
    const completion = { id, lease_id, result: { vectors: 12 } }
    expect(await call('POST /v1/leases/complete', completion)).toMatchObject({ status: 200 })
    expect((await call('POST /v1/leases/complete', completion)).body.outcome).toBe('already-done')
    expect((await call(`GET /v1/jobs/${id}`)).body.job).toMatchObject({ id, status: 'succeeded' })
    const { events } = (await call(`GET /v1/jobs/${id}/events`)).body
    const types = ['queued', 'processing', 'complete'].map((type) => ({ type }))
    expect(events).toMatchObject(types)
    expect(events).toHaveLength(types.length)
    const listed = await call('GET /v1/jobs?q=status:succeeded&limit=1')
    expect(listed.body).toMatchObject({ table: 'EmbeddingJob', jobs: [{ id }] })
  })

  it('OPS-9 a dead letter is grouped, marked, retried and cancelled', async () => {
    await call('POST /v1/jobs', { type: 'embed' })
    const { id, lease_id } = await claimOne()
    const failed = await call('POST /v1/leases/fail', { id, lease_id, code: 'GONE', is_retryable: false })
    expect(failed.body.outcome).toBe('dead')
    const { groups } = (await call('GET /v1/dead-letters')).body
    expect(groups).toMatchObject([{ jobs: 1, code: 'GONE' }])
    const cause = `/v1/dead-letters/${groups[0].cause_id}`
    expect((await call(`PATCH ${cause}`, { state: 'investigating' })).status).toBe(200)
    expect((await call(`POST /v1/jobs/${id}/retry`, { reason: 'the model is back' })).status).toBe(200)
    expect((await call(`GET /v1/jobs/${id}/why`)).body.verdict).toBeTypeOf('string')
    expect((await call(`POST /v1/jobs/${id}/cancel`, { reason: 'enough' })).body.outcome).toBe('cancelled')
  })

  it('BREAK-2 BREAK-4 a queue is paused and resumed, a breaker held and resumed', async () => {
    await jobs.mapDependency('embed', 'provider')
    await jobs.writeBreaker('provider', {})
    expect((await call('POST /v1/queues/embed/pause', { reason: 'deploy' })).body.is_changed).toBe(true)
    expect((await call('GET /v1/queues')).body.queues).toMatchObject([{ queue: 'embed', is_paused: true }])
    expect((await call('POST /v1/queues/embed/resume', {})).body.is_changed).toBe(true)
    expect((await call('POST /v1/breakers/provider/hold', { reason: 'maintenance' })).status).toBe(200)
    expect((await call('GET /v1/breakers')).body.breakers).toMatchObject([{ name: 'provider' }])
    expect((await call('POST /v1/breakers/provider/resume', {})).status).toBe(200)
  })

  it.each([
    '/healthz',
    '/readyz',
    '/metrics',
    '/v1/health',
    '/v1/me',
    '/v1/config',
    '/v1/profiles',
    '/v1/slo',
    '/v1/schedules',
    '/v1/workers',
    '/v1/reclaims',
    '/v1/stale',
    '/v1/stale/validation',
    '/v1/reaper/sweeps',
    '/v1/rate-limits',
    '/v1/tokens',
    '/openapi.json',
    '/',
  ])('SEE-5 GET %s answers', async (path) => {
    expect((await call(`GET ${path}`)).status).toBe(200)
  })

  it('REAP-13 a manual sweep shows what it would do, and does it', async () => {
    expect((await call('POST /v1/reaper/run', { dry_run: true })).status).toBe(200)
    expect((await call('POST /v1/reaper/run', {})).status).toBe(200)
  })

  it.each([
    ['GET /v1/audit', 'audit'],
    ['GET /v1/operations', 'operations'],
    ['GET /v1/webhooks', 'webhooks'],
    ['GET /v1/webhooks/deliveries', 'webhooks'],
  ])('OPS-8 %s is refused: the store has no %s', async (line, capability) => {
    expect(await call(line)).toMatchObject({
      status: 501,
      body: { code: 'NOT_SUPPORTED', detail: expect.stringContaining(`has no ${capability}`) },
    })
  })

  it('OPS-8 GET /v1/doctor examines the nodes', async () => {
    const { status, body } = await call('GET /v1/doctor')
    expect(status).toBe(200)
    expect(body.findings).toContainEqual(expect.objectContaining({ check: 'nodes', level: 'fine' }))
  })

  it('OPS-8 a change of many jobs is refused, and the list of commands says so before', async () => {
    const operation = { action: 'cancel', q: 'type:embed', reason: 'enough', dry_run: true }
    expect((await call('POST /v1/operations', operation)).body.code).toBe('NOT_SUPPORTED')
    const { commands } = (await call('GET /v1/me')).body as Me
    const isRefused = (name: string) => commands[name]?.is_allowed === false
    const refused = Object.keys(commands).filter(isRefused).toSorted()
    expect(refused.join(' ')).toBe(
      'abortOperation addWebhook beginOperation limitQueue listAuditEntries listDeliveries listOperations listTrends ' +
        'listWebhooks planOperation planRedrive redeliver redrive removeWebhook switchWebhook',
    )
    expect(commands['listAuditEntries']?.reason).toBe('not available: this store has no audit')
  })

  it('SEE-5 the stream sends each event once, and resumes where it broke', async () => {
    const stream = readEventSource(await fetch(`${url}/v1/stream?topics=events,leases,counts`))
    await stream.next(({ event }) => event === 'counts')
    const made = await call('POST /v1/jobs', { type: 'seen' })
    const isOf = (id: string) => (message: { event: string; data: { event?: { job_id: string } } }) =>
      message.event === 'events' && message.data.event?.job_id === id
    const told = await stream.next(isOf(made.body.id))
    expect(told.data.event).toMatchObject({ type: 'queued', table: 'EmbeddingJob' })
    await stream.close()
    const later = await call('POST /v1/jobs', { type: 'seen' })
    const headers = { 'last-event-id': told.id ?? '' }
    const again = readEventSource(await fetch(`${url}/v1/stream?topics=events`, { headers }))
    const next = await again.next(({ event }) => event === 'events')
    expect(next.data.event.job_id).toBe(later.body.id)
    await again.close()
  })

  it('OPS-1 a request with an Idempotency-Key is done once, whoever sends it again', async () => {
    const headers = { 'idempotency-key': 'request-1' }
    const first = await call('POST /v1/jobs', { type: 'once' }, headers)
    const second = await call('POST /v1/jobs', { type: 'once' }, headers)
    expect(second.body.id).toBe(first.body.id)
    expect((await call('POST /v1/jobs', { type: 'other' }, headers)).body.code).toBe('IDEMPOTENCY_KEY_REUSED')
    expect((await call('GET /v1/jobs?q=type:once')).body.jobs).toHaveLength(1)
  })

  it('OPS-1 a token that was made here lets its holder in, until it is revoked', async () => {
    const { stdout } = await runCommand(['tokens', 'create', 'ci', '--role', 'viewer', ...store], env)
    const headers = { authorization: `Bearer ${stdout.trim()}` }
    expect((await call('GET /v1/me', undefined, headers)).body.id).toBe('token:ci')
    const refused = await call('POST /v1/queues/embed/pause', {}, headers)
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await runCommand(['tokens', 'create', 'ci', '--role', 'admin', ...store], env)).exitCode).toBe(4)
    expect((await runCommand(['tokens', 'revoke', 'ci', ...store], env)).exitCode).toBe(0)
    expect((await call('GET /v1/me', undefined, headers)).status).toBe(401)
  })
})
