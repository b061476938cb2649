// Two owners who cannot see each other.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publicCodes } from '../../../src/errors/index.ts'
import type { DeadLetterList, JobList } from '../../../src/http/contract/index.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'
import { readEventSource } from '../stream/event-source.ts'

let bench: HttpBench
let ana: string
let bob: string
let ofAna: string
let ofBob: string

beforeAll(async () => {
  bench = await openHttpBench()
  ana = await bench.token({ role: 'admin', owner: 'ana' })
  bob = await bench.token({ role: 'admin', owner: 'bob' })
  ofAna = await kill(bench.store, { type: 'convert', owner: 'ana', payload: { doc: 'hers' } })
  ofBob = await kill(bench.store, { type: 'convert', owner: 'bob', payload: { doc: 'his' } })
  await enqueue(bench.store, { type: 'nobody' })
})

afterAll(() => bench.close())

describe('an owner', () => {
  it('C21 lists its own jobs only, whatever it asks for', async () => {
    for (const q of ['', 'status:dead', 'owner:bob', 'type:nobody', 'type:convert']) {
      const { body } = await bench.call(`GET /v1/jobs?q=${q}&with_payload=true`, { as: ana })
      const { jobs }: JobList = body
      expect(jobs.filter(({ owner }) => owner !== 'ana')).toEqual([])
      expect(JSON.stringify(body)).not.toContain('his')
    }
    const { body } = await bench.call('GET /v1/jobs', { as: bob })
    expect(body.jobs).toMatchObject([{ id: ofBob }])
  })

  it('C21 finds nothing at the addresses of another one’s job', async () => {
    const lines = [
      `GET /v1/jobs/${ofBob}`,
      `GET /v1/jobs/${ofBob}/events`,
      `GET /v1/jobs/${ofBob}/attempts`,
      `GET /v1/jobs/${ofBob}/why`,
      `POST /v1/jobs/${ofBob}/retry`,
      `POST /v1/jobs/${ofBob}/cancel`,
      `DELETE /v1/jobs/${ofBob}`,
    ]
    for (const line of lines) {
      expect(await bench.call(line, { as: ana })).toMatchObject({
        status: 404,
        body: { code: 'JOB_NOT_FOUND' },
      })
    }
    expect(await bench.store.getJob(ofBob)).toMatchObject({ status: 'dead', generation: 1 })
    expect((await bench.call(`POST /v1/jobs/${ofAna}/retry`, { as: ana })).status).toBe(200)
  })

  it('C21 enqueues for itself only, and does not learn whose job has a dedupe key', async () => {
    const mine = await bench.call('POST /v1/jobs', { as: ana, body: { type: 'own', dedupe_key: 'k' } })
    expect(await bench.store.getJob(mine.body.id)).toMatchObject({ owner: 'ana' })
    const forOthers = await bench.call('POST /v1/jobs', { as: ana, body: { type: 'own', owner: 'bob' } })
    expect(forOthers).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const taken = await bench.call('POST /v1/jobs', { as: bob, body: { type: 'own', dedupe_key: 'k' } })
    expect(taken).toMatchObject({ status: 409, body: { code: 'STATE_CONFLICT' } })
    expect(JSON.stringify(taken.body)).not.toContain(mine.body.id)
  })

  it('C21 replaces no job by its dedupe key: it may be of another owner', async () => {
    const body = { type: 'own', payload: { of: 'ana' }, dedupe_key: 'note' }
    const mine = await bench.call('POST /v1/jobs', { as: ana, body })
    const replacement = { ...body, payload: { of: 'bob' }, dedupe_replace: true }
    const taken = await bench.call('POST /v1/jobs', { as: bob, body: replacement })
    expect(taken).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await bench.store.getJob(mine.body.id)).toMatchObject({ owner: 'ana', payload: { of: 'ana' } })
    expect((await bench.call('POST /v1/jobs', { body: replacement })).body).toMatchObject({
      outcome: 'replaced',
    })
  })

  it('C21 sees the leases of its own jobs only', async () => {
    await enqueue(bench.store, { type: 'running', owner: 'ana' })
    await enqueue(bench.store, { type: 'running', owner: 'bob' })
    await claim(bench.store, 'running')
    await claim(bench.store, 'running')
    const { body } = await bench.call('GET /v1/leases', { as: bob })
    expect(body.leases).toMatchObject([{ owner: 'bob' }])
    expect((await bench.call('GET /v1/leases')).body.leases).toHaveLength(2)
  })

  it('C21 sees dead letters of its own jobs only, and retries no others', async () => {
    const mine = await kill(bench.store, { type: 'letters', owner: 'ana' }, { code: 'LETTER', reason: 'r' })
    const other = await kill(bench.store, { type: 'letters', owner: 'bob' }, { code: 'LETTER', reason: 'r' })
    const { groups }: DeadLetterList = (await bench.call('GET /v1/dead-letters', { as: ana })).body
    const group = groups.find(({ example_job_id }) => example_job_id === mine)
    expect(group).toMatchObject({ jobs: 1, code: 'UNKNOWN' })
    const line = `POST /v1/dead-letters/${group?.cause_id}/redrive`
    const { body } = await bench.call(line, { as: ana, body: { rate_per_s: 1000 } })
    expect(body.operation).toMatchObject({ total: 1 })
    const read = async () => (await bench.call(`GET /v1/operations/${body.operation.id}`, { as: ana })).body
    await expect.poll(async () => (await read()).operation.state, { timeout: 30_000 }).toBe('done')
    expect(await bench.store.getJob(other)).toMatchObject({ status: 'dead', generation: 1 })
  })

  it('C21 is refused what concerns all owners, administrator or not', async () => {
    const lines = [
      'GET /v1/queues',
      'GET /v1/breakers',
      'GET /v1/schedules',
      'GET /v1/health',
      'GET /v1/config',
      'GET /v1/tokens',
      'GET /metrics',
      'GET /v1/stream?topics=counts',
      'POST /v1/queues/convert/pause',
      'POST /v1/reaper/run',
    ]
    for (const line of lines) expect(await bench.call(line, { as: ana })).toMatchObject({ status: 403 })
    const body = { worker_id: 'w', queues: ['convert'] }
    expect(await bench.call('POST /v1/leases/claim', { as: ana, body })).toMatchObject({ status: 403 })
  })
})

