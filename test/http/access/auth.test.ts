import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SESSION_COOKIE } from '../../../src/http/access/authenticate.ts'
import { enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
})

afterAll(() => bench.close())

const problem = (status: number, code: string) => ({ status, body: { code, status } })

describe('bearer tokens', () => {
  it('OPS-1 without one nobody gets in, but to the probes and the document', async () => {
    expect(await bench.call('GET /v1/jobs', { as: '' })).toMatchObject(problem(401, 'UNAUTHENTICATED'))
    expect(await bench.call('GET /metrics', { as: '' })).toMatchObject(problem(401, 'UNAUTHENTICATED'))
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/style.css'])
      expect((await bench.call(`GET ${path}`, { as: '' })).status).toBe(200)
  })

  it('OPS-1 an unknown, expired, revoked or malformed one is 401 alike', async () => {
    const expired = await bench.token({ role: 'admin', expiresInMs: 1 })
    const made = (await bench.call('POST /v1/tokens', { body: { name: 'short', role: 'viewer' } })).body
    expect((await bench.call('GET /v1/jobs', { as: made.secret })).status).toBe(200)
    await bench.call('DELETE /v1/tokens/short')
    for (const as of [`unstuck_${'x'.repeat(43)}`, expired, made.secret, 'x', 'a.b.c']) {
      const reply = await bench.call('GET /v1/jobs', { as })
      expect(reply).toMatchObject(problem(401, 'UNAUTHENTICATED'))
      expect(reply.body.detail).toBe('the token is unknown, expired or revoked')
      expect(reply.headers.get('www-authenticate')).toContain('Bearer')
    }
    const headers = { authorization: 'Basic YTpi' }
    expect(await bench.call('GET /v1/jobs', { as: '', headers })).toMatchObject({ status: 401 })
  })

  it('OPS-1 the secret is shown once and kept as a digest', async () => {
    const { body } = await bench.call('POST /v1/tokens', {
      body: { name: 'ci', role: 'operator', owner: 'ana' },
    })
    expect(body).toMatchObject({ token: { name: 'ci', owner: 'ana', revoked_at: null } })
    const { rows } = await bench.database.pool.query(`select tokens::text as row from unstuck.tokens`)
    expect(JSON.stringify(rows)).not.toContain(body.secret)
    expect(JSON.stringify((await bench.call('GET /v1/tokens')).body)).not.toContain(body.secret)
    const again = await bench.call('POST /v1/tokens', { body: { name: 'ci', role: 'operator' } })
    expect(again).toMatchObject(problem(409, 'STATE_CONFLICT'))
  })
})

describe('JSON web tokens', () => {
  const secret = 'a secret of at least thirty-two bytes'
  const key = new TextEncoder().encode(secret)
  const jwt = { issuer: 'https://login.example', audience: 'unstuck', secret, ownerClaim: 'tenant' }
  const sign = (
    claims: Record<string, unknown>,
    change: (token: SignJWT) => SignJWT = (token) => token,
    alg = 'HS256',
  ) =>
    change(
      new SignJWT({ role: 'support', tenant: 'ana', ...claims })
        .setProtectedHeader({ alg })
        .setIssuer(jwt.issuer)
        .setAudience(jwt.audience)
        .setSubject('u7')
        .setExpirationTime('5m'),
    ).sign(key)

  it('OPS-1 one of the configured issuer is let in with its role and owner', async () => {
    const app = bench.build({ jwt })
    const { body } = await bench.call('GET /v1/me', { as: await sign({}) }, app)
    expect(body).toMatchObject({ id: 'jwt:u7', owner: 'ana' })
    expect(body.scopes).toContain('jobs:retry')
    const some = await bench.call('GET /v1/me', { as: await sign({ scope: 'jobs:read made:up' }) }, app)
    expect(some.body.scopes).toEqual(['jobs:read'])
    expect((await bench.call('GET /v1/me', { as: await sign({ role: 'root' }) }, app)).body.scopes).toEqual(
      [],
    )
  })

  it('OPS-1 one of another issuer, audience, time, key, algorithm or without an owner is not', async () => {
    const app = bench.build({ jwt })
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"u7","role":"admin"}')}.`.replaceAll('=', '')
    const bad = [
      await sign({}, (token) => token.setIssuer('https://evil.example')),
      await sign({}, (token) => token.setAudience('other')),
      await sign({}, (token) => token.setExpirationTime('-1m')),
      await sign({}, (token) => token, 'HS512'),
      await sign({ tenant: undefined }),
      await sign({ tenant: '' }),
      `${(await sign({})).slice(0, -3)}abc`,
      unsigned,
    ]
    for (const as of bad)
      expect(await bench.call('GET /v1/me', { as }, app)).toMatchObject(problem(401, 'UNAUTHENTICATED'))
    expect(await bench.call('GET /v1/me', { as: await sign({}) })).toMatchObject({ status: 401 })
  })
})

