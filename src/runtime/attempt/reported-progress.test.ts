import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import type { ProgressReport } from '../../store/job-store.ts'
import { createBatcher } from '../calls/batcher.ts'
import { progressOf, ReportedProgress } from './reported-progress.ts'

const lease = { jobId: 'job', leaseId: 'lease' }

it('LEASE-8 a value that is no number is refused by name', () => {
  expect(() => progressOf('0.5' as never, undefined)).toThrow(
    'progress: got "0.5", takes a number from 0 to 1',
  )
  expect(progressOf(1 + 1e-12, undefined)).toEqual({ value: 1, text: null })
})

describe('the writes of one attempt', () => {
  let written: ProgressReport[] = []
  let answer: () => Promise<boolean> = async () => true
  const open = () =>
    new ReportedProgress(
      lease,
      createBatcher(async (reports: ProgressReport[]) => {
        const isKept = await answer()
        if (isKept) written.push(...reports)
        return reports.map(() => isKept)
      }),
    )
  const values = () => written.map(({ value }) => value)

  beforeEach(() => {
    vi.useFakeTimers()
    written = []
    answer = async () => true
  })
  afterEach(() => vi.useRealTimers())

  it('LEASE-8 the first value is written at once, then one a second, each the newest', async () => {
    const progress = open()
    for (let step = 0; step < 25; step++) {
      progress.report({ value: step / 100, text: null })
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(values()).toEqual([0, 0.09, 0.19])
  })

  it('LEASE-8 the last value is written before the end, and none after it', async () => {
    const progress = open()
    progress.report({ value: 0.1, text: 'first' })
    progress.report({ value: 0.2, text: 'last' })
    await progress.end()
    expect(written).toEqual([
      { ...lease, value: 0.1, text: 'first' },
      { ...lease, value: 0.2, text: 'last' },
    ])
    progress.report({ value: 0.3, text: null })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(values()).toEqual([0.1, 0.2])
    expect(progress.end()).toBeNull()
  })

  it('LEASE-8 a value that a locked row or an outage refused is written later, unless there is a newer one', async () => {
    const progress = open()
    answer = async () => false
    progress.report({ value: 0.1, text: null })
    await vi.advanceTimersByTimeAsync(500)
    answer = () => Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'away'))
    await vi.advanceTimersByTimeAsync(1_000)
    answer = async () => true
    await vi.advanceTimersByTimeAsync(1_000)
    expect(values()).toEqual([0.1])
  })

  it('LEASE-8 the end does not wait longer than a second for a database that does not answer', async () => {
    const progress = open()
    answer = () => new Promise(() => {})
    progress.report({ value: 0.1, text: null })
    let isOver = false
    void progress.end()?.then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(999)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isOver).toBe(true)
  })

  it('OPS-13 a table without the columns is asked once', async () => {
    const asked = vi.fn(() => Promise.reject(new UnstuckError('NOT_SUPPORTED', 'no columns')))
    answer = asked
    const progress = open()
    for (let step = 0; step < 5; step++) {
      progress.report({ value: step / 10, text: null })
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(asked).toHaveBeenCalledTimes(1)
  })
})