describe('what an owner reads of a failure', () => {
  const failure = {
    code: 'ECONNREFUSED',
    reason: 'connect ECONNREFUSED 10.0.0.7:8080 (http://gw.internal:8080/convert)',
    stack: 'Error: POST http://gw.internal:8080/convert',
  }
  const secrets = /ECONNREFUSED|10\.0\.0\.7|8080|gw\.internal/
  let owner: string
  let jobId: string

  beforeAll(async () => {
    owner = await bench.token({ role: 'admin', owner: 'carla' })
    jobId = await kill(bench.store, { type: 'convert', owner: 'carla' }, failure)
  })

  const lines = () => [
    'GET /v1/jobs?q=status:dead',
    `GET /v1/jobs/${jobId}`,
    `GET /v1/jobs/${jobId}/events`,
    `GET /v1/jobs/${jobId}/attempts`,
    `GET /v1/jobs/${jobId}/why`,
    'GET /v1/dead-letters',
  ]

  it('FAIL-2 is one of the ten codes, and no host or port, at every address', async () => {
    for (const line of lines()) {
      const { status, body } = await bench.call(line, { as: owner })
      const told = `${line} ${status} ${JSON.stringify(body)}`
      expect(told).toContain(`${line} 200`)
      expect(told).toContain('GW_5XX')
      expect(told).not.toMatch(secrets)
    }
    const { job } = (await bench.call(`GET /v1/jobs/${jobId}`, { as: owner })).body
    expect(publicCodes).toContain(job.error.code)
    expect(job).not.toHaveProperty('error_detail')
  })

  it('FAIL-2 is the same in the live stream', async () => {
    const headers = { authorization: `Bearer ${owner}` }
    const request = new Request('http://127.0.0.1/v1/stream?topics=events', { headers })
    const reader = readEventSource(await bench.app.fetch(request))
    const admin = { authorization: `Bearer ${await bench.token({ role: 'admin' })}` }
    const counts = new Request('http://127.0.0.1/v1/stream?topics=counts', { headers: admin })
    // The first poll records existing events.
    const other = readEventSource(await bench.app.fetch(counts))
    await other.next(({ event }) => event === 'counts')
    const later = await kill(bench.store, { type: 'convert', owner: 'carla' }, failure)
    const { data } = await reader.next((message) => message.data.event.job_id === later)
    expect(data.event.details).toMatchObject({ code: 'GW_5XX' })
    expect(JSON.stringify(data)).not.toMatch(secrets)
    await Promise.all([reader.close(), other.close()])
  })

  it('FAIL-2 stays as it was found in error_detail, for operators', async () => {
    const { job } = (await bench.call(`GET /v1/jobs/${jobId}`)).body
    expect(job.error).toMatchObject({ code: 'GW_5XX' })
    expect(job.error_detail).toEqual(failure)
    const listed = (await bench.call(`GET /v1/jobs?q=owner:carla`)).body.jobs[0]
    expect(listed.error_detail).toMatchObject({ code: 'ECONNREFUSED' })
    const withoutPayloads = (await bench.call(`GET /v1/jobs/${jobId}`, { as: 'viewer' })).body.job
    expect(withoutPayloads.error_detail).not.toHaveProperty('stack')
    expect(JSON.stringify((await bench.call(`GET /v1/jobs/${jobId}/why`)).body)).toContain('ECONNREFUSED')
  })
})
