import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Prefetch } from './prefetch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** So many looks after 100 ms of work each, in which so many jobs end; what is given waits between them. */
function pace(prefetch: Prefetch, ended: number, { looks = 12, restMs = 0 } = {}): number {
  let size = 0
  for (let look = 0; look < looks; look++) {
    prefetch.noteWork()
    for (let job = 0; job < ended; job++) prefetch.noteEnd()
    vi.advanceTimersByTime(100)
    if (restMs > 0) prefetch.noteRest()
    vi.advanceTimersByTime(restMs)
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

it('WORK-1 the time in which it had nothing to do is no part of its pace', () => {
  expect(pace(new Prefetch(), 100, { restMs: 300 })).toBe(50)
})

it('WORK-1 a faster pace counts at once', () => {
  expect(pace(new Prefetch(), 1_000, { looks: 1 })).toBe(500)
})

it('WORK-1 the first jobs are looked at when there are several, and are a reason for sixteen times as many', () => {
  const prefetch = new Prefetch()
  const workOff = (jobs: number) => {
    prefetch.noteWork()
    for (let job = 0; job < jobs; job++) prefetch.noteEnd()
    vi.advanceTimersByTime(0.1)
    prefetch.noteRest()
    return prefetch.size()
  }
  expect(workOff(9)).toBe(0)
  expect(workOff(1)).toBe(160)
  expect(workOff(160)).toBe(2_560)
})

it('WORK-1 when the jobs become long, it claims ahead no more after a few looks', () => {
  const prefetch = new Prefetch()
  pace(prefetch, 100)
  expect(pace(prefetch, 0, { looks: 6 })).toBe(0)
})

it('WORK-1 after half a second without a job the pace is forgotten', () => {
  const prefetch = new Prefetch()
  expect(pace(prefetch, 100, { restMs: 499 })).toBe(50)
  vi.advanceTimersByTime(1)
  prefetch.noteWork()
  expect(prefetch.size()).toBe(0)
})
