// A worker: sweeps, claims what its handlers handle, runs it, and leaves cleanly. It never claims what it cannot keep alive.
import type { ClaimedJob } from '../job/lease.ts'
import type { RuntimeEventEmitter } from '../observe/events.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { JobStore, ReleaseOptions } from '../store/job-store.ts'
import { createBatcher } from './batcher.ts'
import { type BreakerWatch, type WatchedDependency, watchBreakers } from './breaker-watch.ts'
import { DependencyCalls } from './dependency-calls.ts'
import type { RegisteredHandler } from './handler.ts'
import type { Heartbeat } from './heartbeat.ts'
import { type RunnerTools, type RunningJob, startJob } from './job-runner.ts'
import { type Reaper, startReaper } from './reaper.ts'
import type { SweepReport } from './run-sweep.ts'
import { TokenLimiter } from './token-limiter.ts'
import { untilKnown } from './until-known.ts'
import { wait } from './wait.ts'

export interface WorkerOptions<Tx = unknown> {
  store: JobStore<Tx>
  tableName: string
  workerId: string
  handlers: RegisteredHandler<Tx>[]
  heartbeat: Heartbeat
  events: RuntimeEventEmitter
  transaction: RunnerTools<Tx>['transaction']
  gateway: RunnerTools<Tx>['gateway']
  tracing: RunnerTools<Tx>['tracing']
  /** Whose breakers are watched and, where they have a probe, probed. */
  dependencies: WatchedDependency[]
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
  /** There may be new work: look now instead of at the end of the pause. */
  wake(): void
  /** What an operator should know; none where all is well. */
  problems(): string[]
}

export function startWorker<Tx>(options: WorkerOptions<Tx>): Worker {
  const worker = new RunningWorker(options)
  return {
    stop: (reason) => worker.stop(reason),
    ended: worker.run(),
    running: () => worker.running,
    wake: () => worker.wake(),
    problems: () => worker.problems(),
  }
}

class RunningWorker<Tx> {
  readonly #options: WorkerOptions<Tx>
  readonly #tools: RunnerTools<Tx>
  readonly #byType: Map<string, RegisteredHandler<Tx>>
  readonly #running = new Set<RunningJob>()
  readonly #stopping = new AbortController()
  readonly #leaving = new AbortController()
  readonly #limiter: TokenLimiter
  readonly #dependencyCalls: DependencyCalls
  #mayGoOn = new AbortController()
  #isHinted = false
  #claims = 0
  #leaked = 0
  #exitCode = 0

