// A worker: sweeps, claims what its handlers handle, runs it, and leaves cleanly. It never claims what it cannot keep alive.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RuntimeEventEmitter } from '../observe/events.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { JobStore } from '../store/job-store.ts'
import { createBatcher } from './batcher.ts'
import type { RegisteredHandler } from './handler.ts'
import type { Heartbeat } from './heartbeat.ts'
import { type RunnerTools, type RunningJob, startJob } from './job-runner.ts'
import { type Reaper, startReaper } from './reaper.ts'

export interface WorkerOptions<Tx = unknown> {
  store: JobStore<Tx>
  tableName: string
  workerId: string
  handlers: RegisteredHandler<Tx>[]
  heartbeat: Heartbeat
  events: RuntimeEventEmitter
  transaction: RunnerTools<Tx>['transaction']
  policy: PolicyOverride
  concurrency: number
  sweepIntervalMs: number
  /** After nothing was claimed, the next look comes after a random time between these. */
  pollMs: [least: number, most: number]
  /** How long running jobs may go on after `stop` before they are aborted and given back. */
  graceMs: number
  hangGraceMs: number
  txTimeoutMs: number
  /** How many hung handlers may stay behind before the process has to go. */
  leakBudget: number
  onHang: 'reopen' | 'exit'
}

export interface Worker {
  /** Stop claiming, finish what runs, give back what cannot finish in the grace. A second call does not wait for it. */
  stop(reason?: string): Promise<void>
  /** Settles when the worker has stopped: 0, or 1 where it had to stop because of a hang or a critical error. */
  ended: Promise<number>
  /** Jobs that run now. */
  running(): number
}

export function startWorker<Tx>(options: WorkerOptions<Tx>): Worker {
  const worker = new RunningWorker(options)
  return { stop: (reason) => worker.stop(reason), ended: worker.run(), running: () => worker.running }
}

class RunningWorker<Tx> {
  readonly #options: WorkerOptions<Tx>
  readonly #tools: RunnerTools<Tx>
  readonly #byType: Map<string, RegisteredHandler<Tx>>
  readonly #running = new Set<RunningJob>()
  readonly #stopping = new AbortController()
  readonly #leaving = new AbortController()
  #slotFreed = new AbortController()
  #leaked = 0
  #exitCode = 0

  constructor(options: WorkerOptions<Tx>) {
    const { store, policy, handlers } = options
    this.#options = options
    this.#byType = new Map(handlers.map((registered) => [registered.type, registered]))
    this.#tools = {
      ...options,
      completions: createBatcher((completions) => store.completeJobs(completions)),
      failures: createBatcher((failures) => store.failJobs(failures, { policy })),
    }
  }

  get running(): number {
    return this.#running.size
  }

  async run(): Promise<number> {
    const { events, workerId, concurrency } = this.#options
    const reaper = this.#startReaper()
    await reaper.firstSweep
    events.emit('worker:started', { workerId, types: [...this.#byType.keys()], concurrency })
    await this.#claimUntilStopped()
    await this.#drain()
    await reaper.stop()
    await this.#options.heartbeat.stop()
    events.emit('worker:stopped', { workerId, exitCode: this.#exitCode })
    return this.#exitCode
  }

  async stop(reason = 'stop was asked for'): Promise<void> {
    if (this.#stopping.signal.aborted) this.#leaving.abort()
    else {
      this.#options.events.emit('worker:draining', {
        workerId: this.#options.workerId,
        reason,
        running: this.#running.size,
      })
      this.#stopping.abort()
    }
    await Promise.all([...this.#running].map(({ ended }) => ended))
  }

  /** Sweeps once before the first claim (WORK-2), then at every interval beside the claims. */
  #startReaper(): Reaper & { firstSweep: Promise<void> } {
    const { store, tableName, sweepIntervalMs, policy, events } = this.#options
    let reaper: Reaper | undefined
    const firstSweep = new Promise<void>((resolve) => {
      reaper = startReaper({
        tables: [{ name: tableName, store }],
        intervalMs: sweepIntervalMs,
        policy,
        onSweep: (table, { requeuedIds, failedIds, held, durationMs }) => {
          resolve()
          events.emit('sweep:done', {
            table,
            requeued: requeuedIds.length,
            dead: failedIds.length,
            held,
            durationMs,
          })
        },
        onError: (table, error) => {
          resolve()
          events.emit('sweep:failed', { table, error })
        },
      })
    })
    return { firstSweep, stop: async () => reaper?.stop() }
  }

  async #claimUntilStopped(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const free = this.#options.concurrency - this.#running.size
      // A worker that cannot beat must not take on more (C6).
      if (free <= 0 || !this.#options.heartbeat.isHealthy()) await this.#untilSlotOr(this.#pause())
      else if ((await this.#claim(free)) === 0) await this.#untilSlotOr(this.#pause())
    }
  }

  async #claim(limit: number): Promise<number> {
    const { store, workerId, handlers, policy, events } = this.#options
    const queues = [...new Set(handlers.map(({ type, queue }) => queue ?? type))]
    try {
      const jobs = await store.claimJobs({ workerId, queues, types: [...this.#byType.keys()], limit, policy })
      for (const job of jobs) this.#start(job)
      return jobs.length
    } catch (error) {
      events.emit('claim:failed', { error })
      return 0
    }
  }

  #start(job: RunningJob['job']): void {
    const registered = this.#byType.get(job.type)
    if (registered === undefined)
      throw new Error(`a job of type ${job.type} was claimed and nobody handles it`)
    const running = startJob(job, registered, this.#tools)
    this.#running.add(running)
    void running.ended.then(({ isLeaked, isCritical }) => {
      this.#running.delete(running)
      this.#slotFreed.abort()
      if (isLeaked) this.#noteLeak(running)
      if (isCritical) this.#leave('a critical error')
    })
  }

  /** A hung handler keeps its memory: its slot is reopened, but only so many times. */
  #noteLeak({ job }: RunningJob): void {
    if (this.#stopping.signal.aborted) return
    const { leakBudget, onHang, events } = this.#options
    this.#leaked++
    events.emit('job:hung', { job, leaked: this.#leaked, leakBudget })
    if (onHang === 'exit' || this.#leaked > leakBudget) this.#leave('handlers hang')
  }

  #leave(reason: string): void {
    this.#exitCode = 1
    if (!this.#stopping.signal.aborted) void this.stop(reason)
  }

  /** Running jobs get the grace; then they are aborted, and given back without an attempt spent. */
  async #drain(): Promise<void> {
    const ended = Promise.all([...this.#running].map((running) => running.ended))
    const grace = sleep(this.#options.graceMs, undefined, { signal: this.#leaving.signal }).catch(() => {})
    await Promise.race([ended, grace])
    const left = [...this.#running]
    for (const running of left) running.abort('shutdown')
    this.#leaving.signal.addEventListener('abort', () => left.forEach((running) => running.giveUp()))
    if (this.#leaving.signal.aborted) left.forEach((running) => running.giveUp())
    await ended
    await Promise.all([this.#tools.completions.idle(), this.#tools.failures.idle()])
  }

  #pause(): number {
    const [least, most] = this.#options.pollMs
    return least + Math.random() * (most - least)
  }

  async #untilSlotOr(ms: number): Promise<void> {
    this.#slotFreed = new AbortController()
    const signal = AbortSignal.any([this.#slotFreed.signal, this.#stopping.signal])
    await sleep(ms, undefined, { signal }).catch(() => {})
  }
}
