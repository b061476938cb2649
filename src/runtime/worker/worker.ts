// A worker: sweeps, claims jobs of the types it handles, runs them, and leaves cleanly. It never claims a job whose lease it
// could not extend.
import { isUnstuckError } from '../../errors/index.ts'
import { attemptBatchers } from '../attempt/attempt-batchers.ts'
import type { AttemptDependencies, AttemptEnded, RunningAttempt } from '../attempt/attempt-dependencies.ts'
import { ClockWatch } from '../attempt/clock-watch.ts'
import { Attempt } from '../attempt/job-runner.ts'
import { Claimer } from '../claim/claimer.ts'
import { HintedWakes } from '../claim/hinted-wakes.ts'
import { type BreakerWatch, watchBreakers } from '../limits/breaker-watch.ts'
import { DependencyCalls } from '../limits/dependency-calls.ts'
import { emitSweep } from '../services/emit-sweep.ts'
import { type Reaper, type ReaperTable, startReaper } from '../services/reaper.ts'
import { wait, within } from '../timing/wait.ts'
import type { Worker, WorkerOptions } from './worker-options.ts'
import type { ReportNews } from './worker-report.ts'

export type { Worker, WorkerOptions } from './worker-options.ts'

export function startWorker<Tx>(options: WorkerOptions<Tx>): Worker {
  const worker = new RunningWorker(options)
  const ended = worker.run()
  return {
    async stop(reason) {
      worker.stop(reason)
      await ended
    },
    leaveNow: () => worker.leaveNow(),
    ended,
    running: () => worker.running,
    wake: (hint) => worker.hints.hear(hint),
    hearCancels: (leaseNumbers) => options.heartbeat.hearCancels(leaseNumbers),
    trustHints: (isTrusted) => worker.trustHints(isTrusted),
    noteReport: (news, shard) => worker.noteReport(news, shard),
    problems: () => worker.problems(),
  }
}

/** No job starts while more results than this are unwritten. */
const MAX_UNWRITTEN = 2_000
/** Time for the last writes after the grace: a database that does not answer must not hold up a deploy. */
const LAST_WRITES_MS = 8_000
/** The same after `leaveNow`. */
const LAST_WRITES_NOW_MS = 3_000
/** An answered heartbeat thread ends sooner; another one ends by the timeouts of its calls. */
const LAST_BEAT_MS = 2_000

class RunningWorker<Tx> {
  readonly #options: WorkerOptions<Tx>
  readonly #deps: AttemptDependencies<Tx>
  readonly #claimer: Claimer<Tx>
  readonly hints: HintedWakes
  /** By shard; a single database has one. */
  readonly #reapers = new Map<number | undefined, Reaper>()
  readonly #dependencyCalls: DependencyCalls
  /** Attempts whose outcome is not written yet; `#handling` counts those whose handler still runs. */
  readonly #running = new Set<RunningAttempt>()
  #onNoneRuns: (() => void) | undefined
  #handling = 0
  /** Runs without others beside it: its next crash is its last, and must not count against other jobs. */
  #alone: RunningAttempt | undefined
  readonly #stopping = new AbortController()
  readonly #leaving = new AbortController()
  readonly #clockWatch = new ClockWatch(this.#running)
  #leaked = 0
  /** Set if the last sweep was refused for a missing permission. */
  #sweepRefusal: string | undefined
  #exitCode = 0
  #areHintsTrusted = false

