import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditEntry, AuditList, NewWebhookAnswer } from '../../../src/http/contract/index.ts'
import { enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
})

afterAll(() => bench.close())

const audit = async (query = '') => (await bench.call(`GET /v1/audit${query}`)).body as AuditList

/** Audit entries of a call, oldest first. */
async function actsOf(act: () => Promise<unknown>): Promise<AuditEntry[]> {
  const before = new Set((await audit('?limit=1000')).entries.map(({ id }) => id))
  await act()
  return (await audit('?limit=1000')).entries.filter(({ id }) => !before.has(id)).toReversed()
}

describe('the audit log', () => {
  it('OPS-1 tells who did what to a job, and why', async () => {
    const dead = await kill(bench.store, { type: 'a' })
    const waiting = await enqueue(bench.store, { type: 'a' })
    const entries = await actsOf(async () => {
      await bench.call(`POST /v1/jobs/${dead}/retry`, { body: { reason: 'mended' } })
      await bench.call(`POST /v1/jobs/${waiting}/cancel`, { body: {} })
    })
    expect(entries).toMatchObject([
      { type: 'queued', job_id: dead, table: 'jobs', subject: null, reason: 'mended' },
      { type: 'cancelled', job_id: waiting, reason: null },
    ])
    expect(entries[0]?.actor).toMatch(/^token:/)
    expect(entries[0]?.details).not.toHaveProperty('actor')
  })

  it('OPS-1 no secret that somebody typed or a worker sent is in any answer', async () => {
    const secret = 'password=hunter2'
    const dead = await kill(bench.store, { type: 'leaky' }, { code: 'LEAK', reason: `login with ${secret}` })
    const q = encodeURIComponent('error:LEAK')
    const [job] = (await bench.call(`GET /v1/jobs?q=${q}`)).body.jobs
    const reason = `tried ${secret}`
    await bench.store.writeBreaker('leaky', {})
    const body = { action: 'retry', q: `error:LEAK owner:${secret}`, reason }
    const answers = [
      await bench.call(`GET /v1/jobs/${dead}/why`),
      await bench.call(`PATCH /v1/dead-letters/${job.cause_id}`, { body: { state: 'ignored', reason } }),
      await bench.call('GET /v1/dead-letters'),
      await bench.call('POST /v1/operations', { body: { ...body, dry_run: true } }),
      await bench.call('POST /v1/operations', { body }),
      await bench.call('GET /v1/operations'),
      await bench.call('POST /v1/breakers/leaky/hold', { body: { reason } }),
      await bench.call('GET /v1/breakers'),
      await bench.call('POST /v1/queues/leaky/pause', { body: { reason } }),
      await bench.call('GET /v1/queues'),
      await bench.call(`GET /v1/jobs/${await enqueue(bench.store, { type: 'leaky' })}/why`),
      await bench.call('GET /v1/audit?limit=1000'),
    ]
    for (const { status, body: answer } of answers) {
      expect(status).toBeLessThan(300)
      expect(JSON.stringify(answer)).not.toContain('hunter2')
    }
    expect(answers[0]?.body.reasons[0].message).toContain('password=[redacted]')
  })

  it('OPS-1 tells who did what to queues, breakers, workers and sweeps', async () => {
    const body = { reason: 'deploy' }
    await bench.store.writeBreaker('gateway', {})
    const report = { types: ['a'], concurrency: 1, running: 0, reportMs: 1_000 }
    await bench.store.reportWorker({ workerId: 'w1', phase: 'running', ...report })
    const entries = await actsOf(async () => {
      await bench.call('POST /v1/queues/a/pause', { body: { ...body, duration_ms: 60_000 } })
      await bench.call('POST /v1/queues/a/resume', { body })
      await bench.call('POST /v1/queues/a/resume', { body })
      await bench.call('POST /v1/breakers/gateway/hold', { body })
      await bench.call('POST /v1/breakers/gateway/resume', { body })
      await bench.call('POST /v1/workers/w1/drain', { body })
      await bench.call('POST /v1/workers/w1/drain', { body })
      await bench.call('POST /v1/reaper/run', { body })
      await bench.call('POST /v1/reaper/run', { body: { dry_run: true } })
    })
    expect(entries.map(({ type, subject, table }) => [type, subject, table])).toEqual([
      ['queue-paused', 'a', 'jobs'],
      ['queue-resumed', 'a', 'jobs'],
      ['breaker-held', 'gateway', null],
      ['breaker-resumed', 'gateway', null],
      ['worker-drained', 'w1', 'jobs'],
      ['swept', null, 'jobs'],
    ])
    expect(entries.every(({ reason, actor }) => reason === 'deploy' && actor.startsWith('token:'))).toBe(true)
    expect(entries[0]?.details).toEqual({ duration_ms: 60_000 })
    expect(entries.at(-1)?.details).toMatchObject({ found: 0 })
  })

  it('OPS-1 tells who made and revoked tokens, without their secrets', async () => {
    let secret = ''
    const entries = await actsOf(async () => {
      secret = (await bench.call('POST /v1/tokens', { body: { name: 'ci', role: 'viewer' } })).body.secret
      await bench.call('DELETE /v1/tokens/ci')
    })
    expect(entries.map(({ type, subject }) => [type, subject])).toEqual([
      ['token-created', 'ci'],
      ['token-revoked', 'ci'],
    ])
    expect(JSON.stringify(entries)).not.toContain(secret)
  })

  it('OPS-1 goes on from page to page, of one actor or of all, each entry once', async () => {
    for (let n = 0; n < 3; n++) {
      const jobId = await enqueue(bench.store, { type: 'paged' })
      await bench.store.cancelJobs([jobId], { actor: 'zoe' })
      await bench.store.pauseQueue(`paged-${n}`, { actor: 'zoe' })
    }
    const seen: string[] = []
    let page = await audit('?actor=zoe&limit=4')
    seen.push(...page.entries.map(({ type }) => type))
    expect(page.next_cursor).not.toBeNull()
    page = await audit(`?actor=zoe&limit=4&cursor=${page.next_cursor}`)
    seen.push(...page.entries.map(({ type }) => type))
    expect(page.next_cursor).toBeNull()
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['queue-paused', 'cancelled']).flat())
    expect((await audit('?actor=nobody')).entries).toEqual([])
    expect((await audit('?table=jobs&limit=1000')).entries.every(({ table }) => table === 'jobs')).toBe(true)
  })

  it('OPS-1 what a worker sends has the name of its token in its events, and is no act of a person', async () => {
    const worker = await bench.token({ scopes: ['leases:use'] })
    const id = await enqueue(bench.store, { type: 'remote' })
    const entries = await actsOf(async () => {
      const claim = { worker_id: 'py-1', queues: ['remote'] }
      const claimed = await bench.call('POST /v1/leases/claim', { as: worker, body: claim })
      const [{ lease_id: leaseId }] = claimed.body.jobs
      await bench.store.cancelJobs([id])
      await bench.call('POST /v1/leases/fail', { as: worker, body: { id, lease_id: leaseId } })
    })
    const events = await bench.store.listEvents(id)
    expect(events.find(({ type }) => type === 'cancelled')?.data.details['actor']).toMatch(/^token:/)
    expect(entries).toEqual([])
  })

  it('OPS-2 what is past the retention is forgotten', async () => {
    await bench.store.pauseQueue('ancient', { actor: 'old-timer' })
    await bench.elapse(31 * 86_400_000)
    await bench.store.pruneJobs({ retentionDays: 30 })
    expect((await audit('?actor=old-timer')).entries).toEqual([])
  })
})

