import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type EventName, RuntimeEventEmitter } from '../../observe/events.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import type { DispatchedJob } from '../../store/ports/dispatch-store.ts'
import { runSweep } from '../services/run-sweep.ts'
import { type Dispatcher, type DispatcherOptions, startDispatcher } from './dispatcher.ts'

let store: MemoryJobStore
let dispatcher: Dispatcher | undefined
let published: DispatchedJob[][]
let told: { name: EventName; fields: object }[]
let events: RuntimeEventEmitter

beforeEach(() => {
  vi.useFakeTimers({ now: Date.now() })
  store = createMemoryStore({
    policy: { defaultLeaseMs: 2_000, requeueRatePerS: 0, reapBackoffStepsMs: [30_000], dispatch: 'requeued' },
  })
  published = []
  told = []
  events = new RuntimeEventEmitter()
  for (const name of ['dispatch:done', 'dispatch:failed'] as const)
    events.on(name, (fields) => told.push({ name, fields }))
})

afterEach(async () => {
  await dispatcher?.stop()
  dispatcher = undefined
  vi.useRealTimers()
})

type Publish = (jobs: DispatchedJob[]) => Promise<void>

function start(publish: Publish = async () => {}, options: Partial<DispatcherOptions> = {}): Dispatcher {
  const adapter = {
    publish: async (jobs: DispatchedJob[]) => {
      await publish(jobs)
      published.push(jobs)
    },
  }
  dispatcher = startDispatcher({ table: 'jobs', store, adapter, events, intervalMs: 5_000, ...options })
  return dispatcher
}

async function requeue(count: number): Promise<string[]> {
  await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
  await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: count })
  store.elapse(3_000)
  return (await runSweep(store)).requeuedIds
}

const publishedIds = () => published.flat().map(({ jobId }) => jobId)

it('REAP-12 publishes what a sweep put back, once, with the time until it is due', async () => {
  const ids = await requeue(3)
  start()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(publishedIds().toSorted()).toEqual(ids)
  expect(published.flat()[0]).toMatchObject({ type: 'asr', queue: 'asr', runInMs: 30_000, attempt: 1 })
  expect(told).toEqual([{ name: 'dispatch:done', fields: { table: 'jobs', published: 3 } }])
  expect(await store.countDispatches()).toBe(0)
})

it('REAP-12 goes on from batch to batch until nothing is left', async () => {
  const ids = await requeue(250)
  start()
  await vi.advanceTimersByTimeAsync(0)
  expect(published.map((batch) => batch.length)).toEqual([100, 100, 50])
  expect(new Set(publishedIds())).toEqual(new Set(ids))
})

it('REAP-12 looks at every interval, and at once when it is woken', async () => {
  const woken = start()
  await vi.advanceTimersByTimeAsync(0)
  await requeue(1)
  woken.wake()
  await vi.advanceTimersByTimeAsync(0)
  expect(published).toHaveLength(1)
  await requeue(1)
  await vi.advanceTimersByTimeAsync(4_999)
  expect(published).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(published).toHaveLength(2)
})

it('REAP-12 a wake during a publish is not forgotten', async () => {
  await requeue(1)
  const slow = start(() => new Promise((resolve) => setTimeout(resolve, 1_000)), { batchSize: 1 })
  await vi.advanceTimersByTimeAsync(0)
  // Its look for more has not come yet; the one after it has nothing, but for the wake.
  slow.wake()
  const look = vi.spyOn(store, 'takeDispatches')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(look).toHaveBeenCalledTimes(2)
})

it('REAP-12 nothing is lost when publishing fails: it is tried again, later and later, until it works', async () => {
  const ids = await requeue(2)
  let isDown = true
  start(async () => {
    if (isDown) throw new Error('queue is down')
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(published).toEqual([])
  expect(told.at(-1)).toMatchObject({
    name: 'dispatch:failed',
    fields: { table: 'jobs', waiting: 2, error: { message: 'queue is down' } },
  })
  // At 0, 5, 10, 15, 25, 45 s: the waits of 1, 2, 4, 8, 16 s end at the next look.
  expect(told).toHaveLength(6)
  isDown = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect(publishedIds().toSorted()).toEqual(ids)
  expect(await store.countDispatches()).toBe(0)
})

it('REAP-12 a job that cannot be published does not hold back the others of its batch', async () => {
  const [bad, ...others] = await requeue(5)
  start(async (jobs) => {
    if (jobs.some(({ jobId }) => jobId === bad)) throw new Error('no such queue')
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(publishedIds().toSorted()).toEqual(others)
  expect(told.map(({ name }) => name)).toEqual(['dispatch:done', 'dispatch:failed'])
  expect(await store.countDispatches()).toBe(1)
})

it('REAP-12 a publish that hangs is given up with its lease, and made again under the same id', async () => {
  await requeue(1)
  const asked: string[] = []
  start(async ([job]) => {
    asked.push(job?.dispatchId ?? '')
    if (asked.length === 1) await new Promise(() => {})
  })
  await vi.advanceTimersByTimeAsync(40_000)
  expect(asked).toHaveLength(2)
  expect(new Set(asked).size).toBe(1)
  expect(told.map(({ name }) => name)).toEqual(['dispatch:failed', 'dispatch:done'])
  expect(await store.countDispatches()).toBe(0)
})

it('REAP-12 a store that is away is told of, and the next look comes', async () => {
  await requeue(1)
  vi.spyOn(store, 'takeDispatches').mockRejectedValueOnce(new Error('database is away'))
  start()
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toMatchObject([
    { name: 'dispatch:failed', fields: { error: { message: 'database is away' } } },
  ])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(published).toHaveLength(1)
})

it('REAP-12 WORK-4 a publish that hangs does not hold up a stop, and its job is published by the next', async () => {
  await requeue(1)
  const hanging = start(() => new Promise<void>(() => {}))
  await vi.advanceTimersByTimeAsync(100)
  const stopped = hanging.stop()
  await vi.advanceTimersByTimeAsync(2_000)
  await stopped
  expect(await store.countDispatches()).toBe(1)
})

it('REAP-12 never publishes twice at once, and stop waits for what is under way', async () => {
  await requeue(3)
  let running = 0
  let most = 0
  const slow = start(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      running--
    },
    { batchSize: 1 },
  )
  await vi.advanceTimersByTimeAsync(200)
  slow.wake()
  await vi.advanceTimersByTimeAsync(1_500)
  let isStopped = false
  const stopped = slow.stop().then(() => {
    isStopped = true
  })
  await vi.advanceTimersByTimeAsync(1_200)
  expect(isStopped).toBe(false)
  await vi.advanceTimersByTimeAsync(300)
  await stopped
  expect(most).toBe(1)
  // The third is left for whoever comes next.
  expect(published).toHaveLength(2)
  expect(await store.countDispatches()).toBe(1)
})
