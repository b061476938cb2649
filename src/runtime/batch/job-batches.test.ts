import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import { type Handler, JobAborted } from '../attempt/handler.ts'
import type { BatchContext, BatchedJob, BatchHandler } from './batch-handler.ts'
import { JobBatches } from './job-batches.ts'

interface Call {
  jobs: BatchedJob[]
  batch: BatchContext
  end: () => void
  throw: (error: unknown) => void
}

describe('batches of jobs', () => {
  let calls: Call[]
  /** Ends when the test says so. */
  const work: BatchHandler = (jobs, batch) =>
    new Promise((resolve, reject) => {
      calls.push({ jobs, batch, end: resolve, throw: reject })
    })
  const open = (options: { size?: number; waitMs?: number; misfit?: string } = {}) =>
    new JobBatches({
      size: options.size ?? 3,
      waitMs: options.waitMs ?? 1_000,
      work,
      readPayload: ({ jobId, payload }) => {
        if (jobId === options.misfit) throw new Error('no fit')
        return payload
      },
    })

  function start(batches: JobBatches<unknown>, jobId: string, fields: Partial<ClaimedJob> = {}) {
    const controller = new AbortController()
    const job = { jobId, payload: jobId, runsAlone: false, ...fields } as ClaimedJob
    const context = { signal: controller.signal, progress: vi.fn() }
    const outcome = Promise.resolve(batches.handler(job, context as unknown as Parameters<Handler>[1])).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
    return { job, outcome, context, abort: () => controller.abort(new JobAborted('cancelled')) }
  }

  const idsOf = (call: Call | undefined) => call?.jobs.map(({ jobId }) => jobId)
  const called = () => calls.map(idsOf)
  const settle = () => vi.advanceTimersByTimeAsync(0)

  beforeEach(() => {
    calls = []
    vi.useFakeTimers()
  })
  afterEach(() => vi.useRealTimers())

  it('WORK-12 a full batch begins at once, one that is not full after its wait', async () => {
    const batches = open()
    for (const jobId of ['a', 'b', 'c', 'd']) start(batches, jobId)
    await settle()
    expect(called()).toEqual([['a', 'b', 'c']])
    await vi.advanceTimersByTimeAsync(999)
    start(batches, 'e')
    expect(called()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(called()).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(calls).toHaveLength(2)
  })

  it('WORK-12 without a wait, jobs that start together are a batch', async () => {
    const batches = open({ size: 10, waitMs: 0 })
    for (const jobId of ['a', 'b']) start(batches, jobId)
    await settle()
    start(batches, 'c')
    await settle()
    expect(called()).toEqual([['a', 'b'], ['c']])
  })

  it('WORK-12 begin() waits no longer, and begins nothing if nothing is gathered', async () => {
    const batches = open()
    batches.begin()
    start(batches, 'a')
    batches.begin()
    await settle()
    expect(called()).toEqual([['a']])
  })

  it('REAP-15 a last chance is a batch of one, and begins at once', async () => {
    const batches = open()
    start(batches, 'a')
    start(batches, 'last', { runsAlone: true })
    await settle()
    expect(called()).toEqual([['last']])
  })

  it('WORK-12 each job has its own outcome, and the first one counts', async () => {
    const batches = open()
    const [a, b, c] = ['a', 'b', 'c'].map((jobId) => start(batches, jobId))
    await settle()
    const [first, second] = calls[0]?.jobs ?? []
    first?.complete({ sent: 1 })
    first?.fail(new Error('too late'))
    expect(await a?.outcome).toEqual({ result: { sent: 1 } })
    second?.fail(new Error('bounced'))
    expect(await b?.outcome).toEqual({ error: new Error('bounced') })
    calls[0]?.end()
    expect(await c?.outcome).toEqual({ result: undefined })
  })

  it('WORK-12 a throw fails each job that has no outcome', async () => {
    const batches = open()
    const [a, b, c] = ['a', 'b', 'c'].map((jobId) => start(batches, jobId))
    await settle()
    calls[0]?.jobs[1]?.complete('done')
    const error = new Error('relay is down')
    calls[0]?.throw(error)
    expect([await a?.outcome, await b?.outcome, await c?.outcome]).toEqual([
      { error },
      { result: 'done' },
      { error },
    ])
  })

  it('WORK-12 a return says nothing about an aborted job, which the handler may have skipped', async () => {
    const batches = open()
    const [a, b, c] = ['a', 'b', 'c'].map((jobId) => start(batches, jobId))
    await settle()
    b?.abort()
    c?.abort()
    calls[0]?.jobs[2]?.complete('in time')
    calls[0]?.end()
    expect([await a?.outcome, await b?.outcome, await c?.outcome]).toEqual([
      { result: undefined },
      { error: new JobAborted('cancelled') },
      { result: 'in time' },
    ])
  })

  it('RATE-5 a job is released alone, and a wrong request changes nothing', async () => {
    const batches = open({ size: 1 })
    const { outcome } = start(batches, 'a')
    await settle()
    const [job] = calls[0]?.jobs ?? []
    expect(() => job?.release({ afterMs: -1 })).toThrow('afterMs')
    job?.release({ afterMs: 5_000, reason: 'not yet' })
    expect(await outcome).toMatchObject({
      error: { message: 'not yet', release: 'asked', retryAfterMs: 5_000 },
    })
  })

  it('WORK-8 a payload that does not fit ends its job alone', async () => {
    const batches = open({ misfit: 'b' })
    const [, b] = ['a', 'b', 'c'].map((jobId) => start(batches, jobId))
    await settle()
    expect(called()).toEqual([['a', 'c']])
    expect(await b?.outcome).toEqual({ error: new Error('no fit') })
  })

  it('WORK-12 the progress limit of a job begins with its batch', async () => {
    const batches = open()
    const { context } = start(batches, 'a')
    expect(context.progress).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(context.progress).toHaveBeenCalledTimes(1)
  })

  it('WORK-6 a job that was aborted while it waited for others ends without the handler', async () => {
    const batches = open()
    const [a] = ['a', 'b'].map((jobId) => start(batches, jobId))
    a?.abort()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(called()).toEqual([['b']])
    expect(await a?.outcome).toEqual({ error: new JobAborted('cancelled') })
  })

  it('WORK-6 a job that is aborted while it waits for others ends at once, and leaves the rest of the wait to nobody', async () => {
    const batches = open()
    const a = start(batches, 'a')
    await vi.advanceTimersByTimeAsync(600)
    a.abort()
    expect(await a.outcome).toEqual({ error: new JobAborted('cancelled') })
    start(batches, 'b')
    await vi.advanceTimersByTimeAsync(900)
    expect(calls).toEqual([])
    await vi.advanceTimersByTimeAsync(100)
    expect(called()).toEqual([['b']])
  })

  it('WORK-12 no batch begins if all of its jobs were aborted', async () => {
    const batches = open()
    const { abort, outcome } = start(batches, 'a')
    abort()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(calls).toEqual([])
    expect(await outcome).toEqual({ error: new JobAborted('cancelled') })
  })

  it('WORK-12 the signal of a batch is aborted when no job without an outcome goes on', async () => {
    const batches = open()
    const [a, b] = ['a', 'b', 'c'].map((jobId) => start(batches, jobId))
    await settle()
    const { signal } = calls[0]?.batch ?? {}
    a?.abort()
    b?.abort()
    expect(signal?.aborted).toBe(false)
    calls[0]?.jobs[2]?.complete()
    expect(signal?.aborted).toBe(true)
    expect(signal?.reason).toEqual(new JobAborted('cancelled'))
  })

  it('WORK-12 the signal of a batch whose jobs all have outcomes is not aborted', async () => {
    const batches = open({ size: 1 })
    const { abort } = start(batches, 'a')
    await settle()
    const { signal } = calls[0]?.batch ?? {}
    calls[0]?.jobs[0]?.complete()
    abort()
    expect(signal?.aborted).toBe(false)
  })

  it('LEASE-8 a call is left behind once, by the last of its jobs that was given up', async () => {
    const batches = open({ size: 2 })
    const [a, b] = ['a', 'b'].map((jobId) => start(batches, jobId))
    await settle()
    expect(batches.leave(a?.job as ClaimedJob)).toBeNull()
    const leftBehind = batches.leave(b?.job as ClaimedJob)
    let hasEnded = false
    void leftBehind?.then(() => {
      hasEnded = true
    })
    await settle()
    expect(hasEnded).toBe(false)
    calls[0]?.throw(new Error('at last'))
    await settle()
    expect(hasEnded).toBe(true)
  })

  it('LEASE-8 a job that was given up before its batch began is not in it', async () => {
    const batches = open()
    const [a] = ['a', 'b'].map((jobId) => start(batches, jobId))
    expect(batches.leave(a?.job as ClaimedJob)).toBeNull()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(called()).toEqual([['b']])
  })

  it('WORK-12 jobs that are started to be a batch of their own wait for no others', async () => {
    const batches = open()
    start(batches, 'other')
    batches.gatherOnly(() => {
      for (const jobId of ['a', 'b', 'c', 'd']) start(batches, jobId)
    })
    await settle()
    expect(called()).toEqual([['a', 'b', 'c'], ['d']])
    start(batches, 'another')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(called().at(-1)).toEqual(['other', 'another'])
  })
})
