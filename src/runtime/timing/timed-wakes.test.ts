import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TimedWakes } from './timed-wakes.ts'

let wokenAtMs: number[]
let wakes: TimedWakes

beforeEach(() => {
  vi.useFakeTimers()
  wokenAtMs = []
  const startMs = performance.now()
  wakes = new TimedWakes(() => wokenAtMs.push(performance.now() - startMs))
})
afterEach(() => {
  wakes.clear()
  vi.useRealTimers()
})

it('WORK-1 wakes at each of several times, never before it and less than 0.3 s after', async () => {
  for (const inMs of [10_000, 1_000, 60_000]) wakes.add(inMs)
  await vi.advanceTimersByTimeAsync(120_000)
  expect(wokenAtMs).toHaveLength(3)
  for (const [index, dueMs] of [1_000, 10_000, 60_000].entries()) {
    expect(wokenAtMs[index]).toBeGreaterThanOrEqual(dueMs)
    expect(wokenAtMs[index]).toBeLessThan(dueMs + 300)
  }
})

it('WORK-1 a thousand jobs that are due within a second wake at most six times', async () => {
  for (let job = 0; job < 1_000; job++) wakes.add(1_000 + job)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(wokenAtMs.length).toBeGreaterThanOrEqual(5)
  expect(wokenAtMs.length).toBeLessThanOrEqual(6)
})

it('WORK-1 leaves what is due in over ten minutes to polling, however far it is', async () => {
  for (const inMs of [600_001, 2 ** 31, Number.POSITIVE_INFINITY]) wakes.add(inMs)
  expect(vi.getTimerCount()).toBe(0)
})

it('WORK-4 wakes nobody once it is cleared', async () => {
  wakes.add(1_000)
  wakes.clear()
  wakes.add(1_000)
  expect(vi.getTimerCount()).toBe(0)
})
