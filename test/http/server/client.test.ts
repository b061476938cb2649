import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { type Client, createClient, type Schemas } from '../../../src/http/client/index.ts'
import { renderClientSource } from '../../../src/http/openapi/client-source.ts'
import { type HttpBench, kill, openHttpBench } from '../http-bench.ts'

let bench: HttpBench
let client: Client

beforeAll(async () => {
  bench = await openHttpBench()
  client = createClient({
    baseUrl: 'http://x/',
    token: await bench.token({ role: 'admin' }),
    fetch: bench.app.fetch,
  })
})

afterAll(() => bench.close())

function valueOf<Value>(reply: { isDone: true; value: Value } | { isDone: false; problem: unknown }): Value {
  if (reply.isDone) return reply.value
  throw new Error(JSON.stringify(reply.problem))
}

describe('unstuck/client', () => {
  it('OPS-8 has the types that the contract has now', () => {
    const file = new URL('../../../src/http/client/operations.generated.ts', import.meta.url)
    expect(readFileSync(file, 'utf8'), 'npm run docs:generate').toBe(renderClientSource())
  })

  it('OPS-1 lists jobs, retries one, and reports a lost race', async () => {
    const jobId = await kill(bench.store, { type: 'typed' })
    const list = valueOf(await client.call('listJobs', { query: { q: 'type:typed status:dead', limit: 5 } }))
    expectTypeOf(list).toEqualTypeOf<Schemas['JobList']>()
    expect(list.jobs.map(({ id }) => id)).toEqual([jobId])
    const headers = { 'if-match': `"${list.jobs[0]?.generation}"` }
    const retried = valueOf(await client.call('retryJob', { params: { id: jobId }, headers }))
    expect(retried.outcome).toBe('retried')
    const again = await client.call('retryJob', { params: { id: jobId }, headers })
    expect(again).toMatchObject({ isDone: false, status: 412, problem: { code: 'PRECONDITION_FAILED' } })
  })

  it('OPS-1 claims a job and completes it once', async () => {
    const { id } = valueOf(await client.call('enqueueJob', { body: { type: 'leased', payload: { n: 1 } } }))
    const { jobs } = valueOf(
      await client.call('claimJobs', { body: { worker_id: 'client-1', queues: ['leased'], limit: 1 } }),
    )
    const [job] = jobs
    if (job === undefined) throw new Error('nothing was claimed')
    expect(job).toMatchObject({ id, payload: { n: 1 } })
    const lease = { id: job.id, lease_id: job.lease_id }
    const complete = () => client.call('completeJob', { body: { ...lease, result: { ok: true } } })
    expect(valueOf(await complete())).toMatchObject({ id, outcome: 'completed' })
    expect(valueOf(await complete()).outcome).toBe('already-done')
    const stale = { ...lease, lease_id: id }
    expect(await client.call('completeJob', { body: stale })).toMatchObject({
      isDone: false,
      status: 409,
      problem: { code: 'LEASE_LOST' },
    })
    expect(valueOf(await client.call('readJob', { params: { id } })).job).toMatchObject({
      status: 'succeeded',
      result: { ok: true },
    })
  })

  it('OPS-8 what an operation does not take is no program', () => {
    // @ts-expect-error -- the id of the job is required
    void (() => client.call('retryJob'))
    // @ts-expect-error -- a typo
    void (() => client.call('listJobs', { query: { limti: 5 } }))
    // @ts-expect-error -- no such operation
    void (() => client.call('listJob'))
    expect(Object.keys(client)).toEqual(['call'])
  })

  it('OPS-1 an id with a slash stays one part of the path, and a server that is another is an error', async () => {
    expect(await client.call('readJob', { params: { id: '../../healthz?' } })).toMatchObject({ status: 400 })
    for (const id of ['', '.', '..'])
      await expect(client.call('readJob', { params: { id } })).rejects.toThrow('cannot be a path segment')
    const other = createClient({ baseUrl: 'http://x', fetch: () => new Response('<html>', { status: 502 }) })
    await expect(other.call('listJobs')).rejects.toThrow('502')
  })
})
