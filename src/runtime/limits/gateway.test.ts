import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { classifyError } from '../../policy/retry/classify-error.ts'
import { createGateway, type GatewayCall, type GatewayOptions } from './gateway.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A real server on a free port, with every connection it got. */
async function serve(answer: Answer) {
  const sockets: Socket[] = []
  const server = createServer(answer).on('connection', (socket) => sockets.push(socket))
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, sockets, server }
}

function observedGateway(options: Partial<GatewayOptions> = {}) {
  const calls: GatewayCall[] = []
  const gateway = createGateway({ timeoutMs: 10_000, onCall: (call) => calls.push(call), ...options })
  return { gateway, calls }
}

async function caught(promise: Promise<unknown>): Promise<unknown> {
  const nothing = Symbol('nothing')
  const error = await promise.then(() => nothing).catch((thrown: unknown) => thrown)
  if (error === nothing) throw new Error('nothing was thrown')
  return error
}

/** Hangs, and so fails the test, while the call's connection stays open. A later one is fetch's own spare. */
async function callClosed([socket]: Socket[]): Promise<void> {
  if (socket === undefined) throw new Error('no connection came')
  if (!socket.closed) await new Promise((resolve) => socket.on('error', () => {}).on('close', resolve))
}

const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end('body')

const hang: Answer = () => {}
const hangInBody: Answer = (_request, response) => void response.writeHead(200).write('half')

describe('an answer', () => {
  it('WORK-3 under 400 is given to the caller, body and all', async () => {
    const { url } = await serve(answerWith(200))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    const response = await gateway('/convert?key=s3cret', { method: 'POST', body: 'x' })
    expect([response.status, await response.text()]).toEqual([200, 'body'])
    expect(calls).toEqual([
      { url: `${url}/convert`, status: 200, outcome: 'ok', durationMs: expect.any(Number) },
    ])
  })

  it('WORK-3 that redirects is given to a caller who asked for it', async () => {
    const { url } = await serve(answerWith(302, { location: '/elsewhere' }))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    expect((await gateway('/x', { redirect: 'manual' })).status).toBe(302)
    expect(calls[0]?.outcome).toBe('ok')
  })

  it.each([
    [400, 'GW_4XX', 'PERMANENT', false, 'client-error'],
    [404, 'GW_4XX', 'PERMANENT', false, 'client-error'],
    [408, 'GW_TIMEOUT', 'TRANSIENT', true, 'timeout'],
    [429, 'GW_5XX', 'TRANSIENT', true, 'limited'],
    [500, 'GW_5XX', 'TRANSIENT', true, 'server-error'],
    [502, 'GW_5XX', 'TRANSIENT', true, 'server-error'],
  ])('FAIL-3 of status %i is a JobError %s', async (status, code, category, isRetryable, outcome) => {
    const { url } = await serve(answerWith(status))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    const error = await caught(gateway('/convert?key=s3cret'))
    expect(error).toMatchObject({ name: 'JobError', code, category, gatewayStatus: status })
    expect(classifyError(error)).toMatchObject({
      publicCode: code,
      isRetryable,
      gatewayStatus: status,
      reason: `the gateway answered ${status}`,
    })
    expect(classifyError(error).stack).toContain(`GET ${url}/convert\n`)
    expect(calls).toMatchObject([{ url: `${url}/convert`, status, outcome }])
  })

  it('FAIL-2 of a failed call leaves no socket behind, however long its body', async () => {
    const { url, sockets } = await serve((_request, response) => {
      response.writeHead(502).write('x'.repeat(100_000))
    })
    const { gateway } = observedGateway({ baseUrl: url })
    await caught(gateway('/x'))
    await callClosed(sockets)
  })
})

