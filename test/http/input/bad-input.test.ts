import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorCatalog } from '../../../src/errors/index.ts'
import { type Call, enqueue, type HttpBench, openHttpBench, type Reply } from '../http-bench.ts'

let bench: HttpBench
let jobId: string

beforeAll(async () => {
  bench = await openHttpBench({ maxBodyBytes: 10_000 })
  jobId = await enqueue(bench.store, { type: 'there' })
})

afterAll(() => bench.close())

/** A catalogue problem in one line, without internals. */
function expectProblem({ status, body, headers }: Reply): void {
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(Object.keys(errorCatalog)).toContain(body.code)
  expect(body).toMatchObject({ status, type: `urn:unstuck:problem:${body.code}` })
  expect(body.detail).not.toMatch(/[\n\r]|node_modules|\bat .*:\d+:\d+/)
}

async function refusal(line: string, call: Call = {}): Promise<Reply> {
  const reply = await bench.call(line, call)
  expectProblem(reply)
  return reply
}

describe('malformed ids', () => {
  it.each(['x', '7', '%00', '..%2f..', "'; drop table jobs", 'a'.repeat(200), '%F0%9F%A6%84', '-'])(
    'OPS-1 %j names no job',
    async (id) => {
      for (const path of ['', '/events', '/attempts', '/why']) {
        const { status } = await refusal(`GET /v1/jobs/${encodeURI(id)}${path}`)
        expect([400, 404]).toContain(status)
      }
      for (const verb of ['retry', 'cancel'])
        expect([400, 404]).toContain(
          (await refusal(`POST /v1/jobs/${encodeURI(id)}/${verb}`, { body: {} })).status,
        )
    },
  )

  it('C19 a NUL in an id is refused in our words', async () => {
    for (const line of ['GET /v1/jobs/a%00b', 'GET /v1/jobs/a%00b/events', 'GET /v1/operations/a%00b']) {
      const { status, body } = await refusal(line)
      expect([status, body.detail]).toEqual([
        400,
        expect.stringContaining('takes text without this character'),
      ])
    }
    const lease = { id: 'a\0b', lease_id: '00000000-0000-4000-8000-000000000001' }
    const beat = await refusal('POST /v1/leases/heartbeat', { body: { leases: [lease] } })
    expect([beat.status, beat.body.detail]).toEqual([
      400,
      expect.stringContaining('takes text without this character'),
    ])
  })

  it('OPS-1 an id of over 200 characters is refused before the database sees it', async () => {
    expect((await refusal(`GET /v1/jobs/${'a'.repeat(201)}`)).status).toBe(400)
  })
})

describe('unknown and wrong fields', () => {
  it.each([
    ['an unknown field', { type: 'a', proirity: 1 }, 'proirity'],
    ['a missing field', {}, 'type'],
    ['a wrong type', { type: 7 }, 'type'],
    ['an empty text', { type: '' }, 'type'],
    ['a negative delay', { type: 'a', delay_ms: -1 }, 'delay_ms'],
    ['a time without a zone', { type: 'a', run_at: '2026-05-12 10:00' }, 'run_at'],
    ['no object', [], ''],
    ['null', null, ''],
  ])('OPS-8 %s is named', async (_, body, named) => {
    const { status, body: said } = await refusal('POST /v1/jobs', { body })
    expect(status).toBe(400)
    expect(said.errors[0].path + said.errors[0].message).toContain(named)
  })

  it('OPS-8 what the store refuses is 400 as well', async () => {
    const both = { type: 'a', delay_ms: 1, run_at: '2030-01-01T00:00:00Z' }
    expect((await refusal('POST /v1/jobs', { body: both })).status).toBe(400)
    expect(
      (await refusal('POST /v1/jobs', { body: { type: 'a', payload: { a: 'nul \u0000' } } })).status,
    ).toBe(400)
    const { status, body } = await refusal('GET /v1/jobs?cursor=x')
    expect(status).toBe(400)
    expect(body.detail).toBe('cursor: got "x", takes the next cursor of an earlier page')
  })

  it('OPS-8 unknown and wrong parameters are refused', async () => {
    for (const query of ['?limti=3', '?limit=0', '?limit=1001', '?limit=x', '?with_payload=maybe'])
      expect((await refusal(`GET /v1/jobs${query}`)).status).toBe(400)
    expect((await refusal('GET /v1/jobs?table=other')).body.code).toBe('NOT_FOUND')
    expect((await refusal('GET /v1/jobs?table=')).status).toBe(400)
  })

  it('OPS-8 headers are checked too', async () => {
    for (const etag of ['3', 'W/3', '"x"', '""', '"1", "2"'])
      expect(
        (await refusal(`POST /v1/jobs/${jobId}/cancel`, { body: {}, headers: { 'if-match': etag } })).status,
      ).toBe(400)
    for (const key of ['a b', 'x'.repeat(256)])
      expect(
        (await refusal('POST /v1/jobs', { body: { type: 'a' }, headers: { 'idempotency-key': key } })).status,
      ).toBe(400)
  })

  it('OPS-8 a role and scopes, neither, or a scope that is none make no token', async () => {
    const bodies = [
      { name: 'x' },
      { name: 'x', role: 'viewer', scopes: ['jobs:read'] },
      { name: 'x', scopes: ['jobs:all'] },
      { name: 'x y', role: 'viewer' },
      { name: 'x', role: 'root' },
    ]
    for (const body of bodies) expect((await refusal('POST /v1/tokens', { body })).status).toBe(400)
  })
})

