import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { claim, enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'

let bench: HttpBench
let dead: string
let waiting: string

beforeAll(async () => {
  bench = await openHttpBench()
  dead = await kill(bench.store, { type: 'asr' }, { code: 'A', reason: 'r' })
  waiting = await enqueue(bench.store, { type: 'asr' })
})
afterEach(() => bench.store.setMode('reap'))
afterAll(() => bench.close())

it.each([
  ['POST /v1/jobs', { type: 'asr' }],
  ['POST /v1/leases/claim', { worker_id: 'w', queues: ['asr'] }],
  ['POST /v1/jobs/<dead>/retry', {}],
  ['POST /v1/jobs/<waiting>/cancel', {}],
  ['DELETE /v1/jobs/<dead>', { reason: 'a test' }],
  ['POST /v1/operations', { action: 'cancel', q: 'type:asr', reason: 'a test' }],
  ['POST /v1/reaper/run', {}],
])(
  'OPS-14 %s answers 409 WRONG_MODE in mode observe, with what to do, and changes nothing',
  async (line, body) => {
    const rows = async () =>
      (await bench.database.pool.query('select xmin::text, job::text from unstuck.jobs job order by 2')).rows
    await bench.store.setMode('observe')
    const before = await rows()
    const answer = await bench.call(line.replace('<dead>', dead).replace('<waiting>', waiting), { body })
    expect(answer).toMatchObject({ status: 409, body: { code: 'WRONG_MODE' } })
    expect(JSON.stringify(answer.body)).toContain('unstuck mode reap')
    expect(await rows()).toEqual(before)
  },
)

it('OPS-14 a lease from before is renewed and completed over HTTP in mode observe', async () => {
  const lease = await claim(bench.store, 'asr')
  await bench.store.setMode('observe')
  const held = { id: lease.jobId, lease_id: lease.leaseId }
  const beat = await bench.call('POST /v1/leases/heartbeat', { body: { leases: [held] } })
  expect(beat.body.answers).toEqual([{ ...held, answer: 'kept' }])
  const completed = await bench.call('POST /v1/leases/complete', { body: held })
  expect(completed.body).toMatchObject({ outcome: 'completed' })
})
