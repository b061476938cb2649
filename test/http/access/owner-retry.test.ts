// POST /api/jobs/{id}/retry as document 004 has it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { publicCodes } from '../../../src/errors/index.ts'
import { toNodeListener } from '../../../src/http/node-listener.ts'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'

let bench: HttpBench
let ana: string
const gone = new Set<string>()
/** Runs between the read of a job and the change. */
let meanwhile: (jobId: string) => Promise<unknown> = async () => {}

beforeAll(async () => {
  bench = await openHttpBench({
    sourceExists: async ({ id }) => {
      await meanwhile(id)
      return !gone.has(id)
    },
  })
  ana = await bench.token({ role: 'support', owner: 'ana' })
})

afterAll(() => bench.close())

const retry = (jobId: string, as = ana) => bench.call(`POST /api/jobs/${jobId}/retry`, { as })

describe('POST /api/jobs/{id}/retry', () => {
  it('OPS-1 brings a dead job of the owner’s back: no error, attempts at zero, a new generation, a new time', async () => {
    const jobId = await kill(bench.store, { type: 'convert', owner: 'ana' })
    const before = await bench.store.getJob(jobId)
    expect(await retry(jobId)).toMatchObject({ status: 200, body: { id: jobId, outcome: 'retried' } })
    const after = await bench.store.getJob(jobId)
    expect(after).toMatchObject({ status: 'waiting', error: null, attempt: 0, failures: 0 })
    expect(after?.generation).toBe((before?.generation ?? 0) + 1)
    expect(after?.queuedAt?.getTime()).toBeGreaterThanOrEqual(before?.finishedAt?.getTime() ?? 0)
    expect(after?.updatedAt?.getTime()).toBe(after?.queuedAt?.getTime())
  })

  it('OPS-1 takes a request that declares JSON and sends none, as browsers do', async () => {
    const headers = { authorization: `Bearer ${ana}`, 'content-type': 'application/json' }
    const server = createServer(toNodeListener(bench.app))
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const jobId = await kill(bench.store, { type: 'convert', owner: 'ana' })
    const path = `/api/jobs/${jobId}/retry`
    const sent = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers })
    expect(sent.status).toBe(200)
    const again = await bench.app.fetch(new Request(`http://x${path}`, { method: 'POST', headers }))
    expect(again.status).toBe(409)
  })

  it('OPS-1 C21 a missing job and one of somebody else’s look the same', async () => {
    const foreign = await kill(bench.store, { type: 'convert', owner: 'bob' })
    const ownerless = await kill(bench.store, { type: 'convert' })
    const missing = '0198c1d4-6f0e-7c3a-9a51-3f4d2f6f2a10'
    const [first, ...others] = await Promise.all([missing, foreign, ownerless].map((id) => retry(id)))
    const shown = (reply: typeof first, id: string) => JSON.stringify(reply?.body).replaceAll(id, 'ID')
    expect(first).toMatchObject({ status: 404, body: { code: 'UNKNOWN', catalog_code: 'JOB_NOT_FOUND' } })
    expect([shown(others[0], foreign), shown(others[1], ownerless)]).toEqual([
      shown(first, missing),
      shown(first, missing),
    ])
    expect(await bench.store.getJob(foreign)).toMatchObject({ status: 'dead' })
  })

  it('OPS-1 is 403 for whoever may not retry, or is no owner', async () => {
    const jobId = await kill(bench.store, { type: 'convert', owner: 'ana' })
    const viewer = await bench.token({ role: 'viewer', owner: 'ana' })
    expect(await retry(jobId, viewer)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await retry(jobId, 'admin')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await retry(jobId, '')).toMatchObject({ status: 401, body: { code: 'FORBIDDEN' } })
    const readOnly = bench.build({ isReadOnly: true })
    const reply = await bench.call(`POST /api/jobs/${jobId}/retry`, { as: ana }, readOnly)
    expect(reply).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', catalog_code: 'READ_ONLY' } })
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'dead' })
  })

  it('OPS-1 is 409 for a job that is not dead', async () => {
    const waiting = await enqueue(bench.store, { type: 'waits', owner: 'ana' })
    expect(await retry(waiting)).toMatchObject({ status: 409, body: { code: 'NOT_READY' } })
    const lease = await claim(bench.store, 'waits')
    expect(await retry(lease.jobId)).toMatchObject({ status: 409, body: { code: 'NOT_READY' } })
    await bench.store.completeJobs([lease])
    expect(await retry(lease.jobId)).toMatchObject({ status: 409, body: { code: 'NOT_READY' } })
  })

  it('OPS-1 SEE-5 is 409 where the source is gone, and the job says so before anybody tries', async () => {
    const jobId = await kill(bench.store, { type: 'convert', owner: 'ana' })
    gone.add(jobId)
    expect(await retry(jobId)).toMatchObject({
      status: 409,
      body: { code: 'EXPIRED', catalog_code: 'SOURCE_GONE' },
    })
    const { body } = await bench.call(`GET /v1/jobs/${jobId}`, { as: ana })
    expect(body.retry).toEqual({
      is_allowed: false,
      reason: 'Its source no longer exists: it cannot run again.',
    })
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'dead' })
  })

  it('OPS-1 two retries at once bring a job back once', async () => {
    const jobId = await kill(bench.store, { type: 'race', owner: 'ana' })
    const replies = await Promise.all([1, 2, 3, 4].map(() => retry(jobId)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'waiting', generation: 2 })
  })

  it('C21 the owner and the generation are judged with the change, not before it', async () => {
    onTestFinished(() => {
      meanwhile = async () => {}
    })
    const given = await kill(bench.store, { type: 'given-away', owner: 'ana' })
    meanwhile = (id) => bench.database.pool.query(`update unstuck.jobs set owner = 'bob' where id = $1`, [id])
    expect(await retry(given)).toMatchObject({ status: 404, body: { catalog_code: 'JOB_NOT_FOUND' } })
    expect(await bench.store.getJob(given)).toMatchObject({ status: 'dead' })

    const again = await kill(bench.store, { type: 'died-again', owner: 'ana' })
    meanwhile = async (id) => {
      await bench.store.retryJobs([id])
      const lease = await claim(bench.store, 'died-again')
      await bench.store.failJobs([{ ...lease, isRetryable: false }])
    }
    expect(await retry(again)).toMatchObject({ status: 409, body: { catalog_code: 'STATE_CONFLICT' } })
    expect(await bench.store.getJob(again)).toMatchObject({ status: 'dead', generation: 2 })
  })

  it('FAIL-2 every problem of this path carries a public code, one line, and no stack', async () => {
    const jobId = await enqueue(bench.store, { type: 'convert', owner: 'ana' })
    const replies = [
      await retry('not-an-id'),
      await retry(jobId),
      await retry(jobId, 'wrong'),
      await bench.call(`POST /api/jobs/${jobId}/retry`, { as: ana, body: { force: true } }),
      await bench.call(`POST /api/jobs/${jobId}/retry`, { as: ana, body: '{' }),
    ]
    for (const { status, body, headers } of replies) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(publicCodes).toContain(body.code)
      expect(body.detail).not.toMatch(/\n|\bat \/|node_modules/)
      expect(body).not.toHaveProperty('stack')
    }
  })
})
