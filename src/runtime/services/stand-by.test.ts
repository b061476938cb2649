import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { RuntimeEventEmitter, type RuntimeEvents } from '../../observe/events.ts'
import type { JobStore } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { startDispatcher } from '../dispatch/dispatcher.ts'
import { OperationRunner } from '../operations/operation-runner.ts'
import { startPruner } from './pruner.ts'
import { startScheduler } from './scheduler.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

let events: RuntimeEventEmitter
let told: RuntimeEvents['service:standing-by'][]
let failures: unknown[]

function hear(emitter: RuntimeEventEmitter): void {
  events = emitter
  told = []
  failures = []
  events.on('service:standing-by', (fields) => told.push(fields))
  for (const name of ['claim:failed', 'schedule:failed', 'dispatch:failed', 'prune:failed'] as const)
    events.on(name, ({ error }) => failures.push(error))
}

/** The store, and how often a verb of it was called. */
function counting(store: JobStore, verb: keyof JobStore): { store: JobStore; calls: () => number } {
  let calls = 0
  const counted = new Proxy(store, {
    get(target, name, receiver) {
      if (name === verb) calls++
      return Reflect.get(target, name, receiver) as unknown
    },
  })
  return { store: counted, calls: () => calls }
}

describe('a worker on a table in mode observe', () => {
  let bench: MemoryWorkerBench
  beforeEach(() => {
    bench = new MemoryWorkerBench()
    hear(bench.events)
  })
  afterEach(() => bench.stop())

  it('OPS-14 says so once, asks for no job, and claims when the mode is left', async () => {
    await bench.store.enqueueJobs([{ type: 'asr' }])
    await bench.store.setMode('observe')
    const claims = counting(bench.store, 'claimJobs')
    const modes = counting(claims.store, 'readMode')
    const ran: string[] = []
    bench.work(async ({ jobId }) => void ran.push(jobId), { over: modes.store })
    await vi.waitFor(() => expect(modes.calls()).toBeGreaterThan(5), { timeout: 30_000 })
    expect({ ran, claims: claims.calls(), failures }).toEqual({ ran: [], claims: 1, failures: [] })
    expect(told).toMatchObject([{ service: 'claims', error: { code: 'WRONG_MODE' } }])
    await bench.store.setMode('reap')
    await vi.waitFor(() => expect(ran).toHaveLength(1), { timeout: 30_000 })
    await bench.store.setMode('observe')
    await vi.waitFor(() => expect(told).toHaveLength(2), { timeout: 30_000 })
  })
})

describe('a service on a table in mode observe', () => {
  let store: MemoryJobStore
  let service: { stop(): Promise<void> }
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:30:00Z') })
    store = createMemoryStore({ policy: { dispatch: 'requeued', retentionDays: 14 } })
    hear(new RuntimeEventEmitter())
  })
  afterEach(async () => {
    await service.stop()
    vi.useRealTimers()
  })

  it('OPS-14 schedules wait, and make up for what was due with one job', async () => {
    await store.setMode('observe')
    const runs = counting(store, 'runSchedule')
    const hourly = { name: 'hourly', cron: '0 * * * *', job: { type: 'report' } }
    service = startScheduler({ store: runs.store, schedules: [hourly], events })
    await vi.advanceTimersByTimeAsync(180 * MINUTE)
    expect({ runs: runs.calls(), failures }).toEqual({ runs: 1, failures: [] })
    expect(told).toMatchObject([{ service: 'schedules' }])
    await store.setMode('reap')
    await vi.advanceTimersByTimeAsync(2 * MINUTE)
    expect((await store.listJobs()).jobs).toMatchObject([{ type: 'report' }])
  })

  it('OPS-14 nothing is dispatched until the mode is left', async () => {
    const id = store.plantJob({ type: 'asr', status: 'dead' })
    await store.retryJobs([id])
    await store.setMode('observe')
    const published: string[] = []
    const publish = async (jobs: { jobId: string }[]) => void published.push(...jobs.map((job) => job.jobId))
    service = startDispatcher({ table: 'jobs', store, adapter: { publish }, events })
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect({ published, failures }).toEqual({ published: [], failures: [] })
    expect(told).toMatchObject([{ service: 'dispatch' }])
    await store.setMode('reap')
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(published).toEqual([id])
  })

  it('OPS-14 nothing is deleted until the mode is left', async () => {
    const finishedAt = new Date(Date.now() - 20 * DAY)
    const id = store.plantJob({ type: 'asr', status: 'dead', finishedAt })
    await store.setMode('observe')
    service = startPruner({ tables: [{ name: 'jobs', store }], events, intervalMs: 10 * MINUTE })
    await vi.advanceTimersByTimeAsync(60 * MINUTE)
    expect(failures).toEqual([])
    expect(told).toMatchObject([{ service: 'retention' }])
    expect(await store.getJob(id)).not.toBeNull()
    await store.setMode('reap')
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(await store.getJob(id)).toBeNull()
  })

  it('OPS-14 an operation that was begun before does not fail, and is done when the mode is left', async () => {
    const id = store.plantJob({ type: 'asr', status: 'dead' })
    const begun = await store.beginOperation({ action: 'retry', filter: {}, q: 'all' })
    if (begun.outcome !== 'begun') throw new Error(begun.outcome)
    const runner = new OperationRunner({ tables: [{ store }], leaseMs: MINUTE })
    service = runner
    // Taken in mode reap, stepped in mode observe.
    const take = vi.spyOn(store, 'takeOperation').mockImplementationOnce(async (request) => {
      take.mockRestore()
      const held = await store.takeOperation(request)
      await store.setMode('observe')
      return held
    })
    runner.wake()
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(await store.getJob(id)).toMatchObject({ status: 'dead' })
    expect(await store.readOperation(begun.operation.id)).toMatchObject({ state: 'running', changed: 0 })
    await store.setMode('reap')
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(await store.readOperation(begun.operation.id)).toMatchObject({ state: 'done', changed: 1 })
  })
})
