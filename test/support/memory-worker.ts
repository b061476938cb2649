// A worker over the memory store, and what tests of the runtime ask of it.
import { expect, vi } from 'vitest'
import type { Job } from '../../src/job/job.ts'
import { RuntimeEventEmitter, type RuntimeEvents } from '../../src/observe/events.ts'
import type { Handler, HandlerOptions } from '../../src/runtime/attempt/handler.ts'
import { startMainHeartbeat } from '../../src/runtime/heartbeat/heartbeat.ts'
import { startWorker, type Worker, type WorkerOptions } from '../../src/runtime/worker/worker.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'

export interface WorkOptions
  extends Partial<
    Pick<
      WorkerOptions,
      | 'concurrency'
      | 'dependencies'
      | 'graceMs'
      | 'hintedPollMs'
      | 'policy'
      | 'pollMs'
      | 'sweepIntervalMs'
      | 'workerId'
    >
  > {
  options?: HandlerOptions
  /** Instead of the bench's own store. */
  over?: JobStore
}

export class MemoryWorkerBench {
  readonly store = createMemoryStore({
    policy: {
      defaultLeaseMs: 500,
      failureBackoffStepsMs: [0],
      failureBackoffJitterMs: 0,
      reapBackoffStepsMs: [0],
      requeueRatePerS: 0,
    },
  })
  readonly events = new RuntimeEventEmitter()
  readonly #workers: Worker[] = []

  work(handler: Handler, { options = {}, over = this.store, ...others }: WorkOptions = {}): Worker {
    const { events } = this
    const heartbeat = startMainHeartbeat({
      store: over,
      intervalMs: 50,
      policy: {},
      events: {
        onBeat: (leases) => events.emit('heartbeat:sent', { leases }),
        onFailed: (error, failingForMs) => events.emit('heartbeat:failed', { error, failingForMs }),
        onRecovered: (failedForMs) => events.emit('heartbeat:recovered', { failedForMs }),
        onLag: () => {},
      },
    })
    const worker = startWorker({
      store: over,
      tableName: 'jobs',
      workerId: 'worker-1',
      handlers: [{ type: 'asr', handler, ...options }],
      heartbeat,
      events,
      transaction: <T>() => Promise.reject<T>(new Error('this store has no transactions')),
      policy: {},
      gateway: { timeoutMs: 1_000 },
      tracing: null,
      dependencies: [],
      concurrency: 4,
      sweepIntervalMs: 100,
      pollMs: [10, 20],
      graceMs: 200,
      hangGraceMs: 100,
      txTimeoutMs: 1_000,
      leakBudget: 2,
      onHang: 'reopen',
      ...others,
    })
    this.#workers.push(worker)
    return worker
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#workers.map(async (worker) => {
        await worker.stop()
        await worker.ended
      }),
    )
  }

  async enqueue(count = 1, owner?: string): Promise<string[]> {
    const one = owner === undefined ? { type: 'asr' } : { type: 'asr', owner }
    const jobs = await this.store.enqueueJobs(Array.from({ length: count }, () => one))
    return jobs.map(({ jobId }) => jobId)
  }

  job(jobId = ''): Promise<Job | null> {
    return this.store.getJob(jobId)
  }

  untilStatus(jobId: string | undefined, status: Job['status']): Promise<void> {
    const look = async () => expect((await this.job(jobId))?.status).toBe(status)
    return vi.waitFor(look, { timeout: 30_000, interval: 10 })
  }

  once<Name extends keyof RuntimeEvents>(name: Name): Promise<RuntimeEvents[Name]> {
    return new Promise((resolve) => {
      const off = this.events.on(name, (fields) => {
        off()
        resolve(fields)
      })
    })
  }

  /** The real store, with one verb answered otherwise. */
  withVerb<Verb extends Exclude<keyof JobStore, 'lacks' | 'shards' | 'beginWaits' | 'endWaits'>>(
    verb: Verb,
    answer: (real: JobStore[Verb]) => JobStore[Verb],
  ): JobStore {
    const { store } = this
    const replaced = answer(store[verb].bind(store) as JobStore[Verb])
    return new Proxy(store, {
      get: (target, name, receiver) =>
        name === verb ? replaced : (Reflect.get(target, name, receiver) as unknown),
    })
  }
}
