// Progress that handlers report, in the row and for whoever waits, over the memory store.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memory } from '../../store/memory/index.ts'
import { type Unstuck, unstuck } from '../unstuck.ts'

describe('progress of an application', () => {
  let q: Unstuck
  beforeEach(() => {
    q = unstuck({ store: memory(), logger: false })
  })
  afterEach(() => q.stop())

  it('LEASE-8 the last value is in the row of a job that ended, also if it is dead', async () => {
    q.handle('import', async (job, { progress }) => {
      progress(0.1)
      progress(0.4, 'page 12 of 30')
      if (job.payload === 'bad') throw Object.assign(new Error('no'), { isRetryable: false })
    })
    const good = await q.enqueue({ type: 'import' })
    const bad = await q.enqueue({ type: 'import', payload: 'bad', maxAttempts: 1 })
    await q.drain()
    const progress = { value: 0.4, text: 'page 12 of 30' }
    expect(await q.store.getJob(good.jobId)).toMatchObject({ status: 'succeeded', progress })
    expect(await q.store.getJob(bad.jobId)).toMatchObject({ status: 'dead', progress })
  })

  it('LEASE-8 nine ninths are 1, although their sum is a little more', async () => {
    q.handle('import', async (_, { progress }) => {
      let done = 0
      for (let n = 0; n < 9; n++) progress((done += 1 / 9))
      expect(done).toBeGreaterThan(1)
    })
    const { jobId } = await q.enqueue({ type: 'import', maxAttempts: 1 })
    await q.drain()
    expect(await q.store.getJob(jobId)).toMatchObject({ status: 'succeeded', progress: { value: 1 } })
  })

  it.each([
    [1.5, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    [0.5, ''],
    [0.5, 'x'.repeat(201)],
    [undefined, 'text'],
  ])(
    'OPS-8 progress(%s, %s) throws, and fails the job like any error of its handler',
    async (value, text) => {
      q.handle('import', async (_, { progress }) => progress(value, text))
      const { jobId } = await q.enqueue({ type: 'import', maxAttempts: 1 })
      await q.drain()
      expect(await q.store.getJob(jobId)).toMatchObject({
        status: 'dead',
        progress: null,
        error: { code: 'INVALID_ARGUMENT' },
      })
    },
  )

  it('LEASE-8 whoever waits hears each value once, the last one before the end', async () => {
    const steps: (() => void)[] = []
    q.handle('import', async (_, { progress }) => {
      for (const value of [0.25, 0.5]) {
        progress(value, `step ${value}`)
        await new Promise<void>((resolve) => steps.push(resolve))
      }
      progress(1)
      return 'done'
    })
    const heard: unknown[] = []
    await q.start()
    const result = q.enqueueAndWait(
      { type: 'import' },
      { onProgress: ({ value, text }) => heard.push([value, text]) },
    )
    await expect.poll(() => heard, { timeout: 30_000 }).toEqual([[0.25, 'step 0.25']])
    steps[0]?.()
    await expect.poll(() => heard.length, { timeout: 30_000 }).toBe(2)
    steps[1]?.()
    expect(await result).toBe('done')
    expect(heard).toEqual([
      [0.25, 'step 0.25'],
      [0.5, 'step 0.5'],
      [1, null],
    ])
  })

  it('LEASE-8 an error of the listener ends its wait alone', async () => {
    q.handle('import', async (_, { progress }) => progress(0.5))
    await q.start()
    const { jobId } = await q.enqueue({ type: 'import' })
    const broken = q.waitFor(jobId, {
      onProgress: () => {
        throw new Error('no screen')
      },
    })
    const fine = q.waitFor(jobId)
    await expect(broken).rejects.toThrow('no screen')
    await fine
  })

  it('OPS-8 refuses a listener that is no function', async () => {
    const onProgress = 'yes' as unknown as () => void
    await expect(q.waitFor('x', { onProgress })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
