import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DeadLetterGroup, DeadLetterList, QueueList } from '../../src/http/contract/index.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from './http-bench.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench({ environment: 'staging', runDoctor: async () => [] })
})

afterAll(() => bench.close())

async function settled(id: string) {
  for (;;) {
    const { body } = await bench.call(`GET /v1/operations/${id}`)
    if (body.operation.state !== 'running') return body.operation
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function groupOf(wanted: string): Promise<DeadLetterGroup> {
  const { groups }: DeadLetterList = (await bench.call('GET /v1/dead-letters')).body
  return groups.find(({ code }) => code === wanted) ?? expect.unreachable(`no group of ${wanted}`)
}

describe('dead letters', () => {
  it('OPS-9 groups them by cause and redrives a cause at a rate', async () => {
    for (const n of [1, 2, 3])
      await kill(bench.store, { type: 'redriven' }, { code: 'GW_5XX', reason: `502 for job ${n}` })
    const group = await groupOf('GW_5XX')
    expect(group).toMatchObject({ jobs: 3, table: 'jobs', max_crashes: 0 })
    expect((await bench.call(`GET /v1/dead-letters/${group.cause_id}`)).body.group).toEqual(group)

    const line = `POST /v1/dead-letters/${group.cause_id}/redrive`
    const plan = await bench.call(line, { body: { dry_run: true } })
    expect(plan).toMatchObject({
      status: 200,
      body: { operation: { state: 'planned', total: 3, changed: 0 } },
    })
    const wrong = await bench.call(line, { body: { expect: 2 } })
    expect(wrong).toMatchObject({ status: 412, body: { code: 'PRECONDITION_FAILED' } })
    expect((await bench.call('GET /v1/jobs?q=type:redriven%20status:dead')).body.jobs).toHaveLength(3)

    const begun = await bench.call(line, { body: { expect: 3, rate_per_s: 1000, reason: 'gateway is back' } })
    expect(begun).toMatchObject({ status: 202, body: { operation: { total: 3, reason: 'gateway is back' } } })
    const operation = await settled(begun.body.operation.id)
    expect(operation).toMatchObject({ state: 'done', changed: 3, stopped: null })
    expect((await bench.call('GET /v1/jobs?q=type:redriven%20status:waiting')).body.jobs).toHaveLength(3)
    expect((await bench.call('GET /v1/operations')).body.operations).toMatchObject([{ id: operation.id }])
    expect((await bench.call(line, { body: {} })).status).toBe(404)
  })

  it('OPS-9 an operation is aborted between two jobs, and what it retried stays so', async () => {
    for (let n = 0; n < 3; n++) await kill(bench.store, { type: 'slow' }, { code: 'SLOW', reason: 'slow' })
    const { cause_id } = await groupOf('SLOW')
    const begun = await bench.call(`POST /v1/dead-letters/${cause_id}/redrive`, {
      body: { rate_per_s: 0.01 },
    })
    const { id } = begun.body.operation
    const ended = await bench.call(`POST /v1/operations/${id}/abort`)
    expect(ended.body.operation).toMatchObject({ state: 'stopped', stopped: 'interrupted' })
    const { changed } = ended.body.operation
    expect((await bench.call('GET /v1/jobs?q=type:slow%20status:dead')).body.jobs).toHaveLength(3 - changed)
    expect((await bench.call('POST /v1/operations/none/abort')).status).toBe(404)
  })
})

describe('queues, breakers and schedules', () => {
  it('BREAK-2 a queue is paused with who and why, and resumed', async () => {
    await enqueue(bench.store, { type: 'asr' })
    const paused = await bench.call('POST /v1/queues/asr/pause', {
      body: { reason: 'deploy', duration_ms: 60_000 },
    })
    expect(paused.body).toMatchObject({ queue: 'asr', is_paused: true, is_changed: true })
    const { queues }: QueueList = (await bench.call('GET /v1/queues')).body
    const asr = queues.find(({ queue }) => queue === 'asr')
    expect(asr).toMatchObject({ waiting: 1, is_paused: true, pause_reason: 'deploy' })
    expect(asr?.paused_by).toMatch(/^token:/)
    expect(asr?.paused_for_ms).toBeGreaterThan(0)
    expect((await bench.call('POST /v1/queues/asr/resume', { body: {} })).body).toMatchObject({
      is_changed: true,
    })
    expect((await bench.call('POST /v1/queues/asr/resume', { body: {} })).body).toMatchObject({
      is_changed: false,
    })
  })

  it('BREAK-4 a breaker is shown with its banner, held and resumed; a mistyped name makes none', async () => {
    await bench.store.mapDependency('convert', 'converter')
    const calm = (await bench.call('GET /v1/breakers')).body.breakers
    expect(calm).toMatchObject([{ name: 'converter', state: 'closed', banner: null }])
    const held = (await bench.call('POST /v1/breakers/converter/hold', { body: { reason: 'maintenance' } }))
      .body
    expect(held.breaker).toMatchObject({
      state: 'held',
      reason: 'maintenance',
      banner: `Converter on hold by ${held.breaker.changed_by} — jobs wait until it is resumed.`,
      resumes: false,
    })
    const back = await bench.call('POST /v1/breakers/converter/resume', { body: {} })
    expect(back.body.breaker).toMatchObject({ state: 'closed', banner: null })
    expect((await bench.call('POST /v1/breakers/convreter/hold', { body: {} })).status).toBe(404)
    expect((await bench.call('GET /v1/breakers')).body.breakers).toHaveLength(1)
  })

  it('OPS-9 schedules are listed', async () => {
    const nextRunAt = new Date(Date.now() + 3_600_000)
    await bench.store.writeSchedule({
      name: 'nightly',
      cron: '0 3 * * *',
      timezone: 'UTC',
      job: { type: 'n' },
      nextRunAt,
    })
    expect((await bench.call('GET /v1/schedules')).body.schedules).toMatchObject([
      { name: 'nightly', type: 'n' },
    ])
  })
})

describe('sweeps and health', () => {
  it('REAP-13 a dry run previews a sweep and changes nothing; a sweep does it', async () => {
    await enqueue(bench.store, { type: 'stuck' })
    const { jobId } = await claim(bench.store, 'stuck')
    await bench.elapse(3_600_000)
    const health = (await bench.call('GET /v1/health')).body
    expect(health).toMatchObject({ is_healthy: false, tables: [{ table: 'jobs', overdue: 1 }] })
    const dry = (await bench.call('POST /v1/reaper/run', { body: { dry_run: true } })).body
    expect(dry).toMatchObject({ dry_run: true, requeuedIds: [jobId], failedIds: [] })
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'running' })
    const swept = (await bench.call('POST /v1/reaper/run', { body: {} })).body
    expect(swept).toMatchObject({
      dry_run: false,
      requeuedIds: [jobId],
      reaped: [{ id: jobId, action: 'requeued' }],
    })
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'waiting' })
  })

  it('SEE-2 metrics are those of the database', async () => {
    const { body, headers } = await bench.call('GET /metrics')
    expect(headers.get('content-type')).toContain('text/plain')
    expect(body).toContain('unstuck_queue_depth')
    const open = bench.build({ hasPublicMetrics: true })
    expect((await bench.call('GET /metrics', { as: '' }, open)).status).toBe(200)
  })

  it('OPS-8 the configuration is shown without its secrets', async () => {
    const { body } = await bench.call('GET /v1/config')
    expect(body).toMatchObject({
      profile: 'native',
      tables: ['jobs'],
      environment: 'staging',
      is_read_only: false,
    })
    const { password } = new URL(bench.database.url)
    if (password !== '') expect(JSON.stringify(body)).not.toContain(password)
    expect(body.values).toContainEqual(expect.objectContaining({ name: 'databaseUrl' }))
  })

  it('OPS-8 the doctor answers with its findings', async () => {
    expect((await bench.call('GET /v1/doctor')).body).toMatchObject({ problems: 0, findings: [] })
  })
})