describe('a browser', () => {
  const page = { 'sec-fetch-site': 'same-origin', 'x-unstuck': '1' }

  it('OPS-1 keeps its token in a cookie that no script reads and no other site sends', async () => {
    const token = await bench.token({ role: 'operator' })
    const reply = await bench.call('POST /v1/session', { as: '', body: { token }, headers: page })
    const cookie = reply.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/)
    expect(reply.body.scopes).toContain('jobs:cancel')
    const headers = { cookie: cookie.split(';')[0] ?? '' }
    expect((await bench.call('GET /v1/jobs', { as: '', headers })).status).toBe(200)
    const bad = await bench.call('POST /v1/session', { as: '', body: { token: 'x' }, headers: page })
    expect(bad).toMatchObject(problem(401, 'UNAUTHENTICATED'))
    for (const odd of ['a b', 'x\n', 'x; Domain=evil.example', ''])
      expect(
        (await bench.call('POST /v1/session', { as: '', body: { token: odd }, headers: page })).status,
      ).toBe(400)
    const end = await bench.call('DELETE /v1/session', { as: '', headers: { ...headers, ...page } })
    expect(end.headers.get('set-cookie')).toContain('Max-Age=0')
  })

  it.each([
    ['from another site', { 'sec-fetch-site': 'cross-site', 'x-unstuck': '1' }, 403],
    ['from a sister site', { 'sec-fetch-site': 'same-site', 'x-unstuck': '1' }, 403],
    ['without our header', { 'sec-fetch-site': 'same-origin' }, 403],
    ['without any of it', {}, 403],
    ['from a page of ours', { 'sec-fetch-site': 'same-origin', 'x-unstuck': '1' }, 201],
  ])('OPS-1 a write by cookie %s', async (_, headers, status) => {
    const cookie = `${SESSION_COOKIE}=${await bench.token({ role: 'operator' })}`
    const call = { as: '', body: { type: 'csrf' }, headers: { ...headers, cookie } }
    expect((await bench.call('POST /v1/jobs', call)).status).toBe(status)
  })

  it('OPS-1 answers carry a strict content policy and are not to be framed, sniffed or cached', async () => {
    for (const path of ['/docs', '/v1/jobs', '/healthz', '/nowhere']) {
      const { headers } = await bench.call(`GET ${path}`)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.has('access-control-allow-origin')).toBe(false)
    }
  })
})

