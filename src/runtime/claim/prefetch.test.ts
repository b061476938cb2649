import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Prefetch } from './prefetch.ts'

const SLOTS = 10

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** So many handlers start together and return together; answers what may be claimed ahead then. */
function handle(prefetch: Prefetch, handlerMs: number, { rounds = 1, handlers = SLOTS } = {}): number {
  for (let round = 0; round < rounds; round++) {
    for (let handler = 0; handler < handlers; handler++) prefetch.noteStart()
    vi.advanceTimersByTime(handlerMs)
    for (let handler = 0; handler < handlers; handler++) prefetch.noteEnd()
  }
  return prefetch.size()
}

it('WORK-1 with short jobs a worker claims ahead what its slots do in 50 ms, and in the time of three claims', () => {
  const prefetch = new Prefetch(SLOTS)
  expect(handle(prefetch, 10, { rounds: 20 })).toBe(50)
  for (let claim = 0; claim < 12; claim++) prefetch.noteClaim(20)
  expect(handle(prefetch, 10, { rounds: 20 })).toBe(109)
})

it('WORK-10 no more is claimed ahead than starts in half a second, however long claims take, nor more than 4,000', () => {
  const prefetch = new Prefetch(SLOTS)
  for (let claim = 0; claim < 12; claim++) prefetch.noteClaim(10_000)
  expect(handle(prefetch, 10, { rounds: 100 })).toBe(500)
  expect(handle(prefetch, 0.1, { rounds: 5_000 })).toBe(4_000)
})

it('WORK-10 slow jobs wait for a quarter of the time that they take, and for a quarter of a second at most', () => {
  expect(new Prefetch(SLOTS).size()).toBe(0)
  expect(handle(new Prefetch(100), 500, { handlers: 100 })).toBe(25)
  expect(handle(new Prefetch(100), 1_000, { handlers: 100 })).toBe(25)
  expect(handle(new Prefetch(100), 5_000, { handlers: 100 })).toBe(5)
  for (const handlerMs of [5_000, 60_000]) expect(handle(new Prefetch(SLOTS), handlerMs)).toBe(0)
})

it('WORK-10 jobs that end together are gathered for a fiftieth of the time that they take, 20 ms at most, while others run', () => {
  const gatherMs = (handlerMs: number, running: number) => {
    const prefetch = new Prefetch(SLOTS)
    handle(prefetch, handlerMs)
    for (let handler = 0; handler < running; handler++) prefetch.noteStart()
    return prefetch.gatherMs()
  }
  expect([gatherMs(10, 1), gatherMs(100, 1), gatherMs(60_000, 1)]).toEqual([0.2, 2, 20])
  expect(gatherMs(100, 0)).toBe(0)
})

it('WORK-10 results wait longer, two fifths of that time and 20 ms at most, if sixteen come meanwhile', () => {
  const gatherMs = (handlerMs: number, running: number) => {
    const prefetch = new Prefetch(100)
    handle(prefetch, handlerMs, { handlers: 100 })
    for (let handler = 0; handler < running; handler++) prefetch.noteStart()
    return prefetch.gatherResultsMs()
  }
  expect([gatherMs(10, 40), gatherMs(50, 40), gatherMs(100, 80)]).toEqual([4, 20, 20])
  expect([gatherMs(10, 39), gatherMs(50, 39), gatherMs(100, 79)]).toEqual([0.2, 1, 2])
  expect(gatherMs(0, 100)).toBe(0)
})

it('WORK-10 slow handlers that return one shortly after the other do not look fast', () => {
  const prefetch = new Prefetch(SLOTS)
  for (let round = 0; round < 3; round++) {
    for (let handler = 0; handler < SLOTS; handler++) prefetch.noteStart()
    vi.advanceTimersByTime(5_000)
    for (let handler = 0; handler < SLOTS; handler++) {
      prefetch.noteEnd()
      expect(prefetch.size()).toBe(0)
      vi.advanceTimersByTime(1)
    }
  }
})

it('WORK-10 a few short jobs are a reason to claim eight times as many, and no more', () => {
  const prefetch = new Prefetch(SLOTS)
  expect(handle(prefetch, 0.1)).toBe(80)
  expect(handle(prefetch, 0.1, { handlers: 40 })).toBe(400)
})

it('WORK-10 of mixed jobs the short ones end first, and are no reason to claim many', () => {
  const prefetch = new Prefetch(SLOTS)
  for (let handler = 0; handler < SLOTS; handler++) prefetch.noteStart()
  for (let handler = 0; handler < 3; handler++) prefetch.noteEnd()
  // Three jobs for each of the seven slots that are still in use, within their 50 ms.
  expect(prefetch.size()).toBe(4)
  vi.advanceTimersByTime(500)
  expect(prefetch.size()).toBe(0)
})

it('WORK-10 once every slot has a slow job, nothing more is claimed ahead', () => {
  const prefetch = new Prefetch(SLOTS)
  expect(handle(prefetch, 0.1, { rounds: 500 })).toBeGreaterThan(1_000)
  for (let handler = 0; handler < SLOTS; handler++) prefetch.noteStart()
  vi.advanceTimersByTime(50)
  prefetch.size()
  vi.advanceTimersByTime(50)
  expect(prefetch.size()).toBe(0)
  // Their end is no sign of speed.
  vi.advanceTimersByTime(2_000)
  for (let handler = 0; handler < SLOTS; handler++) prefetch.noteEnd()
  expect(prefetch.size()).toBe(0)
})

it('WORK-1 a slow job beside short ones takes its slot, and nothing of the pace of the others', () => {
  const prefetch = new Prefetch(SLOTS)
  prefetch.noteStart()
  // 45 without the benefit of the doubt that the slow one no longer gets.
  expect(handle(prefetch, 10, { rounds: 500, handlers: SLOTS - 1 })).toBe(44)
})

it('WORK-1 the time in which there was nothing to do is no part of the pace', () => {
  const prefetch = new Prefetch(SLOTS)
  for (let burst = 0; burst < 20; burst++) {
    vi.advanceTimersByTime(300)
    prefetch.size()
    handle(prefetch, 10, { rounds: 5 })
  }
  // Counted over all time it would be 7.
  expect(prefetch.size()).toBeGreaterThan(45)
})

it('WORK-10 after a pause a worker claims for its slots first: other jobs may have come', () => {
  const prefetch = new Prefetch(SLOTS)
  expect(handle(prefetch, 10, { rounds: 20 })).toBe(50)
  vi.advanceTimersByTime(60_000)
  expect(prefetch.size()).toBe(0)
})
