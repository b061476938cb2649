// The whole application API over the memory store: nothing here needs a database, a sleep or a started worker.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { criticalError, isJobError, permanentError, UnstuckError } from '../../errors/index.ts'
import { type MemoryJobStore, memory } from '../../store/memory/index.ts'
import { type Unstuck, unstuck } from '../unstuck.ts'

const HOUR_MS = 3_600_000

let store: MemoryJobStore
let q: Unstuck
beforeEach(() => {
  store = memory({ random: () => 0 })
  q = unstuck({ store })
})
afterEach(() => q.stop())

const ran: unknown[] = []
beforeEach(() => ran.splice(0))
const note = async (job: { payload: unknown }) => {
  ran.push(job.payload)
}

describe('drain', () => {
  it('WORK-1 runs what is due, and what that enqueues, until nothing is left', async () => {
    q.handle('order', async (job) => {
      await q.enqueue({ type: 'mail', payload: { order: job.jobId } })
      return { ok: true }
    }).handle('mail', note)
    const { jobId } = await q.enqueue({ type: 'order' })
    expect(await q.drain()).toEqual({ completed: 2 })
    expect(ran).toEqual([{ order: jobId }])
    expect(await q.store.getJob(jobId)).toMatchObject({ status: 'succeeded', result: { ok: true } })
    expect(await q.drain()).toEqual({})
  })

  it('WORK-7 runs jobs by priority, a delayed one when its time has passed, and a dedupe key once', async () => {
    q.handle('mail', note)
    await q.enqueueMany([
      { type: 'mail', payload: 'later', delayMs: HOUR_MS },
      { type: 'mail', payload: 'second', priority: 5, dedupeKey: 'a' },
      { type: 'mail', payload: 'first', priority: 1 },
      { type: 'mail', payload: 'twice', dedupeKey: 'a' },
    ])
    await q.drain()
    expect(ran).toEqual(['first', 'second'])
    store.elapse(HOUR_MS - 1_000)
    expect(await q.drain()).toEqual({})
    store.elapse(1_000)
    expect(await q.drain()).toEqual({ completed: 1 })
    expect(ran.at(-1)).toBe('later')
  })

  it('FAIL-4 a failure is retried when its backoff has passed, and ends dead with its evidence', async () => {
    q.handle('charge', async () => {
      throw new Error('card declined')
    })
    const { jobId } = await q.enqueue({ type: 'charge' })
    expect(await q.drain()).toEqual({ retried: 1 })
    expect(await q.drain()).toEqual({})
    store.elapse(HOUR_MS)
    expect(await q.drain()).toEqual({ retried: 1 })
    store.elapse(HOUR_MS)
    expect(await q.drain()).toEqual({ dead: 1 })
    expect(await q.store.getJob(jobId)).toMatchObject({ status: 'dead', failures: 3 })
  })

  it('counts a permanent failure as dead, a release as released, a cancelled job not at all', async () => {
    q.handle('bad', async () => {
      throw permanentError('no such user')
    })
      .handle('busy', async (_, { release }) => release({ afterMs: 60_000 }))
      .handle('gone', note)
    const [, , gone] = await q.enqueueMany([{ type: 'bad' }, { type: 'busy' }, { type: 'gone' }])
    await q.store.cancelJobs([gone?.jobId ?? ''])
    expect(await q.drain()).toEqual({ dead: 1, released: 1 })
    expect(ran).toEqual([])
  })

  it('WORK-1 recurring jobs run when the clock has passed an occurrence, once for all that were missed', async () => {
    q.handle('digest', note).recurring('digest', '0 8 * * *', { type: 'digest', payload: 'daily' })
    store.elapse(50 * HOUR_MS)
    expect(await q.drain()).toEqual({ completed: 1 })
    expect(await q.drain()).toEqual({})
    store.elapse(24 * HOUR_MS)
    expect(await q.drain()).toEqual({ completed: 1 })
    expect(ran).toEqual(['daily', 'daily'])
  })

  it.each(['shared', 'process'] as const)(
    'RATE-1 a %s limit follows the clock of the store',
    async (scope) => {
      q.handle('call', note, { limits: [{ key: 'api', ratePerS: 1 / 60, burst: 2, scope }] })
      const reached: number[] = []
      q.on('limit:reached', ({ released }) => reached.push(released))
      await q.enqueueMany(Array.from({ length: 4 }, (_, index) => ({ type: 'call', payload: index })))
      expect(await q.drain()).toEqual({ completed: 2 })
      expect(reached).toEqual([1, 1])
      store.elapse(60_000)
      expect(await q.drain()).toEqual({ completed: 1 })
      store.elapse(60_000)
      expect(await q.drain()).toEqual({ completed: 1 })
      expect(new Set(ran)).toEqual(new Set([0, 1, 2, 3]))
    },
  )

  it('BREAK-1 jobs of a dependency whose breaker is open wait for its cooldown', async () => {
    const dependencies = { api: { failThreshold: 1, windowCalls: 1, cooldownMs: 60_000 } }
    q = unstuck({ store, dependencies })
    let isDown = true
    q.handle(
      'call',
      async () => {
        if (isDown) throw permanentError('down', { code: 'GW_5XX' })
      },
      { dependency: 'api' },
    )
    await q.enqueueMany([{ type: 'call' }, { type: 'call' }])
    expect(await q.drain()).toEqual({ dead: 1 })
    isDown = false
    expect(await q.drain()).toEqual({})
    store.elapse(61_000)
    expect(await q.drain()).toEqual({ completed: 1 })
  })

  it('REAP-1 requeues a job whose worker died, before it claims', async () => {
    q.handle('mail', note)
    await q.enqueue({ type: 'mail', payload: 'rescued' })
    await store.claimJobs({ workerId: 'dead', queues: ['mail'], limit: 1 })
    store.elapse(HOUR_MS)
    expect(await q.drain()).toEqual({})
    store.elapse(HOUR_MS)
    expect(await q.drain()).toEqual({ completed: 1 })
    expect(ran).toEqual(['rescued'])
  })

  it('FAIL-3 a critical error ends the drain', async () => {
    q.handle('key', async () => {
      throw criticalError('the key was revoked')
    })
    await q.enqueueMany([{ type: 'key' }, { type: 'key' }])
    expect(await q.drain()).toEqual({ dead: 1 })
    expect((await q.store.readHealth()).waiting).toBe(1)
  })

  it('gives up a job that enqueues itself forever, and names its type', async () => {
    q.handle('loop', async () => {
      await q.enqueue({ type: 'loop' })
    })
    await q.enqueue({ type: 'loop' })
    await expect(q.drain({ limit: 50 })).rejects.toThrow(
      'drain: 50 attempts ran, and a job of type loop is still due',
    )
    expect((await q.store.readHealth()).running).toBe(0)
  })

  it('refuses a limit that is no number, an instance without handlers, and a started one', async () => {
    await expect(q.drain()).rejects.toThrow('handlers: got "none"')
    q.handle('mail', note)
    await expect(q.drain({ limit: 0 })).rejects.toThrow('limit: got 0, takes a whole number from 1')
    await q.start()
    await expect(q.drain()).rejects.toThrow('takes an instance that is not started')
  })

  it('emits the events of a worker', async () => {
    const names: string[] = []
    for (const name of ['jobs:enqueued', 'sweep:done', 'job:started', 'job:ended'] as const)
      q.on(name, () => names.push(name))
    q.handle('mail', note)
    await q.enqueue({ type: 'mail' })
    await q.drain()
    expect(names).toEqual(['jobs:enqueued', 'sweep:done', 'job:started', 'job:ended'])
  })

  describe('with fake timers', () => {
    beforeEach(() => {
      vi.useFakeTimers()
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    it('needs no timer to fire, and follows their clock', async () => {
      q.handle('mail', note)
      await q.enqueue({ type: 'mail', payload: 'now' })
      await q.enqueue({ type: 'mail', payload: 'later', delayMs: HOUR_MS })
      expect(await q.drain()).toEqual({ completed: 1 })
      vi.advanceTimersByTime(HOUR_MS)
      expect(await q.drain()).toEqual({ completed: 1 })
      expect(ran).toEqual(['now', 'later'])
    })
  })
})

describe('runOnce', () => {
  it('returns what the store would hold, and gives the handler what the store would give', async () => {
    q.handle('resize', async (job) => ({ got: job.payload, at: new Date(0), attempt: job.attempt }))
    const at = new Date(0) as unknown as string
    expect(await q.runOnce('resize', { at }, { attempt: 3 })).toEqual({
      got: { at: '1970-01-01T00:00:00.000Z' },
      at: '1970-01-01T00:00:00.000Z',
      attempt: 3,
    })
    expect((await q.store.readHealth()).waiting).toBe(0)
  })

  it('throws what the handler threw', async () => {
    const declined = new Error('card declined')
    q.handle('charge', async () => {
      throw declined
    }).handle('busy', async (_, { release }) => release({ reason: 'closed' }))
    await expect(q.runOnce('charge')).rejects.toBe(declined)
    await expect(q.runOnce('busy')).rejects.toSatisfy(
      (error) => isJobError(error) && error.message === 'closed',
    )
  })

  it('aborts by the signal of the caller, which stages and calls observe too', async () => {
    q.handle('slow', async (_, { signal, stage }) => {
      await stage('upload')
      signal.throwIfAborted()
    })
    expect(await q.runOnce('slow')).toBeUndefined()
    await expect(q.runOnce('slow', {}, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })

  it('names the types that have a handler', async () => {
    q.handle('mail', note)
    await expect(q.runOnce('mial')).rejects.toThrow('type: got "mial", takes a type with a handler: mail')
  })
})

describe('transactions', () => {
  it('WORK-5 without a transaction of the caller, `tx` answers NOT_SUPPORTED', async () => {
    q.handle('pay', (_, { tx }) => tx(async () => ({ paid: true })))
    const { jobId } = await q.enqueue({ type: 'pay' })
    await q.drain()
    expect((await q.store.getJob(jobId))?.error).toMatchObject({
      reason: expect.stringContaining('the memory store has no transactions'),
    })
    await expect(q.runOnce('pay')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })

  it('WORK-5 with one, `tx` gets its client and completes the job', async () => {
    const client = { query: async () => ({ rows: [] }) }
    store = memory({ transaction: (work) => work(client) })
    q = unstuck({ store })
    q.handle('pay', (_, { tx }) =>
      tx(async (given) => {
        ran.push(given)
        return { paid: true }
      }),
    )
    const { jobId } = await q.enqueue({ type: 'pay' })
    expect(await q.drain()).toEqual({ completed: 1 })
    expect(await q.store.getJob(jobId)).toMatchObject({ status: 'succeeded', result: { paid: true } })
    expect(await q.runOnce('pay')).toEqual({ paid: true })
    expect(ran).toEqual([client, client])
  })
})

it('WORK-1 a started worker runs the jobs of the memory store, and stops', async () => {
  q = unstuck({ store, pollMs: [5, 10] })
  const ended = new Promise((resolve) => q.on('job:ended', ({ end }) => resolve(end)))
  q.handle('mail', note)
  await q.start()
  await q.enqueue({ type: 'mail', payload: 'Ada' })
  expect(await ended).toBe('completed')
  await q.stop()
  expect(await q.ended).toBe(0)
  expect(ran).toEqual(['Ada'])
})

it('operator verbs that the memory store lacks answer NOT_SUPPORTED', async () => {
  await expect(q.store.countTrends()).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
})

it('refuses a store beside a URL, and what is no store', () => {
  expect(() => unstuck({ store, databaseUrl: 'postgres://localhost/app' })).toThrow(
    'databaseUrl: got "postgres://localhost/app", takes no URL beside a store',
  )
  expect(() => unstuck({ store: memory as never })).toThrow(UnstuckError)
})
