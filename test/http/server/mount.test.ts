// The same handler inside other servers, over real sockets.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
// @ts-expect-error -- it brings no types
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/index.ts'
import { createApp, toNodeListener } from '../../../src/http/index.ts'
import { enqueue, type HttpBench, openHttpBench } from '../http-bench.ts'
import { readEventSource } from '../stream/event-source.ts'

let bench: HttpBench
let authorization: string

beforeAll(async () => {
  bench = await openHttpBench()
  authorization = `Bearer ${await bench.token({ role: 'admin' })}`
})

afterAll(() => bench.close())

function serverOf(fetch: (request: Request) => Response | Promise<Response>): Server {
  const listener = getRequestListener(fetch)
  return createServer((incoming, outgoing) => void listener(incoming, outgoing))
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Express brings no types of its own. */
interface Express extends RequestListener {
  (...args: Parameters<RequestListener>): void
  use(path: string, listener: RequestListener): void
  get(path: string, handler: (request: unknown, response: { send(text: string): void }) => void): void
}
const newExpress = express as unknown as () => Express

/** Under /ops: reads, writes, streams, refuses, and leaves the rest to the application. */
async function expectMounted(url: string): Promise<void> {
  expect(await (await fetch(`${url}/`)).text()).toBe('the application')
  for (const page of ['/ops/', '/ops/jobs/'])
    expect((await fetch(`${url}${page}`)).headers.get('content-type')).toContain('text/html')
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify({ type: 'mounted', payload: { text: 'ä'.repeat(50_000) } })
  const made = await fetch(`${url}/ops/v1/jobs`, { method: 'POST', headers, body })
  expect(made.status).toBe(201)
  const { id } = (await made.json()) as { id: string }
  const found = await fetch(`${url}/ops/v1/jobs/${id}?table=jobs`, { headers: { authorization } })
  expect(await found.json()).toMatchObject({ job: { id, type: 'mounted' } })
  expect(found.headers.get('content-security-policy')).toContain("default-src 'none'")
  const cancelled = await fetch(`${url}/ops/v1/jobs/${id}/cancel`, {
    method: 'POST',
    headers: { authorization, 'if-match': '"1"' },
  })
  expect(await cancelled.json()).toMatchObject({ outcome: 'cancelled' })
  const gone = await fetch(`${url}/ops/v1/jobs/${id}`, { method: 'DELETE', headers: { authorization } })
  expect(gone.status).toBe(200)
  expect((await fetch(`${url}/ops/v1/jobs`)).status).toBe(401)
  expect((await fetch(`${url}/ops/v1/nothing`, { headers: { authorization } })).status).toBe(404)
  expect((await fetch(`${url}/v1/jobs`, { headers: { authorization } })).status).toBe(404)
  const broken = await fetch(`${url}/ops/v1/jobs`, { method: 'POST', headers, body: '{' })
  expect(await broken.json()).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
  const stream = await fetch(`${url}/ops/v1/stream?topics=counts`, { headers: { authorization } })
  const reader = readEventSource(stream)
  expect((await reader.next(({ event }) => event === 'counts')).data.tables).toHaveLength(1)
  await reader.close()
}

describe('createApp()', () => {
  it('OPS-1 works as a fetch handler, with connections of its own', async () => {
    const app = createApp({ config: loadConfig({ env: { DATABASE_URL: bench.database.url } }) })
    const response = await app.fetch(new Request('http://x/v1/jobs', { headers: { authorization } }))
    expect(response.status).toBe(200)
    const doctor = await app.fetch(new Request('http://x/v1/doctor', { headers: { authorization } }))
    expect(doctor.status).toBe(200)
    await app.close()
  })

  it('OPS-1 inside node:http: enqueues, streams, and notices when a viewer leaves', async () => {
    const url = await listening(serverOf(bench.app.fetch))
    const body = JSON.stringify({ type: 'socket', payload: { n: 1 } })
    const headers = { authorization, 'content-type': 'application/json' }
    const made = await fetch(`${url}/v1/jobs`, { method: 'POST', headers, body })
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    expect(await bench.store.getJob(id)).toMatchObject({ payload: { n: 1 } })
    const bare = await fetch(`${url}/v1/jobs/${id}/cancel`, { method: 'POST', headers: { authorization } })
    expect(bare.status).toBe(200)
    const big = await fetch(`${url}/v1/jobs`, { method: 'POST', headers, body: `"${'x'.repeat(1_100_000)}"` })
    expect(big.status).toBe(413)
    const reader = readEventSource(
      await fetch(`${url}/v1/stream?topics=counts`, { headers: { authorization } }),
    )
    expect((await reader.next(({ event }) => event === 'counts')).data.tables).toHaveLength(1)
    await reader.close()
  })

  it('OPS-1 inside Hono, under a path of its own', async () => {
    const ops = bench.build({ basePath: '/ops' })
    const outer = new Hono()
    outer.get('/', (c) => c.text('the application'))
    outer.all('/ops/*', (c) => ops.fetch(c.req.raw))
    const url = await listening(serverOf(outer.fetch))
    expect(await (await fetch(`${url}/`)).text()).toBe('the application')
    const jobId = await enqueue(bench.store, { type: 'based' })
    const found = await fetch(`${url}/ops/v1/jobs/${jobId}`, { headers: { authorization } })
    expect(found.status).toBe(200)
    expect((await fetch(`${url}/ops/v1/jobs/${jobId}`)).status).toBe(401)
    expect((await fetch(`${url}/ops/openapi.json`)).status).toBe(200)
    const retried = await fetch(`${url}/ops/api/jobs/${jobId}/retry`, {
      method: 'POST',
      headers: { authorization },
    })
    expect(await retried.json()).toMatchObject({ code: 'FORBIDDEN', catalog_code: 'FORBIDDEN' })
  })

  it('OPS-1 inside Express 5', async () => {
    const outer = newExpress()
    outer.use('/ops', toNodeListener(bench.build({ basePath: '/ops' })))
    outer.get('/', (_, response) => response.send('the application'))
    await expectMounted(await listening(createServer(outer)))
  })

  it('OPS-1 inside Fastify 5', async () => {
    const outer = fastify()
    const listener = toNodeListener(bench.build({ basePath: '/ops' }))
    outer.get('/', async () => 'the application')
    await outer.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      scope.all('/ops/*', (request, reply) => {
        reply.hijack()
        listener(request.raw, reply.raw)
      })
    })
    await outer.ready()
    onTestFinished(() => outer.close())
    await expectMounted(await listening(outer.server))
  })

  it('OPS-1 as route handlers of Next: one function for every method', async () => {
    const ops = bench.build({ basePath: '/ops' })
    // As exported by app/ops/[...path]/route.ts.
    const handler = (request: Request) => ops.fetch(request)
    const handlers = new Map(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, handler]))
    const next = (request: Request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/') return new Response('the application')
      if (!pathname.startsWith('/ops/')) return new Response('not found', { status: 404 })
      return handlers.get(request.method)?.(request) ?? new Response(null, { status: 405 })
    }
    await expectMounted(await listening(serverOf(next)))
  })

  it('OPS-1 inside Hono, with everything else of the application beside it', async () => {
    const ops = bench.build({ basePath: '/ops' })
    const outer = new Hono()
    outer.get('/', (c) => c.text('the application'))
    outer.all('/ops/*', (c) => ops.fetch(c.req.raw, c.env as object))
    await expectMounted(await listening(serverOf(outer.fetch)))
  })
})
