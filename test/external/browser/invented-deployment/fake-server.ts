// The invented deployment over HTTP: requests, and the stream.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toWireBreaker } from '../../../../src/http/wire/breakers.ts'
import { createFakeApi } from './fake-api.ts'
import { addWaiting, advance, healthsOf, leasesOf } from './fake-world.ts'
import { iso } from './iso.ts'

const STREAM_MS = 500

type FakeApi = ReturnType<typeof createFakeApi>

/** Handles paths under `/v1/`; returns false for others. */
export function createFakeHandler(kind: 'full' | 'empty') {
  const api = createFakeApi(kind)
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const path = url.pathname.slice(1)
    if (!path.startsWith('v1/')) return false
    if (path === 'v1/stream') {
      stream(api, response)
      return true
    }
    const answer = api.answer({
      method: request.method ?? 'GET',
      path,
      query: url.searchParams,
      body: await bodyOf(request),
    })
    const type = answer.status < 400 ? 'application/json' : 'application/problem+json'
    response.writeHead(answer.status, { 'content-type': type }).end(JSON.stringify(answer.body))
    return true
  }
  return Object.assign(handle, { enqueue: (count: number) => addWaiting(api.world, count) })
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function stream({ world, operations }: FakeApi, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const send = (topic: string, data: object) =>
    response.write(`event: ${topic}\ndata: ${JSON.stringify({ db_now: iso(Date.now()), ...data })}\n\n`)
  for (const event of world.events.slice(0, 10).toReversed()) send('events', { event })
  const tell = () => {
    const now = Date.now()
    operations.advance(now)
    for (const event of advance(world, now)) send('events', { event })
    send('leases', { leases: leasesOf(world, now), is_complete: true })
    send('counts', { tables: healthsOf(world), queues: world.queues })
    send('breakers', { breakers: world.breakers.map(toWireBreaker) })
  }
  tell()
  const timer = setInterval(tell, STREAM_MS)
  response.on('close', () => clearInterval(timer))
}