describe('an answer that no handler can read', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' }
  const json = { 'content-type': 'application/json' }

  it('FAIL-3 an HTML page with 200 is permanent and shown as GW_4XX', async () => {
    const { url, sockets } = await serve(answerWith(200, html))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    const error = await caught(gateway('/convert', { method: 'POST', body: '{}' }))
    expect(classifyError(error)).toMatchObject({
      code: 'PARSE_ERROR',
      publicCode: 'GW_4XX',
      category: 'PERMANENT',
      isRetryable: false,
      gatewayStatus: 200,
      reason: 'the gateway answered 200 with an HTML page',
    })
    expect(calls).toMatchObject([{ status: 200, outcome: 'client-error' }])
    expect(sockets).toHaveLength(1)
  })

  it('FAIL-3 an HTML page is given to a caller who accepts one', async () => {
    const { url } = await serve(answerWith(200, html))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    const response = await gateway('/page', { headers: { accept: 'text/html, */*' } })
    expect(await response.text()).toBe('body')
    expect((await gateway('/page', { method: 'HEAD' })).status).toBe(200)
    expect(calls).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
  })

  it.each([
    ['half of it', '{"xml": "<a'],
    ['no body at all', ''],
    ['HTML called JSON', '<html></html>'],
  ])('FAIL-3 broken JSON (%s) is permanent and shown as GW_4XX', async (_, body) => {
    const { url } = await serve((_request, response) => void response.writeHead(200, json).end(body))
    const { gateway } = observedGateway({ baseUrl: url })
    for (const read of [
      (response: Response) => response.json(),
      (response: Response) => response.clone().json(),
    ]) {
      const error = await caught(read(await gateway('/convert')))
      expect(classifyError(error)).toMatchObject({
        code: 'PARSE_ERROR',
        publicCode: 'GW_4XX',
        category: 'PERMANENT',
        isRetryable: false,
        gatewayStatus: 200,
        reason: 'the gateway answered 200 with broken JSON',
      })
      expect(classifyError(error).stack).toContain(`GET ${url}/convert\n`)
    }
  })

  it('FAIL-3 a body that the connection broke off is tried again', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { ...json, 'content-length': '100' }).write('{"a":', () => response.destroy())
    })
    const { gateway } = observedGateway({ baseUrl: url })
    const error = await caught(gateway('/convert').then((response) => response.json()))
    expect(classifyError(error)).toMatchObject({ publicCode: 'GW_5XX', isRetryable: true })
  })

  it('FAIL-3 good JSON is read as ever', async () => {
    const { url } = await serve((_request, response) => void response.writeHead(200, json).end('{"a":1}'))
    const { gateway } = observedGateway({ baseUrl: url })
    expect(await (await gateway('/x')).json()).toEqual({ a: 1 })
  })
})

describe('Retry-After', () => {
  const date = 'Fri, 31 Dec 1999 23:59:00 GMT'
  it.each([
    [429, { 'retry-after': '7' }, 7000],
    [408, { 'retry-after': '1' }, 1000],
    [503, { 'retry-after': 'Fri, 31 Dec 1999 23:59:30 GMT', date }, 30_000],
    [503, { 'retry-after': 'Fri, 31 Dec 1999 23:58:00 GMT', date }, undefined],
    [503, { 'retry-after': '0' }, undefined],
    [503, { 'retry-after': '-5' }, undefined],
    [503, { 'retry-after': 'soon' }, undefined],
    [503, {}, undefined],
    [400, { 'retry-after': '7' }, undefined],
  ])('FAIL-3 on %i with %o decides the wait', async (status, headers, retryInMs) => {
    const { url } = await serve(answerWith(status, headers))
    const error = await caught(observedGateway({ baseUrl: url }).gateway('/x'))
    expect(classifyError(error).retryInMs).toBe(retryInMs)
  })

  it.each([
    [429, { 'retry-after': '4' }, 4_000],
    [429, { 'retry-after': '86400' }, 3_600_000],
    [429, { 'retry-after': 'Sat, 01 Jan 2000 23:59:00 GMT', date }, 3_600_000],
    [429, { 'retry-after': '0' }, 1_000],
    [429, {}, 1_000],
    [503, { 'retry-after': '4' }, 4_000],
    [503, { 'retry-after': 'Fri, 31 Dec 1999 23:59:30 GMT', date }, 30_000],
  ])(
    'RATE-6 %i with %o is limited: no failure, and a pause of an hour at most',
    async (status, headers, limitedMs) => {
      const { url } = await serve(answerWith(status, headers))
      const { gateway, calls } = observedGateway({ baseUrl: url })
      const classified = classifyError(await caught(gateway('/x')))
      expect(classified).toMatchObject({ release: 'limited', retryInMs: limitedMs, gatewayStatus: status })
      expect(calls).toMatchObject([{ status, outcome: 'limited', limitedMs }])
    },
  )

  it.each([
    [503, {}],
    [503, { 'retry-after': '0' }],
    [500, { 'retry-after': '4' }],
    [408, { 'retry-after': '4' }],
  ])('RATE-6 %i with %o is a failure', async (status, headers) => {
    const { url } = await serve(answerWith(status, headers))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    expect(classifyError(await caught(gateway('/x')))).not.toHaveProperty('release')
    expect(calls[0]).not.toHaveProperty('limitedMs')
  })

  it('FAIL-3 is judged by our clock where the gateway sends no date', async () => {
    const { url } = await serve((_request, response) => {
      response.sendDate = false
      response.writeHead(503, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }).end()
    })
    const { retryInMs = 0 } = classifyError(await caught(observedGateway({ baseUrl: url }).gateway('/x')))
    expect(retryInMs).toBeGreaterThan(3_500_000)
    expect(retryInMs).toBeLessThanOrEqual(3_600_000)
  })
})

