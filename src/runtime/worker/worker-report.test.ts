import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { RuntimeEventEmitter } from '../../observe/events.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { startWorkerReport, type WorkerReporter, type WorkerReportOptions } from './worker-report.ts'

let store: ReturnType<typeof createMemoryStore>
let events: RuntimeEventEmitter
let running: number
let drains: number

beforeEach(() => {
  vi.useFakeTimers()
  store = createMemoryStore()
  events = new RuntimeEventEmitter()
  running = 0
  drains = 0
})
afterEach(() => {
  vi.useRealTimers()
})

function start(options: Partial<WorkerReportOptions> = {}): WorkerReporter {
  const reporter = startWorkerReport({
    store,
    events,
    running: () => running,
    onDrain: () => drains++,
    version: '1.2.3',
    appVersion: '2026.11.1',
    sweepIntervalMs: 60_000,
    ...options,
  })
  onTestFinished(() => reporter.stop())
  return reporter
}

const started = () => events.emit('worker:started', { workerId: 'worker-1', types: ['asr'], concurrency: 4 })
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

it('SEE-5 a worker is told of when it starts, and again at every interval with what it runs', async () => {
  start()
  expect(await store.listWorkers()).toEqual([])
  started()
  await settle()
  expect(await store.listWorkers()).toMatchObject([
    {
      workerId: 'worker-1',
      state: 'live',
      types: ['asr'],
      concurrency: 4,
      running: 0,
      version: '1.2.3',
      appVersion: '2026.11.1',
    },
  ])
  await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }, { type: 'asr' }])
  await store.claimJobs({ workerId: 'worker-1', queues: ['asr'], limit: 3 })
  running = 3
  events.emit('loop:lagged', { lagMs: 70 })
  await settle(15_000)
  expect(await store.listWorkers()).toMatchObject([
    { running: 3, loopLagMs: 70, pid: process.pid, seenMs: 0 },
  ])
})

it('WORK-4 its drain and its end are told at once, with the exit code', async () => {
  const reporter = start()
  started()
  await settle()
  events.emit('worker:draining', { workerId: 'worker-1', reason: 'SIGTERM', running: 1 })
  await settle()
  expect(await store.listWorkers()).toMatchObject([{ state: 'draining' }])
  events.emit('worker:stopped', { workerId: 'worker-1', exitCode: 1 })
  await reporter.stop()
  expect(await store.listWorkers()).toMatchObject([{ state: 'stopped', exitCode: 1 }])
})

it('WORK-4 a drain that somebody asked for is passed on once', async () => {
  start()
  started()
  await settle()
  await store.drainWorker('worker-1', { actor: 'ana' })
  await settle(15_000)
  await settle(15_000)
  expect(drains).toBe(1)
})

it('WORK-4 a report that fails is an event and nothing else; the next one is the first again', async () => {
  let isAway = true
  const failures: unknown[] = []
  events.on('worker:unreported', ({ error }) => failures.push(error))
  await store.reportWorker({
    workerId: 'worker-1',
    phase: 'running',
    types: [],
    concurrency: 1,
    running: 0,
    reportMs: 1,
  })
  await store.drainWorker('worker-1')
  start({
    store: {
      reportWorker: (report) =>
        isAway ? Promise.reject(new Error('the database is away')) : store.reportWorker(report),
    },
  })
  started()
  await settle()
  expect(failures).toHaveLength(1)
  isAway = false
  await settle(15_000)
  expect(await store.listWorkers()).toMatchObject([{ state: 'live', drainRequestedAt: null }])
  expect(drains).toBe(0)
})

it('WORK-4 a store that does not answer does not hold up the end of the worker', async () => {
  const reporter = start({ store: { reportWorker: () => new Promise(() => {}) } })
  started()
  await settle()
  const stopped = reporter.stop()
  await settle(2_000)
  await stopped
})
