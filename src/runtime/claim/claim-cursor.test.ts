import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import { ClaimCursor } from './claim-cursor.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const job = (createdAt: string, priority = 0, queue = 'mail') =>
  ({ queue, priority, createdAt: new Date(createdAt) }) as ClaimedJob

type Position = ReturnType<ClaimCursor['position']>

const shown = (position: Position) =>
  Object.fromEntries(
    Array.from(position, ([queue, times]) => [
      queue,
      Object.fromEntries(Array.from(times, ([priority, time]) => [priority, time.toISOString()])),
    ]),
  )

it('LEASE-1 a claim starts where the last one of its queue and priority got to', () => {
  const cursor = new ClaimCursor()
  const found = [
    [job('2026-01-01T00:00:01Z'), job('2026-01-01T00:00:02Z'), job('2026-01-01T00:00:00Z', 5)],
    [job('2026-01-01T00:00:03Z')],
    [job('2026-01-01T00:00:01Z')],
    [],
  ]
  const starts = found.map((jobs) => {
    const from = cursor.position()
    const start = shown(from)
    cursor.advance(from, jobs)
    return start
  })
  const other = { 5: '2026-01-01T00:00:00.000Z' }
  expect(starts).toEqual([
    {},
    { mail: { 0: '2026-01-01T00:00:02.000Z', ...other } },
    { mail: { 0: '2026-01-01T00:00:03.000Z', ...other } },
    // A retried job is older, and does not move the position back.
    { mail: { 0: '2026-01-01T00:00:03.000Z', ...other } },
  ])
})

it('LEASE-1 once a second a claim starts from the beginning: no job is skipped for long', () => {
  const cursor = new ClaimCursor()
  const queues = Array.from({ length: 4 }, () => {
    const from = cursor.position()
    const { size } = from
    cursor.advance(from, [job('2026-01-01T00:00:01Z')])
    vi.advanceTimersByTime(600)
    return size
  })
  expect(queues).toEqual([0, 1, 0, 1])
})

it('LEASE-1 claims from the beginning that take long are rarer, and come every five seconds at least', () => {
  const pauses = [10, 150, 60_000].map((durationMs) => {
    const cursor = new ClaimCursor()
    const from = cursor.position()
    cursor.noteDuration(from, durationMs)
    cursor.advance(from, [job('2026-01-01T00:00:01Z')])
    cursor.noteDuration(from, 1)
    let pauseMs = 0
    while (cursor.position().size > 0) {
      vi.advanceTimersByTime(100)
      pauseMs += 100
    }
    return pauseMs
  })
  expect(pauses).toEqual([1_100, 3_100, 5_100])
})

it('LEASE-1 if nothing is found from the cursor on, the beginning is looked at again, four times a second at most', () => {
  const cursor = new ClaimCursor()
  const start = cursor.position()
  expect(cursor.rewind(start)).toBeNull()
  cursor.advance(start, [job('2026-01-01T00:00:01Z')])
  expect(cursor.rewind(cursor.position())).toBeNull()
  vi.advanceTimersByTime(300)
  const from = cursor.position()
  expect(from.size).toBe(1)
  expect(cursor.rewind(from)?.size).toBe(0)
  expect(cursor.position().size).toBe(0)
})

it('LEASE-1 a claim that was sent before a restart does not move the new position', () => {
  const cursor = new ClaimCursor()
  cursor.advance(cursor.position(), [job('2026-01-01T00:00:01Z')])
  vi.advanceTimersByTime(900)
  const early = cursor.position()
  vi.advanceTimersByTime(200)
  const later = cursor.position()
  cursor.advance(early, [job('2026-01-01T00:00:09Z')])
  cursor.advance(later, [job('2026-01-01T00:00:02Z')])
  expect(shown(cursor.position())).toEqual({ mail: { 0: '2026-01-01T00:00:02.000Z' } })
})