describe('no answer', () => {
  it('WORK-3 before the timeout is a GW_TIMEOUT', async () => {
    const { url } = await serve(hang)
    const { gateway, calls } = observedGateway({ baseUrl: url, timeoutMs: 50 })
    const error = await caught(gateway('/x'))
    expect(error).toMatchObject({ name: 'JobError', code: 'GW_TIMEOUT', category: 'TRANSIENT' })
    expect(classifyError(error).reason).toBe('the gateway took longer than 50 ms')
    expect(classifyError(error).stack).toContain(`GET ${url}/x\n`)
    expect(calls).toMatchObject([{ status: null, outcome: 'timeout' }])
    expect(calls[0]?.durationMs).toBeGreaterThan(40)
  })

  it('WORK-3 has a timeout per call too', async () => {
    const { url } = await serve(hang)
    const { gateway } = observedGateway({ baseUrl: url })
    expect(await caught(gateway('/x', { timeoutMs: 20 }))).toMatchObject({ code: 'GW_TIMEOUT' })
  })

  it('WORK-3 in the middle of a body is cut off by the same timeout', async () => {
    const { url, sockets } = await serve(hangInBody)
    const { gateway, calls } = observedGateway({ baseUrl: url, timeoutMs: 3_000 })
    const response = await gateway('/x')
    const error = await caught(response.text())
    expect(classifyError(error)).toMatchObject({ publicCode: 'GW_TIMEOUT', isRetryable: true })
    expect(calls).toMatchObject([{ status: 200, outcome: 'ok' }])
    await callClosed(sockets)
  })

  it('FAIL-2 but a reset connection is GW_UNAVAILABLE, shown as GW_5XX', async () => {
    const { url } = await serve((request) => void request.socket.resetAndDestroy())
    const { gateway, calls } = observedGateway({ baseUrl: url })
    const error = await caught(gateway('/x'))
    expect(error).toMatchObject({
      code: 'GW_UNAVAILABLE',
      category: 'TRANSIENT',
      cause: { message: `GET ${url}/x`, cause: expect.any(TypeError) },
    })
    expect(classifyError(error)).toMatchObject({ publicCode: 'GW_5XX', isRetryable: true })
    expect(calls).toMatchObject([{ status: null, outcome: 'unavailable' }])
  })

  it('FAIL-2 from a closed port is GW_UNAVAILABLE, and the reason names why', async () => {
    const { url, host, server } = await serve(hang)
    await new Promise((resolve) => server.close(resolve))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    const error = await caught(gateway('/x'))
    expect(classifyError(error)).toMatchObject({ code: 'GW_UNAVAILABLE', publicCode: 'GW_5XX' })
    const { reason, stack } = classifyError(error)
    expect(reason).toBe('the gateway could not be reached, or broke the connection (ECONNREFUSED)')
    expect(stack).toContain(host)
    expect(calls).toMatchObject([{ outcome: 'unavailable' }])
  })

  it("FAIL-2 within fetch's own limits is a GW_TIMEOUT too", async () => {
    const cause = Object.assign(new Error('x'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    const { gateway, calls } = observedGateway({ baseUrl: 'http://gw', fetch })
    expect(await caught(gateway('/x'))).toMatchObject({ code: 'GW_TIMEOUT' })
    expect(calls[0]?.outcome).toBe('timeout')
  })
})

describe("the caller's own signal", () => {
  it('WORK-3 wins, and its reason is thrown as it is', async () => {
    const controller = new AbortController()
    const reason = new Error('lease lost')
    const { url } = await serve(() => controller.abort(reason))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    expect(await caught(gateway('/x', { signal: controller.signal }))).toBe(reason)
    expect(calls).toMatchObject([{ status: null, outcome: 'aborted' }])
  })

  it('WORK-3 that has fired already lets no call out', async () => {
    const { url, sockets } = await serve(answerWith(200))
    const { gateway, calls } = observedGateway({ baseUrl: url })
    expect(await caught(gateway('/x', { signal: AbortSignal.abort('a word') }))).toBe('a word')
    expect(calls[0]?.outcome).toBe('aborted')
    expect(sockets).toEqual([])
  })

  it('WORK-3 also stops a body', async () => {
    const { url } = await serve(hangInBody)
    const controller = new AbortController()
    const reason = new Error('shutting down')
    const response = await observedGateway({ baseUrl: url }).gateway('/x', { signal: controller.signal })
    const body = caught(response.text())
    controller.abort(reason)
    expect(await body).toBe(reason)
  })
})

describe('the address of a call', () => {
  it.each([
    ['', '/convert', '/convert'],
    ['/', 'convert', '/convert'],
    ['/v2/', '/convert?page=1', '/v2/convert?page=1'],
    ['/v2?version=3', '/convert', '/v2/convert?version=3'],
    ['/v2', '//evil.example/x', '/v2/evil.example/x'],
    ['/v2', '', '/v2/'],
  ])('WORK-3 under the base %j, %j goes to %j', async (base, path, expected) => {
    const { url } = await serve((request, response) => void response.end(request.url))
    const { gateway } = observedGateway({ baseUrl: `${url}${base}` })
    expect(await (await gateway(path)).text()).toBe(expected)
  })

  it('WORK-3 may be whole, and needs no base then', async () => {
    const { url } = await serve((request, response) => void response.end(request.url))
    const { gateway } = observedGateway({ baseUrl: null })
    expect(await (await gateway(`${url}/a`)).text()).toBe('/a')
    expect(await (await gateway(new URL(`${url}/b`))).text()).toBe('/b')
    await expect(gateway('/c')).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    await expect(gateway('ftp://gw/x')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('WORK-3 sends user and password as a header and shows them to nobody', async () => {
    const { host } = await serve((request, response) => {
      response.writeHead(request.url === '/bad' ? 500 : 200).end(request.headers.authorization)
    })
    const { gateway, calls } = observedGateway({ baseUrl: `http://app:p%40ss%@${host}` })
    const sent = await (await gateway('/x')).text()
    expect(Buffer.from(sent.replace('Basic ', ''), 'base64').toString()).toBe('app:p%40ss%')
    const own = await gateway('/x', { headers: { authorization: 'Bearer own' } })
    expect(await own.text()).toBe('Bearer own')
    expect(String(await caught(gateway('/bad')))).not.toContain('app')
    expect(JSON.stringify(calls)).not.toContain('app')
  })
})

describe('a mistake of the caller', () => {
  it('WORK-3 is no failure of the gateway and is not counted as one', async () => {
    const { gateway, calls } = observedGateway({ baseUrl: 'http://127.0.0.1:9' })
    expect(await caught(gateway('/x', { method: 'GET', body: 'x' }))).toBeInstanceOf(TypeError)
    expect(calls).toEqual([])
  })

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31])(
    'WORK-3 such as a timeout of %d is refused',
    async (timeoutMs) => {
      expect(() => createGateway({ timeoutMs })).toThrow(
        /^timeoutMs: got .*, takes whole milliseconds from 1/,
      )
      const { gateway } = observedGateway({ baseUrl: 'http://gw' })
      await expect(gateway('/x', { timeoutMs })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    },
  )

  it('WORK-3 such as a base that is no URL is refused and not repeated', () => {
    for (const baseUrl of ['app:hunter2@gw', 'ftp://app:hunter2@gw']) {
      expect(() => createGateway({ timeoutMs: 1, baseUrl })).toThrow(
        'baseUrl: got a string (withheld), takes an http or https URL',
      )
    }
  })
})

describe('onCall', () => {
  it('WORK-3 changes nothing by throwing', async () => {
    const { url } = await serve(answerWith(200))
    const onCall = () => {
      throw new Error('no metrics today')
    }
    expect((await createGateway({ baseUrl: url, timeoutMs: 10_000, onCall })('/x')).status).toBe(200)
  })
})
