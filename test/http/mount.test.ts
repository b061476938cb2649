// The same handler inside other servers, over real sockets.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { createApp } from '../../src/http/index.ts'
import { readEventSource } from './event-source.ts'
import { enqueue, type HttpBench, openHttpBench } from './http-bench.ts'

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
})