describe('bodies', () => {
  it('OPS-8 a body over the limit is 413, declared or not', async () => {
    const body = { type: 'a', payload: 'x'.repeat(10_000) }
    expect(await refusal('POST /v1/jobs', { body })).toMatchObject({
      status: 413,
      body: { code: 'REQUEST_TOO_LARGE' },
    })
    const headers = { 'content-length': '99999999' }
    expect((await refusal('POST /v1/jobs', { body: { type: 'a' }, headers })).status).toBe(413)
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
  ])('OPS-8 a body declared as %s is 415', async (type) => {
    const call = { body: { type: 'a' }, headers: { 'content-type': type } }
    expect(await refusal('POST /v1/jobs', call)).toMatchObject({
      status: 415,
      body: { code: 'UNSUPPORTED_MEDIA_TYPE' },
    })
  })

  it.each(['{', 'nothing', '{"type": "a",}', '\u0000', ''])('OPS-8 a body of %j is 400', async (body) => {
    expect((await refusal('POST /v1/jobs', { body })).status).toBe(400)
  })

  it('OPS-8 an address or method that is not there is 404', async () => {
    for (const line of ['GET /v2/jobs', 'PUT /v1/jobs', 'PATCH /v1/leases', 'GET /v1/jobs/x/y/z'])
      expect(await refusal(line)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })
})

describe('filters', () => {
  it.each([
    ['type:a sttaus:dead', 'sttaus:dead', 7],
    ['status:stuck', 'status:stuck', 0],
    ['type:a dead', 'dead', 7],
    ['type:', 'type:', 0],
    ['type:"a', 'type:"a', 0],
    ['older:2w', 'older:2w', 0],
    ['type:a  type:b', 'type:b', 8],
    ['lease:>3', 'lease:>3', 0],
  ])('OPS-9 %j points at the token', async (q, text, position) => {
    const { status, body } = await refusal(`GET /v1/jobs?q=${encodeURIComponent(q)}`)
    expect(status).toBe(400)
    expect(body.token).toEqual({ text, position })
  })
})

describe('streams', () => {
  it.each(['x', '-1', '1.5', '9'.repeat(30), '1; drop'])('SEE-5 Last-Event-ID %j is 400', async (id) => {
    expect((await refusal('GET /v1/stream', { headers: { 'last-event-id': id } })).status).toBe(400)
  })

  it('SEE-5 unknown topics are 400', async () => {
    for (const topics of ['heartbeats', 'leases,', '', 'leases,x'])
      expect((await refusal(`GET /v1/stream?topics=${topics}`)).status).toBe(400)
  })
})

describe('anything at all', () => {
  const paths = [
    'POST /v1/jobs',
    'POST /v1/leases/claim',
    'POST /v1/leases/heartbeat',
    'POST /v1/leases/complete',
    'POST /v1/leases/fail',
    'POST /v1/leases/release',
    'POST /v1/reaper/run',
    'POST /v1/tokens',
    'POST /v1/queues/q/pause',
    'POST /v1/breakers/b/hold',
    'POST /v1/dead-letters/c/redrive',
    'PATCH /v1/dead-letters/c',
    'POST /v1/operations',
    'POST /v1/jobs/x/retry',
  ]

  it('OPS-8 is answered within the contract, and never with a 500', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 3 }), async (line, body) => {
        const { status } = await bench.call(line, { body })
        expect(status).toBeLessThan(500)
      }),
      { numRuns: 150 },
    )
  })

  it('OPS-9 any text as a filter is parsed or refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (q) => {
        const { status } = await bench.call(`GET /v1/jobs?q=${encodeURIComponent(q.toWellFormed())}`)
        expect([200, 400]).toContain(status)
      }),
      { numRuns: 100 },
    )
  })

  it('OPS-1 any header as a token is 401', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[\x20-\x7e]{0,80}$/), async (text) => {
        const { status } = await bench.call('GET /v1/jobs', { as: '', headers: { authorization: text } })
        expect(status).toBe(401)
      }),
      { numRuns: 50 },
    )
  })
})
