// Reports a worker to the store: when it starts, at every interval, when it drains and when it has stopped, based on the
// worker's own events. Best effort: a failed report affects no job.
import { hostname } from 'node:os'
import type { RuntimeEventEmitter, RuntimeEvents } from '../../observe/events.ts'
import type { ReportAnswer, WorkerReport, WorkerStore } from '../../store/ports/worker-store.ts'
import { timing } from '../timing/timing.ts'
import { within } from '../timing/wait.ts'
import { Waker } from '../timing/waker.ts'

/** The answer to a report. */
export interface ReportNews extends ReportAnswer {
  /** Monotonic time of the call. */
  askedAtMs: number
}

export interface WorkerReportOptions {
  store: Pick<WorkerStore, 'reportWorker'>
  events: Pick<RuntimeEventEmitter, 'on' | 'emit'>
  /** Jobs that run now. */
  running: () => number
  /** An operator requested a drain. Called once. */
  onDrain: () => void
  /** After every report: its answer, or undefined if it failed. */
  onReport?: (news: ReportNews | undefined) => void
  /** Interval at which the table is swept. */
  sweepIntervalMs: number
  /** Queues that this worker claims from, while hints reach it. */
  hintedQueues?: () => string[] | undefined
  version?: string
  /** Version of the application. */
  appVersion?: string | null
  /** Default: 15 s, or the interval of the sweeps if that is shorter. */
  intervalMs?: number
}

export interface WorkerReporter {
  /** Reports now. */
  wake(): void
  /** Sends the last report. Resolves when it is written, after 2 s at most: an unreachable database delays nobody. */
  stop(): Promise<void>
}

const MOST_INTERVAL_MS = 15_000
const LAST_REPORT_MS = 2_000

export function startWorkerReport(options: WorkerReportOptions): WorkerReporter {
  const reporter = new RunningReporter(options)
  return { wake: () => reporter.wake(), stop: () => reporter.stop() }
}

class RunningReporter {
  readonly #options: WorkerReportOptions
  readonly #intervalMs: number
  readonly #host = hostname()
  readonly #offs: (() => void)[]
  readonly #waker = new Waker()
  #isStopping = false
  #started: RuntimeEvents['worker:started'] | undefined
  #phase: WorkerReport['phase'] = 'running'
  #exitCode: number | undefined
  #lagMs: number | undefined
  #isTold = false
  #isDrainRequested = false
  #loop: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | undefined

  constructor(options: WorkerReportOptions) {
    this.#options = options
    this.#intervalMs = options.intervalMs ?? Math.min(MOST_INTERVAL_MS, options.sweepIntervalMs)
    const { events } = options
    this.#offs = [
      events.on('worker:started', (started) => {
        this.#started = started
        this.#loop = this.#run()
      }),
      events.on('worker:draining', () => this.#enter('draining')),
      events.on('worker:stopped', ({ exitCode }) => {
        this.#exitCode = exitCode
        this.#enter('stopped')
      }),
      events.on('loop:lagged', ({ lagMs }) => {
        this.#lagMs = lagMs
      }),
    ]
  }

  wake(): void {
    this.#waker.wake()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#leave()
    return this.#stopped
  }

  async #leave(): Promise<void> {
    for (const off of this.#offs) off()
    this.#isStopping = true
    this.#waker.wake()
    await within(LAST_REPORT_MS, this.#loop)
  }

  #enter(phase: WorkerReport['phase']): void {
    this.#phase = phase
    this.#waker.wake()
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      // Before the report, so that the next one covers changes during it.
      this.#waker.reset()
      await this.#report()
      await this.#waker.pause(this.#intervalMs)
    }
    await this.#report()
  }

  async #report(): Promise<void> {
    const { store, events, running, onDrain, onReport, version, appVersion, sweepIntervalMs } = this.#options
    const hintedQueues = this.#options.hintedQueues?.()
    if (this.#started === undefined) return
    const { workerId, types, concurrency } = this.#started
    const askedAtMs = timing.nowMs()
    try {
      const answer = await store.reportWorker({
        workerId,
        isStart: !this.#isTold,
        phase: this.#phase,
        host: this.#host,
        pid: process.pid,
        ...(version === undefined ? {} : { version }),
        ...(appVersion == null ? {} : { appVersion }),
        types,
        concurrency,
        running: running(),
        ...(hintedQueues === undefined ? {} : { hintedQueues }),
        ...(this.#lagMs === undefined ? {} : { loopLagMs: this.#lagMs }),
        reportMs: this.#intervalMs,
        sweepIntervalMs,
        ...(this.#exitCode === undefined ? {} : { exitCode: this.#exitCode }),
      })
      this.#isTold = true
      onReport?.({ askedAtMs, ...answer })
      if (answer.isDrainRequested && !this.#isDrainRequested) {
        this.#isDrainRequested = true
        onDrain()
      }
    } catch (error) {
      onReport?.(undefined)
      events.emit('worker:unreported', { workerId, error })
    }
  }
}
