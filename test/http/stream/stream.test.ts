import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { UnstuckError } from '../../../src/errors/index.ts'
import type { BuiltApp } from '../../../src/http/app.ts'
import { type LeasesMessage, streamData } from '../../../src/http/contract/index.ts'
import { toNodeListener } from '../../../src/http/index.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'
import { type EventSourceReader, readEventSource } from './event-source.ts'

let bench: HttpBench
let admin: string
const open: EventSourceReader[] = []

beforeAll(async () => {
  bench = await openHttpBench()
  admin = await bench.token({ role: 'admin' })
})

afterEach(async () => {
  for (const reader of open.splice(0)) await reader.close()
})

afterAll(() => bench.close())

interface Watch {
  token?: string
  lastEventId?: string
  app?: BuiltApp
}

async function watch(topics: string, { token = admin, lastEventId, app = bench.app }: Watch = {}) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  }
  const response = await app.fetch(new Request(`http://127.0.0.1/v1/stream?topics=${topics}`, { headers }))
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = readEventSource(response)
  open.push(reader)
  return reader
}

describe('the live stream', () => {
  it('SEE-5 sends leases with what is left of them, and a beat as a later end', async () => {
    await enqueue(bench.store, { type: 'live' })
    const lease = await claim(bench.store, 'live')
    const reader = await watch('leases')
    const runs = ({ data }: { data: { leases: { id: string }[] } }) =>
      data.leases.some(({ id }) => id === lease.jobId)
    const first = await reader.next(runs)
    expect(streamData.leases.safeParse(first.data).success).toBe(true)
    expect(JSON.stringify(first.data)).not.toContain(lease.leaseId)
    const end = first.data.leases[0].lease_expires_at
    await bench.store.heartbeatJobs([lease])
    const beaten = await reader.next(
      (message) => runs(message) && message.data.leases[0].lease_expires_at > end,
    )
    expect(beaten.data.leases[0].lease_remaining_ms).toBeGreaterThan(0)
    await bench.store.completeJobs([lease])
    await reader.next((message) => message.data.leases.length === 0)
  })

  it('SEE-5 sends each new event once, with an id from which another connection goes on', async () => {
    const reader = await watch('events')
    // The first poll records existing events.
    await watch('counts').then((other) => other.next(({ event }) => event === 'counts'))
    const jobId = await kill(bench.store, { type: 'told' })
    const told = await reader.next(({ data }) => data.event.job_id === jobId)
    expect(told).toMatchObject({ event: 'events', data: { event: { type: 'failed', table: 'jobs' } } })
    expect(told.id?.split('~')[0]).toBe(told.data.event.id)
    expect(streamData.events.safeParse(told.data).success).toBe(true)

    await bench.store.retryJobs([jobId])
    const missed = await kill(bench.store, { type: 'missed' })
    const again = await watch('events', { lastEventId: told.id ?? '' })
    const first = await again.next(() => true)
    expect(first.data.event).toMatchObject({ job_id: jobId, type: 'queued' })
    const second = await again.next(() => true)
    expect(second.data.event).toMatchObject({ job_id: missed, type: 'failed' })
    const later = await kill(bench.store, { type: 'later' })
    expect((await again.next(() => true)).data.event).toMatchObject({ job_id: later })
  })

  it('SEE-5 BREAK-4 sends counts and breakers', async () => {
    await bench.store.mapDependency('convert', 'converter')
    await bench.store.holdBreaker('converter')
    const reader = await watch('counts,breakers')
    const counts = await reader.next(({ event }) => event === 'counts')
    expect(streamData.counts.safeParse(counts.data).error?.message ?? '').toBe('')
    const breakers = await reader.next(({ event }) => event === 'breakers')
    expect(streamData.breakers.safeParse(breakers.data).error?.message ?? '').toBe('')
    expect(breakers.data.breakers).toMatchObject([{ state: 'held' }])
  })

  it('C21 an owner hears of its own jobs only', async () => {
    const ana = await bench.token({ role: 'viewer', owner: 'ana' })
    const { lastEventId } = await bench.access.readClock()
    const ofBob = await kill(bench.store, { type: 'heard', owner: 'bob' })
    const ofAna = await kill(bench.store, { type: 'heard', owner: 'ana' })
    await enqueue(bench.store, { type: 'runs', owner: 'bob' })
    await enqueue(bench.store, { type: 'runs', owner: 'ana' })
    const leases = [await claim(bench.store, 'runs'), await claim(bench.store, 'runs')]
    const reader = await watch('events,leases', { token: ana, lastEventId })
    const event = await reader.next((message) => message.event === 'events')
    expect(event.data.event.job_id).toBe(ofAna)
    expect(event.data.event.job_id).not.toBe(ofBob)
    const running = await reader.next(
      (message) => message.event === 'leases' && message.data.leases.length > 0,
    )
    const { leases: mine }: LeasesMessage = running.data
    expect(mine.map(({ owner }) => owner)).toEqual(['ana'])
    await bench.store.completeJobs(leases)
  })

  it('SEE-5 fifty viewers cost the database what one costs, and none after the last has left', async () => {
    let looks = 0
    const store = new Proxy(bench.store, {
      get(target, name) {
        const verb: unknown = Reflect.get(target, name)
        if (typeof verb !== 'function') return verb
        return (...args: unknown[]) => {
          if (name === 'listBreakers') looks += 1
          return verb.apply(target, args) as unknown
        }
      },
    })
    const app = bench.build({ tables: [{ name: 'jobs', store }] })
    const readers = await Promise.all(Array.from({ length: 50 }, () => watch('breakers', { app })))
    await Promise.all(readers.map((reader) => reader.next(({ event }) => event === 'breakers')))
    const afterFirst = looks
    // A slow machine may poll again before all are open, but far less often than once per stream.
    expect(afterFirst).toBeLessThan(25)
    await Promise.all(readers.map((reader) => reader.next(({ event }) => event === 'breakers')))
    expect(looks - afterFirst).toBeLessThan(25)
    for (const reader of readers) await reader.close()
    const afterLast = looks
    const other = await watch('counts', { app })
    await other.next(({ event }) => event === 'counts')
    expect(looks).toBe(afterLast)
  })

  it('SEE-5 says that it is stale when the database cannot be read, and goes on after', async () => {
    let isDown = true
    const access = new Proxy(bench.access, {
      get(target, name) {
        if (name === 'listNewEvents' && isDown)
          return () => Promise.reject(new Error('password of the inside'))
        const verb: unknown = Reflect.get(target, name)
        return typeof verb === 'function' ? (verb.bind(target) as unknown) : verb
      },
    })
    const app = bench.build({ access })
    const reader = await watch('events', { app })
    const stale = await reader.next(({ event }) => event === 'stale')
    expect(streamData.stale.safeParse(stale.data).success).toBe(true)
    expect(JSON.stringify(stale)).not.toContain('inside')
    isDown = false
    const counts = await watch('counts', { app })
    await counts.next(({ event }) => event === 'counts')
    const jobId = await kill(bench.store, { type: 'after' })
    await reader.next(({ data }) => data.event?.job_id === jobId)
  })

  it('SEE-5 ends with the server', async () => {
    const app = bench.build()
    const reader = await watch('leases', { app })
    await app.close()
    await expect(reader.next(() => false)).rejects.toThrow('ended')
  })
})