  constructor(options: WorkerOptions<Tx>) {
    const { store, policy, handlers, events } = options
    this.#options = options
    this.#byType = new Map(handlers.map((registered) => [registered.type, registered]))
    this.#limiter = new TokenLimiter(store, (type) => this.#byType.get(type)?.limits ?? [])
    this.#dependencyCalls = new DependencyCalls(store, events)
    this.#tools = {
      ...options,
      dependencyCalls: this.#dependencyCalls,
      completions: createBatcher((completions) => store.completeJobs(completions)),
      failures: createBatcher((failures) => store.failJobs(failures, { policy })),
    }
  }

  get running(): number {
    return this.#running.size
  }

  wake(): void {
    this.#isHinted = true
    this.#mayGoOn.abort()
  }

  problems(): string[] {
    const problems = []
    if (this.#leaked > 0) problems.push(`${this.#leaked} hung handlers still hold memory`)
    if (!this.#options.heartbeat.isHealthy()) problems.push('heartbeats fail: no more jobs are claimed')
    if (this.#stopping.signal.aborted) problems.push('the worker is leaving')
    return problems
  }

  async run(): Promise<number> {
    const { events, workerId, concurrency } = this.#options
    const reaper = this.#startReaper()
    await this.#unlessStopped(Promise.all([reaper.firstSweep, this.#options.heartbeat.ready]))
    const watch = this.#watchBreakers()
    events.emit('worker:started', { workerId, types: [...this.#byType.keys()], concurrency })
    await this.#claimUntilStopped()
    await this.#drain()
    await Promise.all([reaper.stop(), watch.stop(), this.#dependencyCalls.idle()])
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
        onSweep: (table, report) => {
          resolve()
          tellSweep(events, table, report)
        },
        onError: (table, error) => {
          resolve()
          events.emit('sweep:failed', { table, error })
        },
      })
    })
    return { firstSweep, stop: async () => reaper?.stop() }
  }

  async #unlessStopped(begun: Promise<unknown>): Promise<void> {
    const stopped = new Promise((resolve) => this.#stopping.signal.addEventListener('abort', resolve))
    await Promise.race([begun, stopped])
  }

  #watchBreakers(): BreakerWatch {
    const { store, dependencies, events } = this.#options
    return watchBreakers({ store, dependencies, events, calls: this.#dependencyCalls })
  }

  async #claimUntilStopped(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const free = this.#options.concurrency - this.#running.size
      this.#isHinted = false
      // A worker that cannot beat must not take on more (C6).
      const isAble = free > 0 && this.#options.heartbeat.isHealthy()
      if (!isAble || (await this.#claim(free)) === 0) await this.#pause()
    }
  }

  /** Types under a limit are claimed by themselves, as many as there may be tokens for; the others together. */
  async #claim(free: number): Promise<number> {
    const types = [...this.#byType.keys()]
    const limited = types.filter((type) => this.#limiter.allowance(type).jobs !== Number.POSITIVE_INFINITY)
    const unlimited = types.filter((type) => !limited.includes(type))
    const groups = [...limited.map((type) => [type]), ...(unlimited.length === 0 ? [] : [unlimited])]
    let left = free
    for (let index = 0; index < groups.length && left > 0; index++) {
      // Another one comes first each time, so that a long queue does not keep the slots from the others.
      const group = groups[(index + this.#claims) % groups.length] ?? []
      const allowance = Math.min(...group.map((type) => this.#limiter.allowance(type).jobs))
      if (allowance > 0) left -= await this.#claimTypes(group, Math.min(left, allowance))
    }
    this.#claims++
    return free - left
  }

  async #claimTypes(types: string[], limit: number): Promise<number> {
    const { store, workerId, policy, events } = this.#options
    const queues = [...new Set(types.map((type) => this.#byType.get(type)?.queue ?? type))]
    try {
      const jobs = await store.claimJobs({ workerId, queues, types, limit, policy })
      if (jobs.length > 0) await this.#admit(jobs)
      return jobs.length
    } catch (error) {
      events.emit('claim:failed', { error })
      return 0
    }
  }

  /** What may not start now goes back at once: without an attempt, and with a time to come again. */
  async #admit(jobs: ClaimedJob[]): Promise<void> {
    if (this.#stopping.signal.aborted) return this.#giveBack(jobs, { cause: 'interruption' })
    try {
      const { admitted, parked } = await this.#limiter.admit(jobs)
      for (const job of admitted) this.#start(job)
      for (const { jobs: refused, key, delayMs, spreadMs } of parked) {
        await this.#giveBack(refused, { delayMs, spreadMs })
        this.#options.events.emit('limit:reached', { key, released: refused.length, waitMs: delayMs })
      }
    } catch (error) {
      const started = new Set([...this.#running].map(({ job }) => job))
      await this.#giveBack(
        jobs.filter((job) => !started.has(job)),
        {},
      )
      throw error
    }
  }

  async #giveBack(jobs: ClaimedJob[], options: ReleaseOptions<Tx>): Promise<void> {
    const endsAtMs = performance.now() + Math.min(...jobs.map(({ leaseMs }) => leaseMs))
    // Not beaten for, so the lease is a limit.
    await untilKnown(
      () => this.#options.store.releaseJobs(jobs, options),
      () => performance.now() > endsAtMs,
    )
  }

  #start(job: RunningJob['job']): void {
    const registered = this.#byType.get(job.type)
    if (registered === undefined)
      throw new Error(`a job of type ${job.type} was claimed and nobody handles it`)
    const running = startJob(job, registered, this.#tools)
    this.#running.add(running)
    void running.ended.then(({ isLeaked, isCritical }) => {
      this.#running.delete(running)
      this.#mayGoOn.abort()
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
    const allEnded = new AbortController()
    const signal = AbortSignal.any([this.#leaving.signal, allEnded.signal])
    await Promise.race([ended, wait(this.#options.graceMs, signal)])
    // A timer that is left behind would keep the process.
    allEnded.abort()
    const left = [...this.#running]
    for (const running of left) running.abort('shutdown')
    this.#leaving.signal.addEventListener('abort', () => left.forEach((running) => running.giveUp()))
    if (this.#leaving.signal.aborted) left.forEach((running) => running.giveUp())
    await ended
    await Promise.all([this.#tools.completions.idle(), this.#tools.failures.idle()])
  }

  /** Until a slot is free, a hint comes, a token is back, or the poll is due. */
  async #pause(): Promise<void> {
    this.#mayGoOn = new AbortController()
    if (this.#isHinted) return
    const [least, most] = this.#options.pollMs
    const waitsMs = [...this.#byType.keys()].map((type) => this.#limiter.allowance(type).retryInMs)
    const ms = Math.min(least + Math.random() * (most - least), ...waitsMs.filter((waitMs) => waitMs > 0))
    const signal = AbortSignal.any([this.#mayGoOn.signal, this.#stopping.signal])
    await wait(ms, signal)
  }
}

function tellSweep(events: RuntimeEventEmitter, table: string, report: SweepReport): void {
  const { reaped, requeuedIds, failedIds, held, durationMs } = report
  for (const job of reaped) events.emit('job:reaped', { table, ...job })
  const counts = { requeued: requeuedIds.length, dead: failedIds.length, held }
  events.emit('sweep:done', { table, ...counts, durationMs })
}
