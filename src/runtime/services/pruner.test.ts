import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RuntimeEventEmitter, type RuntimeEvents } from '../../observe/events.ts'
import type { JobStore, PruneRequest, PruneStep } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { type Pruner, type PrunerOptions, startPruner } from './pruner.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const FIRST_RUN = 60_000

let store: MemoryJobStore
let pruner: Pruner | undefined
let done: RuntimeEvents['prune:done'][]
let failed: RuntimeEvents['prune:failed'][]

beforeEach(() => {
  vi.useFakeTimers({ now: Date.now() })
  store = createMemoryStore({ policy: { retentionDays: 14 } })
  done = []
  failed = []
})

afterEach(async () => {
  await pruner?.stop()
  pruner = undefined
  vi.useRealTimers()
})

function start(options: Partial<PrunerOptions> = {}): void {
  const events = new RuntimeEventEmitter()
  events.on('prune:done', (fields) => done.push(fields))
  events.on('prune:failed', (fields) => failed.push(fields))
  pruner = startPruner({ tables: [{ name: 'jobs', store }], events, ...options })
}

function plantEnded(daysAgo: number): string {
  return store.plantJob({ type: 'asr', status: 'dead', finishedAt: new Date(Date.now() - daysAgo * DAY) })
}

/** The real store, with its steps of retention answered otherwise. */
function withPrunes(
  prune: (request: PruneRequest | undefined, real: JobStore) => Promise<PruneStep>,
): JobStore {
  return new Proxy(store, {
    get: (target, name, receiver) =>
      name === 'pruneJobs'
        ? (request?: PruneRequest) => prune(request, target)
        : Reflect.get(target, name, receiver),
  })
}

it('OPS-2 deletes what is past the retention within a minute of the start, and then every hour', async () => {
  const [old, young] = [plantEnded(15), plantEnded(13)]
  start()
  await vi.advanceTimersByTimeAsync(FIRST_RUN)
  expect(done).toMatchObject([{ table: 'jobs', deleted: 1 }])
  expect(await store.getJob(old)).toBeNull()
  expect(await store.getJob(young)).not.toBeNull()

  plantEnded(20)
  await vi.advanceTimersByTimeAsync(HOUR)
  await vi.advanceTimersByTimeAsync(HOUR)
  expect(done.map(({ deleted }) => deleted)).toEqual([1, 1, 0])
})

it('OPS-2 starts its first pass at a moment of its own', async () => {
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0.5)
  start()
  chance.mockRestore()
  await vi.advanceTimersByTimeAsync(FIRST_RUN / 2 - 1)
  expect(done).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(done).toHaveLength(1)
})

it('OPS-2 takes the retention that it was given before that of the policy', async () => {
  plantEnded(8)
  start({ retentionDays: 7 })
  await vi.advanceTimersByTimeAsync(FIRST_RUN)
  expect(done).toMatchObject([{ deleted: 1 }])
})

it('OPS-2 never has two passes under way', async () => {
  let running = 0
  let most = 0
  const slow = withPrunes(async (request, real) => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 3 * HOUR))
    running--
    return real.pruneJobs(request)
  })
  start({ tables: [{ name: 'jobs', store: slow }] })
  await vi.advanceTimersByTimeAsync(20 * HOUR)
  expect(most).toBe(1)
  expect(done.length).toBeGreaterThanOrEqual(4)
})

it('OPS-2 tells of a pass that failed, prunes the other tables, and comes again', async () => {
  let calls = 0
  const broken = withPrunes((request, real) =>
    ++calls === 1 ? Promise.reject(new Error('no connection')) : real.pruneJobs(request),
  )
  start({
    tables: [
      { name: 'first', store: broken },
      { name: 'second', store },
    ],
  })
  await vi.advanceTimersByTimeAsync(FIRST_RUN)
  expect(failed).toMatchObject([{ table: 'first', error: new Error('no connection') }])
  expect(done).toMatchObject([{ table: 'second' }])
  await vi.advanceTimersByTimeAsync(HOUR)
  expect(done.map(({ table }) => table)).toEqual(['second', 'first', 'second'])
})

it('RATE-1 forgets the buckets of limits that have been full for long, however many', async () => {
  const keys = Array.from({ length: 2_500 }, (_, n) => `user-${n}`)
  for (const key of keys) await store.takeTokens([{ key, ratePerS: 1, burst: 1 }])
  store.elapse(2 * HOUR)
  start()
  await vi.advanceTimersByTimeAsync(FIRST_RUN)
  expect(done).toHaveLength(1)
  expect(await store.pruneRateLimits()).toBe(0)
})

it('OPS-2 stops after the step that is under way, and not after the whole pass', async () => {
  let steps = 0
  const endless = withPrunes(async () => {
    steps++
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    return { deleted: 1, next: 'on' }
  })
  start({ tables: [{ name: 'jobs', store: endless }] })
  await vi.advanceTimersByTimeAsync(FIRST_RUN + 5_000)
  const stepsAtStop = steps
  const stopped = pruner?.stop()
  await vi.advanceTimersByTimeAsync(1_000)
  await stopped
  expect(steps).toBe(stepsAtStop)
  expect([done, failed]).toEqual([[], []])
})