describe('viewers that take too much', () => {
  const streamLimit = { perCaller: 2, total: 3 }
  const get = (app: BuiltApp, token: string) =>
    app.fetch(
      new Request('http://127.0.0.1/v1/stream?topics=events', {
        headers: { authorization: `Bearer ${token}` },
      }),
    )
  const opened = async (app: BuiltApp, token: string) => {
    const reader = readEventSource(await get(app, token))
    open.push(reader)
    return reader
  }
  /** Settles when the feed has polled events: earlier ones are not sent. */
  const firstLook = async (app: BuiltApp) => {
    const reader = await watch('counts', { app, token: await bench.token({ role: 'viewer' }) })
    for (let look = 0; look < 2; look++) await reader.next(({ event }) => event === 'counts')
    await reader.close()
  }
  /** Events of 256 KiB each for a viewer. */
  const plantEvents = (count: number) =>
    bench.database.pool.query(
      `insert into unstuck.events (attachment, job_id, type, at, data)
       select 'native', gen_random_uuid()::text, 'complete', now(),
              jsonb_build_object('type', 'complete', 'table', 'jobs', 'at', now(),
                                 'details', jsonb_build_object('note', repeat('x', 262144)))
         from generate_series(1, $1)`,
      [count],
    )

  afterEach(() => bench.database.pool.query("delete from unstuck.events where type = 'complete'"))

  it('RATE-1 a caller has so many streams at once, and another caller has its own', async () => {
    const app = bench.build({ streamLimit })
    const other = await bench.token({ role: 'viewer' })
    const first = await opened(app, admin)
    await opened(app, admin)
    const refused = await get(app, admin)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('10')
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED' })
    await opened(app, other)
    expect(await (await get(app, other)).json()).toMatchObject({ detail: 'too many streams are open' })
    await first.close()
    expect((await get(app, other)).status).toBe(200)
  })

  it('RATE-1 one that does not read is let go, with what it did not read', async () => {
    const app = bench.build({ streamLimit: { perCaller: 1, total: 3 } })
    const response = await get(app, admin)
    const watching = await opened(app, await bench.token({ role: 'viewer' }))
    expect((await get(app, admin)).status).toBe(429)
    const readAll = async () => {
      for (let event = 0; event < 8; event++)
        await watching.next(({ data }) => data.event.type === 'complete')
    }
    const all = readAll()
    await firstLook(app)
    await plantEvents(8)
    await expect.poll(async () => (await get(app, admin)).status, { timeout: 30_000 }).toBe(200)
    await expect(response.text()).rejects.toThrow('does not read')
    // A viewer that reads gets all of them.
    await all
  })

  it('RATE-1 the connection of one that does not read is cut', async () => {
    const app = bench.build()
    const server = createServer(toNodeListener(app))
    const folder = mkdtempSync(join(tmpdir(), 'unstuck-'))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true })
    })
    // Buffers of a local socket are small, TCP buffers grow to many megabytes.
    const path = join(folder, 'socket')
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const client = connect(path)
    onTestFinished(() => void client.destroy())
    client.on('error', () => {})
    client.write(`GET /v1/stream?topics=events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin}\r\n\r\n`)
    await new Promise((resolve) => client.once('data', resolve))
    client.pause()
    const connections = () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
    expect(await connections()).toBe(1)
    await firstLook(app)
    await plantEvents(12)
    await expect.poll(connections, { timeout: 60_000 }).toBe(0)
  }, 90_000)
})

