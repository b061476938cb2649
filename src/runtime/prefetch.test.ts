import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Prefetch } from './prefetch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** So many looks, 100 ms apart, with so many ended jobs between them. */
function pace(prefetch: Prefetch, ended: number, looks = 12): number {
  let size = 0
  for (let look = 0; look < looks; look++) {
    for (let job = 0; job < ended; job++) prefetch.noteEnd()
    vi.advanceTimersByTime(100)
    size = prefetch.size()
  }
  return size
}

it('WORK-1 a worker claims nothing ahead before it knows its pace, and with long jobs never does', () => {
  const prefetch = new Prefetch()
  expect(prefetch.size()).toBe(0)
  expect(pace(prefetch, 1)).toBe(0)
})

it('WORK-1 with short jobs it claims ahead what it does in 50 ms, and in the time of three claims', () => {
  const prefetch = new Prefetch()
  expect(pace(prefetch, 100)).toBe(50)
  for (let claim = 0; claim < 12; claim++) prefetch.noteClaim(20)
  expect(pace(prefetch, 100)).toBe(109)
  expect(pace(prefetch, 100_000)).toBe(3_000)
})

it('WORK-1 a faster pace counts at once', () => {
  const prefetch = new Prefetch()
  expect(pace(prefetch, 1_000, 1)).toBe(500)
})

it('WORK-1 when the jobs become long, it claims ahead no more after a few looks', () => {
  const prefetch = new Prefetch()
  pace(prefetch, 100)
  expect(pace(prefetch, 0, 6)).toBe(0)
})
