// Reads run in read-only transactions of at most two seconds.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openConnectionPool } from '../../../src/store/postgres/index.ts'
import { enqueue, type HttpBench, openHttpBench } from '../http-bench.ts'
import { readEventSource } from '../stream/event-source.ts'

let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
})

afterAll(() => bench.close())

/** Blocks all reads until released, like a stuck migration. */
async function lockJobs(): Promise<() => Promise<unknown>> {
  const client = await bench.database.connect()
  await client.query('begin')
  await client.query('lock table unstuck.jobs in access exclusive mode')
  return () => client.query('rollback')
}

/** An app that lists the verbs of the store that its reads call. */
function buildWatched() {
  const asked: string[] = []
  const { reading } = bench
  const store = new Proxy(reading.tables[0].store, {
    get(target, name) {
      asked.push(String(name))
      const verb: unknown = Reflect.get(target, name)
      return typeof verb === 'function' ? (verb.bind(target) as unknown) : verb
    },
  })
  return { app: bench.build({ reading: { ...reading, tables: [{ name: 'jobs', store }] } }), asked }
}

describe('the read path', () => {
  it('OPS-1 is read-only, with two seconds for each statement and lock', async () => {
    const pool = openConnectionPool({ databaseUrl: bench.database.url })
    onTestFinished(() => pool.close())
    const settings = ['transaction_read_only', 'statement_timeout', 'lock_timeout']
    const rows = await pool.reader.query(
      'select array_agg(current_setting(name)) as found from unnest($1::text[]) name',
      [settings],
    )
    expect(rows).toEqual([{ found: ['on', '2s', '2s'] }])
    await expect(
      pool.reader.query(`select unstuck.uuid_v7(), nextval('unstuck.events_id_seq')`, []),
    ).rejects.toThrow('read-only transaction')
    // The next request gets a working connection.
    expect(await pool.reader.query('select 1 as one', [])).toEqual([{ one: 1 }])
  })

  it('OPS-1 carries every look, so that a store that writes behind a GET is refused', async () => {
    const { app, asked } = buildWatched()
    for (const path of ['/v1/jobs', '/v1/health', '/v1/queues', '/v1/leases', '/metrics'])
      expect((await bench.call(`GET ${path}`, {}, app)).status).toBe(200)
    expect(asked).toEqual(expect.arrayContaining(['listJobs', 'readHealth', 'listQueues']))
    asked.length = 0
    expect((await bench.call('POST /v1/jobs', { body: { type: 'a' } }, app)).status).toBe(201)
    expect(asked).toEqual([])
  })

  it('SEE-2 OPS-16 a scrape and a tick of the stream count the waiting jobs once', async () => {
    const { app, asked } = buildWatched()
    await enqueue(bench.store, { type: 'scraped' })
    const counting = () => asked.filter((verb) => verb === 'readHealth' || verb === 'listQueues')
    const { body } = await bench.call('GET /metrics', {}, app)
    expect(body).toContain('unstuck_queue_depth{table="jobs",queue="scraped",state="waiting"} 1')
    expect(counting()).toEqual(['readHealth'])
    asked.length = 0
    const headers = { authorization: `Bearer ${await bench.token({ role: 'admin' })}` }
    const reader = readEventSource(
      await app.fetch(new Request('http://x/v1/stream?topics=counts', { headers })),
    )
    onTestFinished(() => reader.close())
    const counts = await reader.next(({ event }) => event === 'counts')
    expect(counts.data.queues).toContainEqual(expect.objectContaining({ queue: 'scraped', waiting: 1 }))
    expect(counting()).toEqual(['readHealth'])
  })

  it('OPS-1 answers 503 when a statement took too long, and says when it may be tried again', async () => {
    const unlock = await lockJobs()
    const reply = await bench.call('GET /v1/jobs')
    await unlock()
    expect(reply).toMatchObject({ status: 503, body: { code: 'DATABASE_TIMEOUT', is_retryable: true } })
    expect((await bench.call('GET /v1/jobs')).status).toBe(200)
  })

  it('SEE-5 a stream keeps what it knows, says that it is stale, to newcomers too, and goes on after', async () => {
    const authorization = `Bearer ${await bench.token({ role: 'admin' })}`
    const watch = async () => {
      const request = new Request('http://x/v1/stream?topics=counts', { headers: { authorization } })
      const reader = readEventSource(await bench.app.fetch(request))
      onTestFinished(() => reader.close())
      return reader
    }
    await enqueue(bench.store, { type: 'known' })
    const first = await watch()
    const known = await first.next(({ event }) => event === 'counts')
    const unlock = await lockJobs()
    const stale = await first.next(({ event }) => event === 'stale')
    expect(stale.data.code).toBe('DATABASE_TIMEOUT')
    const newcomer = await watch()
    expect((await newcomer.next(() => true)).data.queues).toEqual(known.data.queues)
    expect((await newcomer.next(() => true)).event).toBe('stale')
    await unlock()
    await first.next(({ event }) => event === 'counts')
  })
})