describe('tokens and open streams', () => {
  it('OPS-1 the streams of a token end when it is revoked, and those of others go on', async () => {
    const secret = await bench.token({ role: 'viewer' })
    const name = await nameOf(secret)
    const first = await watch('events', { token: secret })
    const second = await watch('counts', { token: secret })
    const other = await watch('events')
    await bench.access.revokeToken(name, 'test')
    const ends = [first, second].map((reader) => expect(reader.next(() => false)).rejects.toThrow('ended'))
    await Promise.all(ends)
    const jobId = await kill(bench.store, { type: 'after-revoke' })
    await other.next(({ data }) => data.event?.job_id === jobId)
    expect((await bench.call('GET /v1/jobs', { as: secret })).status).toBe(401)
  }, 60_000)

  it('OPS-1 a stream outlives a database that cannot say whether its token still counts', async () => {
    let isDown = false
    const access = new Proxy(bench.access, {
      get(target, name) {
        if (name === 'findToken' && isDown) {
          asked()
          return () => Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'down'))
        }
        const verb: unknown = Reflect.get(target, name)
        return typeof verb === 'function' ? (verb.bind(target) as unknown) : verb
      },
    })
    let asked = () => {}
    const rechecked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const app = bench.build({ access })
    const reader = await watch('counts', { app })
    isDown = true
    await rechecked
    isDown = false
    await reader.next(({ event }) => event === 'counts')
    await reader.next(({ event }) => event === 'counts')
  }, 60_000)
})

async function nameOf(secret: string): Promise<string> {
  const { body } = await bench.call('GET /v1/me', { as: secret })
  return String(body.id).replace('token:', '')
}
