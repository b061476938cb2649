// `handleMany` over the memory store, with `drain` and `runOnce`.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { permanentError } from '../errors/index.ts'
import { defineJobs, job } from '../job/declared-jobs.ts'
import { type MemoryJobStore, memory } from '../store/memory/index.ts'
import { type Unstuck, unstuck } from './unstuck.ts'

const HOUR_MS = 3_600_000

let store: MemoryJobStore
let q: Unstuck
beforeEach(() => {
  store = memory({ random: () => 0 })
  q = unstuck({ store, logger: false })
})
afterEach(() => q.stop())

const mails = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ type: 'mail', payload: n, maxAttempts: 2 }))

describe('drain', () => {
  it('WORK-12 runs batches of the size at most, each job once and in order, without a wait', async () => {
    const batches: unknown[][] = []
    q.handleMany('mail', async (jobs) => void batches.push(jobs.map(({ payload }) => payload)), {
      size: 4,
      waitMs: 60_000,
    })
    q.handle('other', () => 'done')
    await q.enqueueMany([...mails(6), { type: 'other' }, ...mails(1)])
    expect(await q.drain()).toEqual({ completed: 8 })
    expect(batches).toEqual([
      [0, 1, 2, 3],
      [4, 5, 0],
    ])
  })

  it('WORK-12 writes an outcome for each job', async () => {
    q.handleMany<number>(
      'mail',
      (jobs) => {
        for (const { payload, complete, fail, release } of jobs) {
          if (payload === 0) complete({ id: 'a' })
          if (payload === 1) fail(new Error('bounced'))
          if (payload === 2) fail(permanentError('no such address', { code: 'NO_ADDRESS' }))
          if (payload === 3) release({ afterMs: HOUR_MS })
        }
      },
      { size: 5 },
    )
    const ids = (await q.enqueueMany(mails(5))).map(({ jobId }) => jobId)
    expect(await q.drain()).toEqual({ completed: 2, retried: 1, dead: 1, released: 1 })
    const jobs = await Promise.all(ids.map((id) => q.store.getJob(id)))
    expect(jobs).toMatchObject([
      { status: 'succeeded', result: { id: 'a' } },
      { status: 'waiting', failures: 1, error: { reason: 'bounced' } },
      { status: 'dead', failures: 1, error: { code: 'NO_ADDRESS' } },
      { status: 'waiting', failures: 0, releases: 1 },
      { status: 'succeeded', result: null },
    ])
  })

  it('WORK-12 a throw fails each job that has no outcome, and they are retried', async () => {
    let calls = 0
    q.handleMany(
      'mail',
      async ([first]) => {
        first?.complete()
        calls += 1
        if (calls === 1) throw new Error('relay is down')
      },
      { size: 3 },
    )
    await q.enqueueMany(mails(3))
    expect(await q.drain()).toEqual({ completed: 1, retried: 2 })
    store.elapse(HOUR_MS)
    expect(await q.drain()).toEqual({ completed: 2 })
  })

  it('LEASE-8 the progress of a job is its own', async () => {
    q.handleMany<number>(
      'mail',
      (jobs) => {
        for (const { payload, context } of jobs) context.progress(payload / 10, `mail ${payload}`)
      },
      { size: 2 },
    )
    const ids = (await q.enqueueMany(mails(2))).map(({ jobId }) => jobId)
    await q.drain()
    expect(await Promise.all(ids.map((id) => q.store.getJob(id)))).toMatchObject([
      { progress: { value: 0, text: 'mail 0' } },
      { progress: { value: 0.1, text: 'mail 1' } },
    ])
  })

  it('RATE-1 a job without a token is not in the batch', async () => {
    const sizes: number[] = []
    q.handleMany('mail', (jobs) => void sizes.push(jobs.length), {
      size: 5,
      limits: [{ key: 'relay', ratePerS: 0.001, burst: 2 }],
    })
    await q.enqueueMany(mails(3))
    expect(await q.drain()).toEqual({ completed: 2 })
    expect(sizes).toEqual([2])
  })

  it('WORK-5 counts every job of a batch against the limit of the call', async () => {
    const sizes: number[] = []
    q.handleMany('mail', (jobs) => void sizes.push(jobs.length), { size: 4 })
    await q.enqueueMany(mails(7))
    await expect(q.drain({ limit: 6 })).rejects.toThrow('6 attempts ran')
    expect(sizes).toEqual([4, 2])
    expect((await q.store.readHealth()).waiting).toBe(1)
  })
})