describe('a server of this machine alone', () => {
  const host = (name: string) => ({ as: '', headers: { host: name } })

  it('OPS-1 lets in whoever is on it, and no page that only borrowed its address', async () => {
    const app = bench.build({ isOpenToLoopback: true })
    for (const name of ['127.0.0.1', 'localhost:4700', '[::1]:4700'])
      expect((await bench.call('GET /v1/jobs', host(name), app)).status).toBe(200)
    for (const name of ['evil.example', 'localhost.evil.example', '10.0.0.7', '127.0.0.1.nip.io:4700'])
      expect(await bench.call('GET /v1/jobs', host(name), app)).toMatchObject(problem(403, 'FORBIDDEN'))
  })

  it('OPS-1 takes a write from a program, but from a browser only of its own page', async () => {
    const app = bench.build({ isOpenToLoopback: true })
    const write = (headers: Record<string, string>) =>
      bench.call('POST /v1/jobs', { as: '', body: { type: 'local' }, headers }, app)
    expect((await write({})).status).toBe(201)
    expect((await write({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await write({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await write({ 'sec-fetch-site': 'same-origin', 'x-unstuck': '1' })).status).toBe(201)
  })
})

describe('inside an application', () => {
  it('OPS-1 the hook says who it is; where it says nothing, tokens count', async () => {
    const app = bench.build({
      authorize: (request) =>
        request.headers.get('x-user') === 'ana' ? { id: 'ana', scopes: ['jobs:read'], owner: 'ana' } : null,
    })
    const { body } = await bench.call('GET /v1/me', { as: '', headers: { 'x-user': 'ana' } }, app)
    expect(body).toMatchObject({ id: 'ana', owner: 'ana', scopes: ['jobs:read'] })
    expect((await bench.call('GET /v1/me', { as: '' }, app)).status).toBe(401)
    expect((await bench.call('GET /v1/me', { as: 'viewer' }, app)).status).toBe(200)
  })
})

describe('limits', () => {
  it('RATE-1 a caller with too many requests learns when to retry', async () => {
    const app = bench.build({ rateLimit: { ratePerS: 0.01, burst: 2 } })
    const first = await bench.call('GET /v1/jobs', {}, app)
    expect(first.headers.get('ratelimit-limit')).toBe('2')
    expect(first.headers.get('ratelimit-remaining')).toBe('1')
    await bench.call('GET /v1/jobs', {}, app)
    const third = await bench.call('GET /v1/jobs', {}, app)
    expect(third).toMatchObject(problem(429, 'RATE_LIMITED'))
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
    // Each caller has its own bucket.
    expect((await bench.call('GET /v1/jobs', { as: 'viewer' }, app)).status).toBe(200)
  })
})

describe('redaction', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1NyJ9.c2lnbmF0dXJl'
  const payload = { file: 'a.pdf', user: { apiKey: 'k1', password: 'p1' }, note: `Bearer ${jwt}` }

  it('OPS-1 secrets in payloads, reasons and stacks are taken out', async () => {
    const failure = { reason: `refused postgres://u:hunter2@db/x`, stack: `Error: token ${jwt}\n  at x` }
    const jobId = await kill(bench.store, { type: 'secret', payload }, failure)
    const replies = [
      await bench.call(`GET /v1/jobs/${jobId}`),
      await bench.call(`GET /v1/jobs/${jobId}/events`),
      await bench.call(`GET /v1/jobs/${jobId}/attempts`),
      await bench.call('GET /v1/jobs?q=type:secret&with_payload=true'),
      await bench.call('GET /v1/dead-letters'),
    ]
    const text = JSON.stringify(replies.map(({ body }) => body))
    for (const word of ['k1', 'p1', 'hunter2', jwt]) expect(text).not.toContain(word)
    expect(replies[0]?.body.job).toMatchObject({
      payload: { file: 'a.pdf', user: { apiKey: '[redacted]', password: '[redacted]' } },
    })
    expect(replies[0]?.body.job.error_detail.stack).toContain('at x')
  })

  it('OPS-1 without jobs:payload there are neither payloads nor stacks', async () => {
    const jobId = await kill(bench.store, { type: 'secret', payload }, { stack: 'Error\n  at secret-place' })
    const one = (await bench.call(`GET /v1/jobs/${jobId}`, { as: 'viewer' })).body.job
    expect(one).not.toHaveProperty('payload')
    expect(one).not.toHaveProperty('result')
    expect(one.error_detail).not.toHaveProperty('stack')
    const list = await bench.call('GET /v1/jobs?with_payload=true', { as: 'viewer' })
    expect(JSON.stringify(list.body)).not.toContain('a.pdf')
    const events = await bench.call(`GET /v1/jobs/${jobId}/events`, { as: 'viewer' })
    expect(JSON.stringify(events.body)).not.toContain('secret-place')
  })

  it('OPS-1 a team takes out more by its own rule', async () => {
    const app = bench.build({ redact: { withEmails: true, payload: () => 'withheld' } })
    const jobId = await enqueue(bench.store, { type: 'own-rule', payload: { a: 1 } })
    expect((await bench.call(`GET /v1/jobs/${jobId}`, {}, app)).body.job.payload).toBe('withheld')
  })
})
