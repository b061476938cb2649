import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventList, JobList } from '../../src/http/contract/index.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from './http-bench.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
})

afterAll(() => bench.close())

describe('looking at jobs', () => {
  it('OPS-9 lists jobs page by page, each once, the newest first', async () => {
    const ids: string[] = []
    for (let n = 0; n < 7; n++) ids.push(await enqueue(bench.store, { type: 'paged', owner: 'p' }))
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page: JobList = (await bench.call(`GET /v1/jobs?q=type:paged&limit=3${from}`)).body
      seen.push(...page.jobs.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(seen).toEqual(ids.toReversed())
  })

  it('OPS-9 finds jobs by the words of q', async () => {
    const dead = await kill(bench.store, { type: 'words' }, { code: 'NOT_PDF', reason: 'no pdf' })
    await enqueue(bench.store, { type: 'words' })
    const { body } = await bench.call(
      `GET /v1/jobs?q=${encodeURIComponent('type:words error:NOT_PDF status:dead')}`,
    )
    expect(body.jobs).toMatchObject([
      { id: dead, status: 'dead', error: { code: 'NOT_PDF' }, error_detail: { code: 'NOT_PDF' } },
    ])
    const cause = body.jobs[0].cause_id
    expect((await bench.call(`GET /v1/jobs?q=cause:${cause}`)).body.jobs).toMatchObject([{ id: dead }])
  })

  it('SEE-5 shows one job with its lease on the database’s clock, and never the id of the lease', async () => {
    await bench.store.writePolicy({ events: 'all' })
    await enqueue(bench.store, { type: 'shown', payload: { file: 'a.pdf' } })
    const lease = await claim(bench.store, 'shown')
    await bench.store.writePolicy({ events: 'recovery' })
    await bench.store.reportProgress([{ ...lease, value: 0.4, text: 'page 12 of 30' }])
    const { body, headers } = await bench.call(`GET /v1/jobs/${lease.jobId}`)
    expect(body.job).toMatchObject({ status: 'running', worker_id: 'host:1', payload: { file: 'a.pdf' } })
    expect(body.job.progress).toEqual({ value: 0.4, text: 'page 12 of 30' })
    expect(body.job.lease_remaining_ms).toBeGreaterThan(20_000)
    expect(body.retry).toEqual({ is_allowed: false, reason: 'It is running, not dead.' })
    expect(headers.get('etag')).toBe(`"${body.job.generation}"`)
    const events = await bench.call(`GET /v1/jobs/${lease.jobId}/events`)
    expect(events.body.events).toMatchObject([{ type: 'queued' }, { type: 'processing' }])
    const all = await bench.call('GET /v1/jobs')
    expect(JSON.stringify([body, events.body, all.body])).not.toContain(lease.leaseId)
  })

  it('SEE-5 returns events, attempts and why a job does not run', async () => {
    await bench.store.writePolicy({ events: 'all' })
    const jobId = await enqueue(bench.store, { type: 'story' })
    const lease = await claim(bench.store, 'story')
    await bench.store.failJobs([{ ...lease, code: 'GW_5XX', reason: '502 from gateway', retryInMs: 60_000 }])
    await bench.store.writePolicy({ events: 'recovery' })
    const { events }: EventList = (await bench.call(`GET /v1/jobs/${jobId}/events`)).body
    expect(events.map(({ type }) => type)).toEqual(['queued', 'processing', 'retry'])
    const { attempts } = (await bench.call(`GET /v1/jobs/${jobId}/attempts`)).body
    expect(attempts).toMatchObject([{ attempt: 1, worker_id: 'host:1', outcome: 'retried', code: 'GW_5XX' }])
    expect(attempts[0].duration_ms).toBeGreaterThanOrEqual(0)
    const why = (await bench.call(`GET /v1/jobs/${jobId}/why`)).body
    expect(why).toMatchObject({ verdict: 'blocked', reasons: [{ code: 'BACKOFF', is_blocking: true }] })
  })

  it('SEE-5 shows an attempt that a sweep took back, with its dark time', async () => {
    const jobId = await enqueue(bench.store, { type: 'dark' })
    await claim(bench.store, 'dark')
    await bench.elapse(3_600_000)
    await bench.store.sweepJobs()
    const { attempts } = (await bench.call(`GET /v1/jobs/${jobId}/attempts`)).body
    expect(attempts).toMatchObject([{ attempt: 1, outcome: 'reaped', worker_id: 'host:1' }])
    expect(attempts[0].last_heartbeat_at).toMatch(/Z$/)
  })
})

describe('changing jobs', () => {
  it('OPS-1 enqueues, and answers the job that has the dedupe key', async () => {
    const body = { type: 'made', payload: { n: 1 }, dedupe_key: 'once', priority: 2, owner: 'ana' }
    const first = await bench.call('POST /v1/jobs', { body })
    expect(first).toMatchObject({ status: 201, body: { outcome: 'created' } })
    const second = await bench.call('POST /v1/jobs', { body })
    expect(second).toMatchObject({ status: 200, body: { id: first.body.id, outcome: 'duplicate' } })
    expect(await bench.store.getJob(first.body.id)).toMatchObject({
      payload: { n: 1 },
      priority: 2,
      owner: 'ana',
    })
  })

  it('OPS-1 takes dedupe keys as long as the table does', async () => {
    const enqueue = (length: number) =>
      bench.call('POST /v1/jobs', { body: { type: 'made', dedupe_key: 'k'.repeat(length) } })
    expect(await enqueue(1_000)).toMatchObject({ status: 201, body: { outcome: 'created' } })
    expect(await enqueue(1_001)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } })
  })

  it.each([{ dedupe_for_ms: 1_000 }, { dedupe_replace: true }])(
    'OPS-8 %j without a key is refused, and the error names the key',
    async (rule) => {
      const { status, body } = await bench.call('POST /v1/jobs', { body: { type: 'keyless', ...rule } })
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
      expect(JSON.stringify(body)).toContain('dedupe_key: got null, takes a text')
    },
  )

  it('OPS-1 a request with an idempotency key is done once and answered alike', async () => {
    const headers = { 'idempotency-key': 'order-7' }
    const first = await bench.call('POST /v1/jobs', { body: { type: 'once' }, headers })
    const second = await bench.call('POST /v1/jobs', { body: { type: 'once' }, headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect((await bench.call('GET /v1/jobs?q=type:once')).body.jobs).toHaveLength(1)
    const other = await bench.call('POST /v1/jobs', { body: { type: 'twice' }, headers })
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    // Keys are per caller.
    const stranger = await bench.call('POST /v1/jobs', { body: { type: 'twice' }, headers, as: 'operator' })
    expect(stranger.status).toBe(201)
  })

  it('OPS-1 a request that was refused leaves its key free', async () => {
    const headers = { 'idempotency-key': 'refused' }
    const jobId = await enqueue(bench.store, { type: 'key' })
    expect(await bench.call(`POST /v1/jobs/${jobId}/retry`, { headers, body: {} })).toMatchObject({
      status: 409,
    })
    await bench.store.cancelJobs([jobId])
    expect(await bench.call(`POST /v1/jobs/${jobId}/retry`, { headers, body: {} })).toMatchObject({
      status: 409,
    })
  })

  it('OPS-1 retries a dead job, with the actor and the reason in its event', async () => {
    const jobId = await kill(bench.store, { type: 'back' })
    const { body } = await bench.call(`POST /v1/jobs/${jobId}/retry`, { body: { reason: 'gateway is back' } })
    expect(body).toMatchObject({ id: jobId, outcome: 'retried' })
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'waiting', error: null, failures: 0 })
    const event = (await bench.store.listEvents(jobId)).at(-1)
    expect(event?.data.details).toMatchObject({ cause: 'retry', reason: 'gateway is back' })
    expect(event?.data.details['actor']).toMatch(/^token:t-/)
  })

  it('C21 If-Match makes a second click harmless', async () => {
    const jobId = await kill(bench.store, { type: 'twice-clicked' })
    const etag = (await bench.call(`GET /v1/jobs/${jobId}`)).headers.get('etag') ?? ''
    const headers = { 'if-match': etag }
    expect((await bench.call(`POST /v1/jobs/${jobId}/retry`, { headers, body: {} })).status).toBe(200)
    const lease = await claim(bench.store, 'twice-clicked')
    await bench.store.failJobs([{ ...lease, isRetryable: false }])
    const second = await bench.call(`POST /v1/jobs/${jobId}/retry`, { headers, body: {} })
    expect(second).toMatchObject({ status: 412, body: { code: 'PRECONDITION_FAILED' } })
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'dead' })
  })

  it('C21 If-Match of a cancel and a discard is compared in the statement, not before it', async () => {
    const jobId = await kill(bench.store, { type: 'overtaken' })
    const etag = (await bench.call(`GET /v1/jobs/${jobId}`)).headers.get('etag') ?? ''
    // Another retry comes between the command's read and its statement.
    const store = new Proxy(bench.store, {
      get(target, name) {
        const verb: unknown = Reflect.get(target, name)
        if (typeof verb !== 'function') return verb
        return async (...args: unknown[]) => {
          if (name === 'cancelJobs' || name === 'discardJobs') await bench.store.retryJobs([jobId])
          return (await verb.apply(target, args)) as unknown
        }
      },
    })
    const app = bench.build({ tables: [{ name: 'jobs', store }] })
    const headers = { 'if-match': etag }
    for (const line of [`POST /v1/jobs/${jobId}/cancel`, `DELETE /v1/jobs/${jobId}`]) {
      const late = await bench.call(line, { headers }, app)
      expect(late).toMatchObject({ status: 412, body: { code: 'PRECONDITION_FAILED' } })
      expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'waiting', generation: 2 })
    }
    const seen = { 'if-match': '"2"' }
    expect((await bench.call(`POST /v1/jobs/${jobId}/cancel`, { headers: seen })).status).toBe(200)
    expect((await bench.call(`DELETE /v1/jobs/${jobId}`, { headers: seen })).status).toBe(200)
  })

  it('OPS-1 retry with now ends the wait of a job in backoff', async () => {
    const jobId = await enqueue(bench.store, { type: 'later', delayMs: 600_000 })
    expect((await bench.call(`POST /v1/jobs/${jobId}/retry`, { body: { now: true } })).body.outcome).toBe(
      'due',
    )
    expect((await bench.call(`GET /v1/jobs/${jobId}/why`)).body.verdict).toBe('runnable')
  })

  it('WORK-6 cancels a waiting job at once, a running one through its heartbeat, an ended one not at all', async () => {
    const waiting = await enqueue(bench.store, { type: 'idle' })
    expect((await bench.call(`POST /v1/jobs/${waiting}/cancel`, { body: {} })).body.outcome).toBe('cancelled')
    const ended = await bench.call(`POST /v1/jobs/${waiting}/cancel`, { body: {} })
    expect(ended).toMatchObject({ status: 409, body: { code: 'STATE_CONFLICT', why: [{ code: 'ENDED' }] } })
    await enqueue(bench.store, { type: 'busy' })
    const lease = await claim(bench.store, 'busy')
    const asked = await bench.call(`POST /v1/jobs/${lease.jobId}/cancel`, { body: { reason: 'wrong file' } })
    expect(asked.body.outcome).toBe('cancel-requested')
    expect((await bench.store.heartbeatJobs([lease])).answers).toMatchObject([{ answer: 'cancel-asked' }])
  })

  it('OPS-9 discards a job that has ended, and never a running one', async () => {
    const jobId = await kill(bench.store, { type: 'gone' })
    expect((await bench.call(`DELETE /v1/jobs/${jobId}?reason=test`)).body.outcome).toBe('discarded')
    expect((await bench.call(`GET /v1/jobs/${jobId}`)).status).toBe(404)
    await enqueue(bench.store, { type: 'kept' })
    const lease = await claim(bench.store, 'kept')
    expect((await bench.call(`DELETE /v1/jobs/${lease.jobId}`)).status).toBe(409)
  })
})
