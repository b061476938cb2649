import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BuiltApp } from '../../src/http/app.ts'
import { type LeasesMessage, streamData } from '../../src/http/contract.ts'
import { type EventSourceReader, readEventSource } from './event-source.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from './http-bench.ts'

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
    // The first look remembers what was there before.
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
    // A slow machine may look again before all of them are there: far less often than each for itself.
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