describe('webhooks', () => {
  const add = async (body: object) => bench.call('POST /v1/webhooks', { body })

  it('OPS-10 one is made with a secret that is shown once, switched, and removed', async () => {
    const made = await add({
      url: 'https://example.com:8443/T0/secret-path?key=k1',
      events: ['failed'],
      reason: 'pager',
    })
    expect(made.status).toBe(201)
    const { webhook, secret }: NewWebhookAnswer = made.body
    expect(secret).toMatch(/^whsec_/)
    expect(webhook).toMatchObject({ table: 'jobs', events: ['failed'], is_active: true })
    expect(JSON.stringify((await bench.call('GET /v1/webhooks')).body)).not.toContain(secret)

    const line = `/v1/webhooks/${webhook.id}`
    const off = await bench.call(`PATCH ${line}`, { body: { is_active: false, reason: 'noise' } })
    expect(off.body.webhook).toMatchObject({ is_active: false, inactive_reason: 'noise' })
    const on = await bench.call(`PATCH ${line}`, { body: { is_active: true } })
    expect(on.body.webhook).toMatchObject({ is_active: true, inactive_reason: null })
    expect((await bench.call(`DELETE ${line}`)).body).toMatchObject({ id: webhook.id, table: 'jobs' })
    expect((await bench.call(`DELETE ${line}`)).status).toBe(404)
    expect((await bench.call(`PATCH ${line}`, { body: { is_active: true } })).status).toBe(404)

    const { entries } = await audit('?limit=4')
    expect(entries.map(({ type }) => type)).toEqual([
      'webhook-removed',
      'webhook-enabled',
      'webhook-disabled',
      'webhook-added',
    ])
    expect(entries.at(-1)).toMatchObject({ details: { url: 'https://example.com:8443' } })
    expect(JSON.stringify(entries)).not.toMatch(/whsec_|key=k1|secret-path/)
  })

  it('OPS-10 the secret of one is not kept for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'twice' }
    const call = { body: { url: 'https://example.com/twice' }, headers }
    const { secret } = (await bench.call('POST /v1/webhooks', call)).body
    const { rows } = await bench.database.pool.query('select answer from unstuck.requests')
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it.each([
    { url: 'ftp://example.com' },
    { url: 'https://ana:password@example.com' },
    { url: 'nowhere' },
    { url: 'https://example.com', events: ['exploded'] },
    { url: 'https://example.com', secret: 'whsec_mine' },
    {},
  ])('OPS-8 %o is refused', async (body) => {
    const reply = await add(body)
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } })
    expect(JSON.stringify(reply.body)).not.toContain('password')
  })
})