describe('workers, rescues and webhooks', () => {
  it('SEE-5 a worker is shown as it is, and drained', async () => {
    await bench.store.reportWorker({
      workerId: 'alpha:1',
      isStart: true,
      phase: 'running',
      types: ['asr'],
      concurrency: 4,
      running: 1,
      reportMs: 5000,
    })
    expect((await bench.call('GET /v1/workers')).body.workers).toMatchObject([
      { id: 'alpha:1', table: 'jobs', state: 'live', types: ['asr'], concurrency: 4 },
    ])
    const asked = await bench.call('POST /v1/workers/alpha:1/drain', { body: { reason: 'new host' } })
    expect(asked.body).toMatchObject({ id: 'alpha:1', outcome: 'asked' })
    const [worker] = (await bench.call('GET /v1/workers')).body.workers
    expect(worker).toMatchObject({ drain_reason: 'new host' })
    expect(worker.drain_requested_by).toMatch(/^token:/)
    expect((await bench.call('POST /v1/workers/none/drain')).status).toBe(404)
  })

  it('SEE-6 the rescue promise is compared with actual rescues', async () => {
    const { body } = await bench.call('GET /v1/slo?window_ms=3600000')
    expect(body.tables).toMatchObject([{ table: 'jobs' }])
    expect(body.tables[0].promise_ms).toBeGreaterThan(0)
  })

  it('OPS-10 webhooks and their deliveries are listed without secrets, and a delivery is sent again', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    await bench.store.addWebhook({ url: 'https://hooks.example/x?key=k1', secret })
    await kill(bench.store, { type: 'hooked' })
    const hooks = await bench.call('GET /v1/webhooks')
    expect(hooks.body.webhooks).toMatchObject([{ url: 'https://hooks.example/x?…', is_active: true }])
    // The path may contain a key too.
    const seen = await bench.call('GET /v1/webhooks', { as: 'viewer' })
    expect(seen.body.webhooks).toMatchObject([{ url: 'https://hooks.example/…', is_active: true }])
    const { deliveries } = (await bench.call('GET /v1/webhooks/deliveries?status=waiting')).body
    expect(deliveries).toMatchObject([{ type: 'failed', status: 'waiting' }])
    const again = await bench.call(`POST /v1/webhooks/deliveries/${deliveries[0].id}/redeliver`)
    expect(again).toMatchObject({ status: 200 })
    expect(JSON.stringify([hooks.body, deliveries])).not.toMatch(/whsec|k1/)
  })
})

describe('the document', () => {
  it('OPS-8 is OpenAPI 3.1 with every operation under a name of its own', async () => {
    const { body } = await bench.call('GET /openapi.json')
    expect(body.openapi).toBe('3.1.0')
    const operations = Object.values(body.paths as Record<string, object>).flatMap((item) =>
      Object.values(item),
    )
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(35)
    expect(Object.keys(body.paths)).toContain('/api/jobs/{id}/retry')
  })

  it('OPS-8 the page of it asks nobody else for anything', async () => {
    const { body } = await bench.call('GET /docs')
    expect(body).toContain('POST /v1/leases/claim')
    expect(body).not.toMatch(/<script|src=|https?:\/\//)
  })
})