describe('a job that waits for its batch', () => {
  /** How the only job ends. */
  const ended = () => new Promise((resolve) => q.on('job:ended', ({ end }) => resolve(end)))

  it('LEASE-8 is not stopped by a progress limit that is shorter than the wait', async () => {
    q.handleMany('mail', () => {}, { size: 5, waitMs: 200, progressLimitMs: 20 })
    const end = ended()
    await q.start()
    await q.enqueueMany(mails(1))
    expect(await end).toBe('completed')
  })

  it('LEASE-8 has its progress limit once the batch has begun', async () => {
    q.handleMany(
      'mail',
      ([mail]) => new Promise((resolve) => mail?.context.signal.addEventListener('abort', () => resolve())),
      { size: 5, waitMs: 20, progressLimitMs: 50 },
    )
    const end = ended()
    await q.start()
    await q.enqueueMany(mails(1))
    expect(await end).toBe('retried')
  })
})

describe('runOnce', () => {
  it('WORK-12 calls the handler with one job, and returns its outcome', async () => {
    q.handleMany<number>(
      'mail',
      (jobs) => {
        for (const { payload, complete, fail } of jobs)
          if (payload < 0) fail(new Error('bounced'))
          else complete({ size: jobs.length, payload })
      },
      { size: 10, waitMs: 60_000 },
    )
    expect(await q.runOnce('mail', 7)).toEqual({ size: 1, payload: 7 })
    await expect(q.runOnce('mail', -1)).rejects.toThrow('bounced')
  })
})

describe('declared jobs', () => {
  const jobs = defineJobs({
    mail: job({
      payload: z.object({ to: z.string(), at: z.coerce.date() }),
      result: z.object({ id: z.string() }),
    }),
  })

  it('WORK-8 get payloads as their schema makes them; one that does not fit, or a wrong result, ends its job alone', async () => {
    const typed = unstuck({ jobs, store, logger: false })
    const years: number[] = []
    typed.handleMany(
      'mail',
      (batch) => {
        for (const { payload, complete } of batch) {
          years.push(payload.at.getUTCFullYear())
          complete({ id: payload.to === 'none' ? (7 as unknown as string) : payload.to })
        }
      },
      { size: 3 },
    )
    const mail = (to: string, at: string) => ({ type: 'mail' as const, payload: { to, at } })
    const enqueued = await typed.enqueueMany([mail('a', '2030-01-31'), mail('none', '2031-01-31')])
    // By a producer without the schema.
    const [stray] = await store.enqueueJobs([{ type: 'mail', payload: { to: 7 } }])
    expect(await typed.drain()).toEqual({ completed: 1, dead: 2 })
    expect(years).toEqual([2030, 2031])
    expect(await typed.waitFor(enqueued[0]?.jobId ?? '', { type: 'mail' })).toEqual({ id: 'a' })
    const errors = [enqueued[1]?.jobId, stray?.jobId].map(
      async (jobId) => (await store.getJob(jobId ?? ''))?.error?.code,
    )
    expect(await Promise.all(errors)).toEqual(['INVALID_RESULT', 'INVALID_PAYLOAD'])
    await typed.stop()
  })
})

describe('arguments', () => {
  const refused: [name: string, options: object, message: RegExp][] = [
    ['no size', {}, /^size: .*from 1 to the concurrency, 10/],
    ['a size of 0', { size: 0 }, /^size: got 0/],
    ['half a job', { size: 1.5 }, /^size: got 1.5/],
    ['more jobs than slots', { size: 11 }, /^size: got 11/],
    ['more jobs than places of the handler', { size: 3, concurrency: 2 }, /from 1 to the concurrency, 2/],
    ['a negative wait', { size: 2, waitMs: -1 }, /^waitMs: got -1/],
    ['a wait of an hour', { size: 2, waitMs: HOUR_MS }, /^waitMs: got 3600000/],
    ['a typo', { size: 2, waitMS: 5 }, /did you mean waitMs\?/],
  ]
  it.each(refused)('OPS-8 %s is refused with one clear error', (_, options, message) => {
    expect(() => q.handleMany('mail', () => {}, options as { size: number })).toThrow(message)
  })

  it('OPS-8 a file, a second handler and a call after start are refused', async () => {
    const file = { file: './mail.js' } as unknown as () => void
    expect(() => q.handleMany('mail', file, { size: 2 })).toThrow(/^handler: .*a function/)
    q.handle('mail', () => 'done')
    expect(() => q.handleMany('mail', () => {}, { size: 2 })).toThrow('no handler yet')
    await q.start()
    expect(() => q.handleMany('other', () => {}, { size: 2 })).toThrow('after start()')
  })
})
