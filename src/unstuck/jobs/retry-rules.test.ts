// Attempts, waits, expiry and dedupe rules through the application API, over the memory store.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type MemoryJobStore, memory } from '../../store/memory/index.ts'
import { type Unstuck, unstuck } from '../unstuck.ts'

let store: MemoryJobStore
let q: Unstuck
beforeEach(() => {
  store = memory({ random: () => 0 })
  q = unstuck({ store, logger: false })
})
afterEach(() => q.stop())

const failing = async () => {
  throw new RangeError('too much')
}

async function waitOf(jobId: string): Promise<number> {
  const job = await q.store.getJob(jobId)
  return Number(job?.runAt) - store.now()
}

describe('retry of a handler', () => {
  it('FAIL-8 a function decides the wait from the failure, in the worker', async () => {
    const seen: unknown[] = []
    const backoff = ({ failures, error }: { failures: number; error: unknown }) => {
      seen.push([failures, error instanceof RangeError])
      return failures * 1_000
    }
    q.handle('charge', failing, { retry: { backoff } })
    const { jobId } = await q.enqueue({ type: 'charge' })
    const waits: number[] = []
    for (let round = 1; round <= 2; round++) {
      await q.drain()
      waits.push(Math.round((await waitOf(jobId)) / 1_000))
      store.elapse(round * 1_000)
    }
    expect(waits).toEqual([1, 2])
    expect(seen).toEqual([
      [1, true],
      [2, true],
    ])
  })

  const throws = () => {
    throw new Error('no idea')
  }
  it.each<[string, () => unknown, string]>([
    ['throws', throws, 'retry.backoff of charge threw; the policy decided: no idea'],
    ['returns no duration', () => Number.NaN, 'got NaN, takes milliseconds up to one year'],
    ['returns a negative one', () => -5, 'got -5'],
    ['returns null', () => null, 'got null'],
    ['returns a text', () => '1000', 'got "1000"'],
    ['returns a promise that rejects', async () => throws(), 'got a promise'],
  ])(
    'FAIL-8 a function that %s leaves the wait to the policy, with a warning',
    async (_, backoff, warning) => {
      const warnings: string[] = []
      q.on('config:warned', (warned) => warnings.push(warned.warning))
      q.handle('charge', failing, { retry: { backoff: backoff as () => number } })
      const { jobId } = await q.enqueue({ type: 'charge' })
      expect(await q.drain()).toEqual({ retried: 1 })
      expect(Math.round((await waitOf(jobId)) / 1_000)).toBe(5)
      expect(warnings).toEqual([expect.stringContaining(warning)])
    },
  )

  it('FAIL-8 attempts of the handler end the job, unless it has its own', async () => {
    q.handle('charge', failing, { retry: { attempts: 1 } })
    await q.enqueue({ type: 'charge' })
    expect(await q.drain()).toEqual({ dead: 1 })
    await q.enqueue({ type: 'charge', retry: { attempts: 2 } })
    expect(await q.drain()).toEqual({ retried: 1 })
  })

  it.each([[null], [5], [['5 s']], ['often']])(
    'OPS-8 %j is refused as a rule, of a handler and of a job',
    async (retry) => {
      const clear = /^retry: got .*, takes \{ attempts, backoff \}$/
      expect(() => q.handle('charge', failing, { retry: retry as never })).toThrow(clear)
      await expect(q.enqueue({ type: 'mail', retry: retry as never })).rejects.toThrow(clear)
    },
  )

  it.each([{ attempts: 0 }, { backoff: [] }, { backoff: { baseMs: -1 } }])(
    'FAIL-8 a handler with %j is refused',
    (retry) => {
      expect(() => q.handle('charge', failing, { retry })).toThrow('retry.')
    },
  )
})

describe('rules of a job', () => {
  it.each([
    { retry: { attempts: 3 }, maxAttempts: 3 },
    { retry: { attempt: 3 } as never },
    { dedupe: { key: 'a' }, dedupeKey: 'a' },
    { dedupe: { key: '' } },
    { dedupe: { key: 'a', forMs: 0 } },
    { dedupe: { key: 'a', forMs: 1, replace: true } },
    { ttlMs: 1, expiresAt: new Date() },
    { ttlMs: -1 },
    { ttlMs: 1_000, delayMs: 5_000 },
    { expiresAt: new Date('2100-01-01'), runAt: new Date('2100-01-02') },
    { expiresAt: new Date(Number.NaN) },
  ])('FAIL-8 refuses %j before it is sent', async (fields) => {
    await expect(q.enqueue({ type: 'mail', ...fields })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('FAIL-8 a debounced job runs once, with the last payload, when its time has passed', async () => {
    const ran: unknown[] = []
    q.handle('index', async ({ payload }) => void ran.push(payload))
    const save = (payload: string) =>
      q.enqueue({ type: 'index', payload, dedupe: { key: 'note', replace: true }, delayMs: 5_000 })
    await save('d')
    store.elapse(4_000)
    expect((await save('draft')).outcome).toBe('replaced')
    store.elapse(4_000)
    expect(await q.drain()).toEqual({})
    store.elapse(1_000)
    await q.drain()
    expect(ran).toEqual(['draft'])
  })
})
