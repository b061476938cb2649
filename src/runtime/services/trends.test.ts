import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { RuntimeEventEmitter, type RuntimeEvents } from '../../observe/events.ts'
import type { TrendCounts } from '../../store/ports/trend-store.ts'
import { startTrends, type Trends } from './trends.ts'

interface Written {
  counts: TrendCounts[]
  agoMs: number
}

let events: RuntimeEventEmitter
let written: Written[]
let failure: Error | undefined
let trends: Trends

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-01-01T12:00:30Z') })
  events = new RuntimeEventEmitter()
  written = []
  failure = undefined
  const store = {
    async recordTrends(counts: TrendCounts[], agoMs: number) {
      if (failure !== undefined) throw failure
      written.push({ counts: structuredClone(counts), agoMs })
      return 60_000 - (Date.now() % 60_000)
    },
  }
  trends = startTrends({ store, events, table: 'jobs' })
})
afterEach(async () => {
  const stopped = trends.stop()
  await vi.advanceTimersByTimeAsync(10_000)
  await stopped
  vi.useRealTimers()
})

const job = { type: 'mail', queue: 'slow', waitedMs: 70 } as ClaimedJob
const ended = (end: RuntimeEvents['job:ended']['end'], durationMs = 3, over = job) =>
  events.emit('job:ended', { job: over, end, durationMs })
const filled = (buckets: number[] = []) =>
  buckets.map((count, bucket) => [bucket, count]).filter(([, count]) => count !== 0)
const minute = () => vi.advanceTimersByTimeAsync(60_000)

it('SEE-5 counts by queue and type what the process did in a minute, and writes it after the minute', async () => {
  events.emit('jobs:enqueued', { table: 'jobs', type: 'mail', queue: 'slow', created: 4, duplicates: 1 })
  events.emit('jobs:enqueued', { table: 'others', type: 'mail', queue: 'slow', created: 9, duplicates: 0 })
  events.emit('job:started', { job: { ...job, isRescue: true } })
  events.emit('job:started', { job: { ...job, isRescue: false } })
  for (const end of ['completed', 'completed', 'retried', 'dead', 'released', 'lost', 'cancelled'] as const)
    ended(end)
  await minute()
  expect(written).toHaveLength(1)
  const [{ counts, agoMs } = { counts: [], agoMs: 0 }] = written
  expect(counts).toMatchObject([
    { queue: 'slow', type: 'mail', enqueued: 4, completed: 2, failed: 2, rescued: 1 },
  ])
  // From 2 to 5 ms is the third bucket, from 50 to 100 the seventh.
  expect(filled(counts[0]?.runs)).toEqual([[2, 4]])
  expect(filled(counts[0]?.waits)).toEqual([[6, 2]])
  // A moment of the minute that ended at 12:01:00, whenever after that it is written.
  expect(agoMs).toBeGreaterThanOrEqual(30_000)
  expect(agoMs).toBeLessThan(36_000)
})

it('SEE-5 writes nothing for a minute in which nothing happened', async () => {
  await minute()
  await minute()
  expect(written).toEqual([])
})

it('SEE-5 writes later what could not be written, still for its own minute', async () => {
  const failures: unknown[] = []
  events.on('trends:failed', ({ error }) => failures.push(error))
  failure = new Error('down')
  ended('completed')
  await minute()
  failure = undefined
  ended('completed')
  ended('completed')
  await minute()
  expect(failures).toHaveLength(1)
  expect(written).toMatchObject([{ counts: [{ completed: 1 }] }, { counts: [{ completed: 2 }] }])
  const [first, second] = written.map(({ agoMs }) => agoMs)
  expect((first ?? 0) - (second ?? 0)).toBe(60_000)
})

it('SEE-5 drops after an hour what it may not write', async () => {
  failure = new UnstuckError('PERMISSION_DENIED', 'permission denied for table trends')
  ended('completed')
  await vi.advanceTimersByTimeAsync(62 * 60_000)
  failure = undefined
  ended('completed')
  await minute()
  expect(written).toMatchObject([{ counts: [{ completed: 1 }] }])
})

it('SEE-7 a process that was frozen writes for the minute in which its jobs ended', async () => {
  ended('completed')
  await vi.advanceTimersByTimeAsync(29_000)
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 90_000)
  await vi.advanceTimersByTimeAsync(6_000)
  clock.mockRestore()
  expect(written).toHaveLength(1)
  // The minute ended 90 s before the process went on.
  expect(written[0]?.agoMs).toBeGreaterThanOrEqual(120_000)
  expect(written[0]?.agoMs).toBeLessThan(126_000)
})

it('SEE-5 writes what is left when it stops', async () => {
  ended('completed', 100 * 3_600_000)
  const stopped = trends.stop()
  await vi.advanceTimersByTimeAsync(0)
  await stopped
  expect(written[0]?.counts[0]?.runs.at(-1)).toBe(1)
})

it('SEE-5 counts what is left when it stops in the minute of the stop, where the rows show it', async () => {
  await minute()
  await vi.advanceTimersByTimeAsync(45_000)
  ended('completed')
  const stopped = trends.stop()
  await vi.advanceTimersByTimeAsync(0)
  await stopped
  expect(written).toMatchObject([{ counts: [{ completed: 1 }], agoMs: 0 }])
})

it('SEE-5 counts together what is beyond 100 pairs of queue and type', async () => {
  for (let nth = 0; nth < 130; nth++) ended('completed', 1, { ...job, type: `type-${nth}` })
  await minute()
  const counts = written[0]?.counts ?? []
  expect(counts).toHaveLength(101)
  expect(counts.at(-1)).toMatchObject({ queue: '*', type: '*', completed: 30 })
})

it('WORK-4 a store that does not answer does not hold up the stop', async () => {
  const silent = startTrends({ store: { recordTrends: () => new Promise(() => {}) }, events, table: 'jobs' })
  ended('completed')
  const stopped = silent.stop()
  await vi.advanceTimersByTimeAsync(2_000)
  await stopped
})
