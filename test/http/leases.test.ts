// A worker in any language: claims, heartbeats and completes jobs over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enqueue, type HttpBench, openHttpBench } from './http-bench.ts'

let bench: HttpBench
let worker: string

beforeAll(async () => {
  bench = await openHttpBench()
  worker = await bench.token({ scopes: ['leases:use'] })
})

afterAll(() => bench.close())

const send = (verb: string, body: unknown) => bench.call(`POST /v1/leases/${verb}`, { as: worker, body })

async function claimOne(type: string): Promise<{ id: string; lease_id: string }> {
  await enqueue(bench.store, { type, payload: { secret: 'as it is' } })
  const { body } = await send('claim', { worker_id: 'py-1', queues: [type] })
  const [job] = body.jobs
  expect(job).toMatchObject({ type, attempt: 1, payload: { secret: 'as it is' } })
  return { id: job.id, lease_id: job.lease_id }
}

describe('leases over HTTP', () => {
  it('WORK-3 a job is claimed, kept and completed', async () => {
    const lease = await claimOne('http-a')
    const beat = await send('heartbeat', { leases: [lease] })
    expect(beat.body.answers).toEqual([{ ...lease, answer: 'kept' }])
    const { body } = await send('complete', { ...lease, result: { pages: 3 } })
    expect(body).toMatchObject({ id: lease.id, outcome: 'completed' })
    expect(await bench.store.getJob(lease.id)).toMatchObject({ status: 'succeeded', result: { pages: 3 } })
    expect((await send('complete', lease)).body.outcome).toBe('already-done')
  })

  it('LEASE-8 a worker reports progress, which whoever looks at the job sees', async () => {
    const [lease, other] = [await claimOne('http-p'), await claimOne('http-q')]
    const lost = { ...other, lease_id: lease.lease_id }
    const { body } = await send('progress', {
      reports: [
        { ...lease, value: 0.4, text: 'page 12 of 30' },
        { ...lost, value: 1 },
      ],
    })
    expect(body.answers).toEqual([
      { ...lease, is_kept: true },
      { ...lost, is_kept: false },
    ])
    expect((await bench.call(`GET /v1/jobs/${lease.id}`)).body.job.progress).toEqual({
      value: 0.4,
      text: 'page 12 of 30',
    })
    expect(await send('progress', { reports: [{ ...lease, value: 2 }] })).toMatchObject({ status: 400 })
  })

  it('LEASE-1 whoever lost its lease can write nothing: 409 LEASE_LOST', async () => {
    const lease = await claimOne('http-b')
    await bench.elapse(3_600_000)
    await bench.store.sweepJobs()
    for (const verb of ['complete', 'fail', 'release']) {
      expect(await send(verb, lease)).toMatchObject({ status: 409, body: { code: 'LEASE_LOST' } })
    }
    expect((await send('heartbeat', { leases: [lease] })).body.answers).toMatchObject([{ answer: 'lost' }])
    expect(await bench.store.getJob(lease.id)).toMatchObject({ status: 'waiting' })
  })

  it('FAIL-1 a failure is retried or ends the job, a release costs no attempt', async () => {
    const first = await claimOne('http-c')
    const failed = await send('fail', { ...first, code: 'GW_5XX', reason: 'busy', retry_in_ms: 5000 })
    expect(failed.body).toMatchObject({ outcome: 'retried', retry_in_ms: 5000 })
    const second = await claimOne('http-d')
    expect((await send('fail', { ...second, category: 'PERMANENT' })).body).toMatchObject({ outcome: 'dead' })
    const third = await claimOne('http-e')
    const released = await send('release', { ...third, delay_ms: 1000, reason: 'busy elsewhere' })
    expect(released.body).toMatchObject({ outcome: 'released', retry_in_ms: 1000 })
    expect(await bench.store.getJob(third.id)).toMatchObject({ status: 'waiting', attempt: 0, releases: 1 })
    const events = await bench.store.listEvents(third.id)
    expect(events.at(-1)).toMatchObject({ type: 'released', data: { details: { reason: 'busy elsewhere' } } })
  })

  it('WORK-6 a worker hears through its heartbeat that it should stop', async () => {
    const lease = await claimOne('http-f')
    await bench.call(`POST /v1/jobs/${lease.id}/cancel`, { body: {} })
    expect((await send('heartbeat', { leases: [lease] })).body.answers).toMatchObject([
      { answer: 'cancel-asked' },
    ])
  })

  it('LEASE-1 a lease of a job that does not exist is 404', async () => {
    const lease = {
      id: '0198c1d4-6f0e-7c3a-9a51-3f4d2f6f2a10',
      lease_id: '5b0a7c1e-4f5e-4c1a-9c7e-0a9f3f0f5d11',
    }
    expect(await send('complete', lease)).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
  })
})
