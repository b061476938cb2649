import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { peerAddress } from '../../../src/http/access/peer-address.ts'
import type { TrustedProxyOptions } from '../../../src/http/app-options.ts'
import { type HttpBench, openHttpBench } from '../http-bench.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
})

afterAll(() => bench.close())

const header = 'x-forwarded-user'
const proxy: TrustedProxyOptions = {
  header,
  from: ['10.0.0.0/8', '::1'],
  roles: { ana: 'operator', bob: 'viewer' },
}

async function ask(
  path: string,
  { peer, user, method = 'GET', headers = {}, options = proxy }: Ask,
): Promise<{ status: number; body: { id?: string; detail?: string; scopes?: string[] } }> {
  const app = bench.build({ trustedProxy: options })
  const request = new Request(`http://x${path}`, {
    method,
    headers: { ...(user === undefined ? {} : { [header]: user }), ...headers },
  })
  const response = await app.fetch(request, peer === undefined ? undefined : { address: peer })
  return { status: response.status, body: (await response.json()) as { id?: string } }
}

interface Ask {
  peer?: string
  user?: string
  method?: string
  headers?: Record<string, string>
  options?: TrustedProxyOptions
}

describe('a trusted proxy', () => {
  it.each(['10.1.2.3', '::ffff:10.1.2.3', '::1'])('OPS-1 at %s says who it is', async (peer) => {
    expect(await ask('/v1/me', { peer, user: 'ana' })).toMatchObject({
      status: 200,
      body: { id: 'proxy:ana' },
    })
  })

  it.each(['11.0.0.1', '127.0.0.1', '::2', '::ffff:11.0.0.1', 'nowhere'])(
    'OPS-1 the same header from %s is not believed',
    async (peer) => {
      expect(await ask('/v1/me', { peer, user: 'ana' })).toMatchObject({ status: 401 })
    },
  )

  it('OPS-1 the header is not believed where nobody says which address it comes from', async () => {
    const { status, body } = await ask('/v1/me', { user: 'ana' })
    expect(status).toBe(401)
    expect(body.detail).toContain('the address of the client is unknown')
  })

  it.each(['ana, bob', 'ana,bob', 'a'.repeat(201), ''])(
    'OPS-1 %j names nobody: a client may have sent one of two values',
    async (user) => {
      expect(await ask('/v1/me', { peer: '10.0.0.1', user })).toMatchObject({ status: 401 })
    },
  )

  it('OPS-1 gives the role of the user, that of all others, or none', async () => {
    const peer = '10.0.0.1'
    expect((await ask('/v1/me', { peer, user: 'ana' })).body.scopes).toContain('jobs:cancel')
    expect((await ask('/v1/me', { peer, user: 'bob' })).body.scopes).not.toContain('jobs:cancel')
    expect((await ask('/v1/jobs', { peer, user: 'eve' })).status).toBe(403)
    const everybody = { header, from: ['10.0.0.1'] }
    expect((await ask('/v1/jobs', { peer, user: 'eve', options: everybody })).status).toBe(200)
    expect((await ask('/v1/jobs', { peer: '10.0.0.2', user: 'eve', options: everybody })).status).toBe(401)
  })

  it('OPS-1 its users are behind browsers: a page of another site makes them change nothing', async () => {
    const sent = { peer: '10.0.0.1', user: 'ana', method: 'POST' }
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    expect((await ask('/v1/queues/q/pause', { ...sent, headers: foreign })).status).toBe(403)
    const own = { 'sec-fetch-site': 'same-origin', 'x-unstuck': '1' }
    expect((await ask('/v1/queues/q/pause', { ...sent, headers: own })).status).toBe(200)
  })

  it.each([
    ['no address', { header, from: [] }],
    ['a name', { header, from: ['proxy.example'] }],
    ['too many bits', { header, from: ['10.0.0.0/33'] }],
    ['no bits', { header, from: ['10.0.0.0/'] }],
    ['two slashes', { header, from: ['10.0.0.0/8/8'] }],
    ['a header that means something else', { header: 'Authorization', from: ['::1'] }],
    ['no header', { header: '', from: ['::1'] }],
    ['an unknown role', { header, from: ['::1'], roles: { ana: 'root' as 'admin' } }],
  ])('OPS-8 %s stops the start', (_, trustedProxy) => {
    expect(() => bench.build({ trustedProxy })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
  })
})

describe('the address of the peer', () => {
  it('OPS-1 comes from the socket of a real server', async () => {
    const app = bench.build({ trustedProxy: { header, from: ['127.0.0.1'] } })
    const listener = getRequestListener(app.fetch)
    const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/v1/me`, { headers: { [header]: 'ana' } })
    expect(await response.json()).toMatchObject({ id: 'proxy:ana' })
  })

  it('OPS-1 is unknown where a server says nothing, or nonsense', () => {
    const request = new Request('http://x/')
    for (const nothing of [undefined, null, {}, { params: {} }, { address: 'x' }, { requestIP: () => null }])
      expect(peerAddress(request, nothing)).toBeNull()
    expect(peerAddress(request, { requestIP: () => ({ address: '::ffff:192.0.2.7' }) })).toBe('192.0.2.7')
  })
})

describe('invalid tokens', () => {
  const failureLimit = { ratePerS: 0.001, burst: 3 }
  const wrong = { authorization: `Bearer unstuck_${'x'.repeat(43)}` }

  it('OPS-1 are 429 after some, with when to come again; a right one gets in all the time', async () => {
    const app = bench.build({ failureLimit })
    const right = { authorization: `Bearer ${await bench.token({ role: 'viewer' })}` }
    const call = async (headers: Record<string, string>, address: string) =>
      app.fetch(new Request('http://x/v1/jobs', { headers }), { address })
    for (let time = 0; time < 3; time++) expect((await call(wrong, '192.0.2.1')).status).toBe(401)
    const late = await call(wrong, '192.0.2.1')
    expect(late.status).toBe(429)
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await late.json()).toMatchObject({ code: 'RATE_LIMITED' })
    expect((await call({ cookie: 'unstuck_session=nobody' }, '192.0.2.1')).status).toBe(429)
    expect((await call(right, '192.0.2.1')).status).toBe(200)
    expect((await call(wrong, '192.0.2.2')).status).toBe(401)
    // A request without a token is not a guess.
    expect((await call({}, '192.0.2.1')).status).toBe(401)
  })

  it('OPS-1 at the door of browsers count the same', async () => {
    const app = bench.build({ failureLimit })
    const login = async (token: string) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ token })
      return app.fetch(new Request('http://x/v1/session', { method: 'POST', headers, body }), {
        address: '192.0.2.1',
      })
    }
    for (let time = 0; time < 3; time++) expect((await login('nobody')).status).toBe(401)
    const late = await login('nobody')
    expect(late.status).toBe(429)
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await login(await bench.token({ role: 'viewer' }))).status).toBe(200)
  })
})
