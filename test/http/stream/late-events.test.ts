// Events whose transactions commit in another order than their ids were given.
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BuiltApp } from '../../../src/http/app.ts'
import { EventTail } from '../../../src/http/stream/event-tail.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { enqueue, type HttpBench, openHttpBench } from '../http-bench.ts'
import { type EventSourceReader, readEventSource } from './event-source.ts'

const [table] = nativeProfile('unstuck').tables
let bench: HttpBench
let authorization: string
let slow: pg.Client
const open: EventSourceReader[] = []

beforeAll(async () => {
  bench = await openHttpBench()
  authorization = `Bearer ${await bench.token({ role: 'admin' })}`
  slow = await bench.database.connect()
})

beforeEach(() => slow.query('begin'))

afterEach(async () => {
  await slow.query('rollback')
  for (const reader of open.splice(0)) await reader.close()
})

afterAll(() => bench.close())

async function watch(app: BuiltApp, place?: string): Promise<EventSourceReader> {
  const headers = { authorization, ...(place === undefined ? {} : { 'last-event-id': place }) }
  const response = await app.fetch(new Request('http://x/v1/stream?topics=events', { headers }))
  const reader = readEventSource(response)
  open.push(reader)
  return reader
}

/** Cancels a job, which leaves an event; on a connection whose transaction is open, one that nobody sees yet. */
async function cancelNew(client?: pg.Client): Promise<string> {
  const jobId = await enqueue(bench.store, { type: 'late' })
  const store = client === undefined ? bench.store : createPostgresStore({ client, table, schema: 'unstuck' })
  await store.cancelJobs([jobId])
  return jobId
}

const of =
  (jobId: string) =>
  ({ data }: { data: { event?: { job_id: string } } }) =>
    data.event?.job_id === jobId

describe('a viewer that comes back to a server that nobody watched', () => {
  it('SEE-5 is sent what happens between its past and the first look', async () => {
    const tail = new EventTail(bench.access)
    const { lastEventId } = await bench.access.readClock()
    expect(await tail.after(BigInt(lastEventId))).toEqual([])
    const jobId = await cancelNew()
    expect((await tail.next()).map((event) => event.jobId)).toContain(jobId)
  })
})

describe('an event with a smaller id that commits later', () => {
  it('SEE-5 is sent when it commits, by a stream that was open all the time', async () => {
    const reader = await watch(bench.app)
    // The first look is over when something has come through.
    const before = cancelUntil(reader)
    await before
    const late = await cancelNew(slow)
    const early = await cancelNew()
    await reader.next(of(early))
    // Far more ids than any window that is read again.
    await bench.database.pool.query(
      `insert into unstuck.events (attachment, job_id, type, at, data)
       select 'native', 'x', 'failed', now(), '{"type": "failed", "table": "jobs", "details": {}, "at": "2026-01-01T00:00:00Z"}'
         from generate_series(1, 900)`,
    )
    const last = await cancelNew()
    await reader.next(of(last))
    await slow.query('commit')
    const told = await reader.next(of(late))
    expect(BigInt(told.data.event.id)).toBeLessThan(BigInt((await bench.access.readClock()).lastEventId))
    expect(told.id?.split('~')[0]).toBe((await bench.access.readClock()).lastEventId)
  })

  it('SEE-5 is sent to a viewer that was away when it committed, once, and by another server', async () => {
    const reader = await watch(bench.app)
    await cancelUntil(reader)
    const late = await cancelNew(slow)
    const early = await cancelNew()
    const { id: place } = await reader.next(of(early))
    expect(place).toContain('~')
    await reader.close()
    await slow.query('commit')
    const other = await watch(bench.build(), place ?? '')
    expect((await other.next(() => true)).data.event.job_id).toBe(late)
    const next = await cancelNew()
    expect((await other.next(() => true)).data.event.job_id).toBe(next)
  })

  it('SEE-5 is sent to a viewer that came back before it committed', async () => {
    const reader = await watch(bench.app)
    await cancelUntil(reader)
    const late = await cancelNew(slow)
    const { id: place } = await reader.next(of(await cancelNew()))
    await reader.close()
    const other = await watch(bench.build(), place ?? '')
    const marker = await cancelNew()
    await other.next(of(marker))
    await slow.query('commit')
    await other.next(of(late))
  })
})

describe('ids that never come', () => {
  // The horizon is that of the server: a transaction of another file, of a million rows, holds it back until its end.
  const horizonMs = 120_000

  it('SEE-5 are forgotten once their transaction has rolled back, and while it is open they are not', async () => {
    const tail = new EventTail(bench.access)
    await tail.next()
    // Rolled-back events of earlier tests are gone.
    await expect.poll(async () => (await tail.next(), tail.missing(9)), { timeout: horizonMs }).toEqual([])
    await cancelNew(slow)
    await cancelNew()
    for (let look = 0; look < 4; look++) await tail.next()
    expect(tail.missing(9)).toHaveLength(1)
    await slow.query('rollback')
    await expect.poll(async () => (await tail.next(), tail.missing(9)), { timeout: horizonMs }).toEqual([])
  }, 300_000)

  it('SEE-5 a place that was made up tells nobody else of old events', async () => {
    const old = await cancelNew()
    const { lastEventId } = await bench.access.readClock()
    const tail = new EventTail(bench.access)
    await tail.next()
    const found = await tail.among([BigInt(lastEventId), 10n ** 17n])
    expect(found.map(({ jobId }) => jobId)).toEqual([old])
    expect(tail.missing(9).includes(10n ** 17n)).toBe(false)
    expect((await tail.next()).map(({ jobId }) => jobId)).toEqual([])
  })
})

/** Until the stream has told of one of them, it may still be before its first look. */
async function cancelUntil(reader: EventSourceReader): Promise<void> {
  let isTold = false
  const told = reader.next(({ event }) => event === 'events').then(() => (isTold = true))
  await expect.poll(async () => (await cancelNew(), isTold), { timeout: 30_000, interval: 500 }).toBe(true)
  await told
}