  constructor(options: WorkerOptions<Tx>) {
    const { store, policy, events } = options
    this.#options = options
    this.#dependencyCalls = new DependencyCalls(store, events)
    this.#claimer = new Claimer({
      areHintsTrusted: () => this.#areHintsTrusted,
      freeSlots: () => this.#freeSlots,
      canClaim: () => this.#canClaim,
      startWaiting: () => this.#startWaiting(),
      stopping: this.#stopping.signal,
      leaving: this.#leaving.signal,
      ...options,
      // No hint says that another worker has freed a place.
      pollMs: (isHeldBack) =>
        (this.#areHintsTrusted && !isHeldBack ? options.hintedPollMs : undefined) ?? options.pollMs,
    })
    this.hints = new HintedWakes({
      workerId: options.workerId,
      queues: options.handlers.map(({ type, queue = type }) => queue),
      claim: () => this.#claimer.wakeForHint(),
      hasFreeSlot: () => this.#canClaim && this.#freeSlots > 0,
      hasDueJobs: (queues) => store.hasDueJobs(queues),
    })
    this.#deps = {
      slots: {
        onReturned: (attempt) => this.#freeSlot(attempt),
        onEnded: (attempt, ended) => this.#noteEnd(attempt, ended),
      },
      clockWatch: this.#clockWatch,
      dependencyCalls: this.#dependencyCalls,
      ...attemptBatchers(store, policy, () => this.#claimer.gatherResults()),
      ...options,
    }
  }

  get running(): number {
    return this.#running.size
  }

  trustHints(isTrusted: boolean): void {
    this.#areHintsTrusted = isTrusted
    if (!isTrusted) this.#claimer.wake() // Ends a long pause.
  }

  noteReport(news: ReportNews | undefined, shard?: number): void {
    this.#reapers.get(shard)?.note(news)
    if (news !== undefined) this.hints.meet(news.hintedWorkers)
  }

  problems(): string[] {
    const problems = []
    if (this.#leaked > 0) problems.push(`${this.#leaked} hung handlers still hold memory`)
    if (!this.#options.heartbeat.isHealthy()) problems.push('heartbeats fail: no more jobs are claimed')
    if (this.#sweepRefusal !== undefined) problems.push(`sweeps are refused: ${this.#sweepRefusal}`)
    if (this.#stopping.signal.aborted) problems.push('the worker is leaving')
    return problems
  }

  async run(): Promise<number> {
    const { events, workerId, concurrency, handlers, heartbeat } = this.#options
    const firstSweep = this.#startReapers()
    const stopped = untilAborted(this.#stopping.signal)
    void heartbeat.died.then((error) => this.#leave(error.message))
    await Promise.race([stopped, Promise.all([firstSweep, heartbeat.ready])])
    const watch = this.#watchBreakers()
    events.emit('worker:started', { workerId, types: handlers.map(({ type }) => type), concurrency })
    // A claim that hangs must not delay the grace: jobs it brings after the stop are released.
    const claiming = this.#claimer.run()
    await stopped
    this.hints.clear()
    const ended = new AbortController()
    const givenUp = this.#untilGivenUp(ended.signal)
    await Promise.race([this.#drain(claiming), givenUp])
    await Promise.race([Promise.all([this.#stopReapers(), watch.stop()]), givenUp])
    ended.abort()
    await within(LAST_BEAT_MS, heartbeat.stop())
    this.#clockWatch.stop()
    events.emit('worker:stopped', { workerId, exitCode: this.#exitCode })
    return this.#exitCode
  }

  stop(reason = 'stop was requested'): void {
    if (this.#stopping.signal.aborted) return
    const { events, workerId } = this.#options
    events.emit('worker:draining', { workerId, reason, running: this.#running.size })
    this.#stopping.abort()
    this.#claimer.wake()
    for (const { batches } of this.#options.handlers) batches?.begin()
  }

  leaveNow(): void {
    this.stop()
    this.#leaving.abort()
  }

  /** Sweeps once before the first claim (WORK-2), then at every interval. A shard that is down delays no sweep of the others. */
  async #startReapers(): Promise<void> {
    const { store, tableName, heartbeat, presenceOf } = this.#options
    if (store.shards === undefined)
      return this.#startReaper({ name: tableName, store, presence: heartbeat.presence })
    await Promise.race(
      store.shards.all.map(({ number, store: own }) =>
        this.#startReaper(
          { name: `${tableName}:${number}`, store: own, ...(presenceOf && { presence: presenceOf(number) }) },
          number,
        ),
      ),
    )
  }

  #startReaper(reaped: ReaperTable, shard?: number): Promise<void> {
    const { sweepIntervalMs, policy, events } = this.#options
    return new Promise<void>((resolve) => {
      const reaper = startReaper({
        tables: [reaped],
        intervalMs: sweepIntervalMs,
        policy,
        onSweep: (table, report) => {
          this.#sweepRefusal = undefined
          resolve()
          emitSweep(events, table, report)
        },
        onError: (table, error) => {
          this.#sweepRefusal = isUnstuckError(error, 'PERMISSION_DENIED') ? error.message : undefined
          resolve()
          events.emit('sweep:failed', { table, error })
        },
        onUncounted: (table, error) => events.emit('trends:failed', { table, error }),
      })
      this.#reapers.set(shard, reaper)
    })
  }

  async #stopReapers(): Promise<void> {
    await Promise.all(Array.from(this.#reapers.values(), (reaper) => reaper.stop()))
  }

  #watchBreakers(): BreakerWatch {
    const { store, dependencies, events } = this.#options
    return watchBreakers({ store, dependencies, events, calls: this.#dependencyCalls })
  }

  /** A worker whose heartbeats fail must not claim (C6). */
  get #canClaim(): boolean {
    return this.#options.heartbeat.isHealthy() && this.#alone === undefined
  }

  get #freeSlots(): number {
    return this.#isBehind || this.#alone !== undefined ? 0 : this.#options.concurrency - this.#handling
  }

  /** The database does not keep up with the results. */
  get #isBehind(): boolean {
    return this.#running.size - this.#handling > MAX_UNWRITTEN
  }

  #startWaiting(): void {
    if (this.#stopping.signal.aborted) return
    while (this.#freeSlots > 0) {
      const next = this.#claimer.take(this.#running.size === 0)
      if (next === undefined) return
      this.#run(new Attempt(next, this.#deps))
    }
  }

  #run(attempt: Attempt<Tx>): void {
    this.#handling++
    this.#claimer.noteStart()
    attempt.isHandling = true
    this.#running.add(attempt)
    if (attempt.job.runsAlone) this.#alone = attempt
    this.#clockWatch.add(attempt)
    attempt.start()
  }

  /**
   * A result is written while the slot runs the next job: a slot that waited for it would run one job per round trip. A
   * failure is written first: it may be critical, or open the breaker of the jobs that come next.
   */
  #freeSlot(attempt: RunningAttempt): void {
    if (!attempt.isHandling) return
    attempt.isHandling = false
    this.#handling--
    this.#claimer.noteEnd(attempt.job.type)
    this.#startWaiting()
    this.#claimer.wakeIfLow(this.#handling === 0, attempt.job.queue)
  }

  #noteEnd(attempt: RunningAttempt, { isCritical, leftBehind }: AttemptEnded): void {
    const [wasBehind, wasAlone] = [this.#isBehind, this.#alone === attempt]
    this.#running.delete(attempt)
    if (wasAlone) this.#alone = undefined
    if (isCritical) this.#leave('a critical error')
    this.#freeSlot(attempt)
    this.#startWaiting()
    this.#claimer.noteWritten(attempt.job.queue)
    if (wasBehind || wasAlone) this.#claimer.wake()
    if (leftBehind !== null) this.#noteLeak(attempt, leftBehind)
    if (this.#running.size === 0) this.#onNoneRuns?.()
  }

  #untilNoneRuns(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onNoneRuns = resolve
    })
  }

  /** A hung handler keeps its memory: its slot is reopened, up to `leakBudget` of them at a time. */
  #noteLeak({ job }: RunningAttempt, leftBehind: Promise<unknown>): void {
    if (this.#stopping.signal.aborted) return
    const { leakBudget, onHang, events } = this.#options
    this.#leaked++
    void leftBehind.then(() => this.#leaked--)
    events.emit('job:hung', { job, leaked: this.#leaked, leakBudget })
    if (onHang === 'exit' || this.#leaked > leakBudget) this.#leave('handlers hang')
  }

  #leave(reason: string): void {
    this.#exitCode = 1
    this.stop(reason)
  }

  /** Running jobs get the grace period; then they are aborted, and released without an attempt spent. */
  async #drain(claiming: Promise<void>): Promise<void> {
    const { graceMs, hangGraceMs } = this.#options
    const ended = this.#untilNoneRuns()
    const noMoreGrace = new AbortController()
    void Promise.race([ended, untilAborted(this.#leaving.signal)]).then(() => noMoreGrace.abort())
    const lastPartMs = Math.min(hangGraceMs, graceMs / 5)
    await wait(graceMs - lastPartMs, noMoreGrace.signal)
    for (const attempt of this.#running) attempt.abort('shutdown')
    await wait(lastPartMs, noMoreGrace.signal)
    for (const attempt of this.#running) attempt.giveUp()
    await ended
    const { completions, failures, releases } = this.#deps
    await Promise.all([completions.idle(), failures.idle(), releases.idle()])
    await Promise.all([claiming, this.#dependencyCalls.idle()])
  }

  async #untilGivenUp(ended: AbortSignal): Promise<void> {
    const { signal } = this.#leaving
    await wait(this.#options.graceMs, signal, ended)
    await wait(LAST_WRITES_MS, signal, ended)
    if (signal.aborted) await wait(LAST_WRITES_NOW_MS, ended)
    // Ends the repetitions of writes that failed.
    else if (!ended.aborted) this.#leaving.abort()
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve())
    if (signal.aborted) resolve()
  })
}
