// The reaper service: sweeps at the start and at every interval, never two sweeps at once, and errors never stop it (REAP-6,
// REAP-7). Any number of reapers may run: the store's row locks keep them apart, and while one of them sweeps in time, the
// others stand by (REAP-17).
import { isUnstuckError } from '../../errors/index.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import { hasCapability } from '../../store/capability.ts'
import type { JobStore, ReaperFacts } from '../../store/job-store.ts'
import type { ReportAnswer } from '../../store/ports/worker-store.ts'
import { timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'
import { Waker } from '../timing/waker.ts'
import { processName } from '../worker/process-name.ts'
import { runSweep, type SweepReport } from './run-sweep.ts'

export interface ReaperTable {
  name: string
  store: JobStore
  /** For the death of workers, which ends the wait for the next sweep. */
  presence?: GoneWorkers
}

/** Processes that have ended, noticed before their leases end (LEASE-10). */
export interface GoneWorkers {
  onGone(listener: () => void): void
  /** Looks for them every second from now on, unless two processes do already. */
  watch(): void
}

export interface ReaperOptions {
  tables: ReaperTable[]
  intervalMs: number
  reaperId?: string
  policy?: PolicyOverride
  onSweep?: (table: string, report: SweepReport) => void
  /** Another process sweeps the table from now on. */
  onStandBy?: (table: string) => void
  onError?: (table: string, error: unknown) => void
  /** The sweep went through, but the trends of the last minute could not be counted. */
  onUncounted?: (table: string, error: unknown) => void
}

/** The part of the answer to a worker's report that is about the sweeps of its table. */
export type SweepNews = Pick<ReportAnswer, 'isSweepDue' | 'isWatched' | 'reportedAt'> & {
  /** Monotonic time of the question. */
  askedAtMs: number
}

export interface Reaper {
  /** Saves a reaper that stands by the question whether a sweep is due. Undefined: the report failed. */
  note(news: SweepNews | undefined): void
  /** Resolves when the current sweep has ended. */
  stop(): Promise<void>
}

/** Waits between the tries of a sweep that met a transient database error. */
const transientWaitsMs = [100, 500, 2_000]
const MINUTE_MS = 60_000
/** After the end of a minute: the clock of this host may be ahead of the database's. */
const COUNT_AFTER_MS = 2_000

export function startReaper(options: ReaperOptions): Reaper {
  const reaperId = options.reaperId ?? processName()
  const stopping = new AbortController()
  const tables = options.tables.map((table) => new TableReaper(table, reaperId, options, stopping.signal))
  const waker = new Waker()
  for (const table of tables) table.onDue(() => waker.wake())
  const loop = run()
  return {
    note(news) {
      for (const table of tables) table.note(news)
    },
    async stop() {
      stopping.abort()
      waker.wake()
      await loop
    },
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      waker.reset()
      for (const table of tables) await table.sweepIfDue()
      await waker.pause(Math.min(...tables.map((table) => table.waitMs())))
    }
  }
}

class TableReaper {
  readonly #table: ReaperTable
  readonly #options: ReaperOptions
  readonly #stopping: AbortSignal
  readonly #past: ReaperPast
  #onDue: () => void = () => {}
  /** The first sweep, and that of a gone worker's jobs, happen even if another reaper has just swept. */
  #isUrgent = true
  #isStandingBy = false
  /** A reaper that stands by knows until then that no sweep is due. */
  #knownUntilMs = 0
  #countAtMs = 0

  constructor(table: ReaperTable, reaperId: string, options: ReaperOptions, stopping: AbortSignal) {
    this.#table = table
    this.#options = options
    this.#stopping = stopping
    this.#past = new ReaperPast(reaperId)
    table.presence?.onGone(() => {
      this.#isUrgent = true
      this.#onDue()
    })
  }

  onDue(listener: () => void): void {
    this.#onDue = listener
  }

  note(news: SweepNews | undefined): void {
    if (!this.#isStandingBy) return
    if (news === undefined) return this.#past.failed()
    if (!news.isWatched) this.#table.presence?.watch()
    if (news.isSweepDue) {
      this.#isStandingBy = false
      return this.#onDue()
    }
    this.#past.succeeded(news.reportedAt, news.askedAtMs)
    // Until the next report, with time to spare.
    this.#knownUntilMs = news.askedAtMs + 2 * this.#options.intervalMs
  }

  /** A reaper that stands by has nothing to do before it knows no more: reports move that time on. */
  waitMs(): number {
    const { intervalMs } = this.#options
    const knownMs = this.#isStandingBy && !this.#isUrgent ? this.#knownUntilMs - timing.nowMs() : 0
    return Math.max(intervalMs, knownMs)
  }

  async sweepIfDue(): Promise<void> {
    if (this.#isStandingBy && !this.#isUrgent && timing.nowMs() < this.#knownUntilMs) return
    const { onSweep, onStandBy, onError } = this.#options
    const { name, presence } = this.#table
    const isUrgent = this.#isUrgent
    this.#isUrgent = false
    try {
      const report = await this.#retryTransient(() => this.#sweepOnce(isUrgent))
      if (!report.isWatched) presence?.watch()
      if (!report.isRedundant) onSweep?.(name, report)
      else if (!this.#isStandingBy) onStandBy?.(name)
      this.#isStandingBy = report.isRedundant
      if (!report.isRedundant) await this.#countTrends()
    } catch (error) {
      this.#past.failed()
      onError?.(name, error)
    }
  }

  /** The process that sweeps also counts each minute, once, soon after its end: until then screens lack its rows. */
  async #countTrends(): Promise<void> {
    const { store } = this.#table
    if (!hasCapability(store, 'trends') || timing.nowMs() < this.#countAtMs) return
    this.#countAtMs = timing.nowMs() + MINUTE_MS - ((timing.wallMs() - COUNT_AFTER_MS) % MINUTE_MS)
    // The sweep went through: this is no sign of an outage, and no failed sweep.
    await store.countTrends().catch((error: unknown) => this.#options.onUncounted?.(this.#table.name, error))
  }

  async #sweepOnce(isUrgent: boolean): Promise<SweepReport> {
    const { policy, intervalMs } = this.#options
    const askedAtMs = timing.nowMs()
    const reaper = this.#past.facts()
    if (!isUrgent) reaper.intervalMs = intervalMs
    const report = await runSweep(this.#table.store, policy === undefined ? { reaper } : { reaper, policy })
    this.#past.succeeded(report.sweptAt, askedAtMs)
    return report
  }

  async #retryTransient(sweep: () => Promise<SweepReport>): Promise<SweepReport> {
    for (const waitMs of transientWaitsMs) {
      try {
        return await sweep()
      } catch (error) {
        if (!isUnstuckError(error) || !error.isRetryable || this.#stopping.aborted) throw error
        await wait(waitMs, this.#stopping)
      }
    }
    return sweep()
  }
}

/** A reaper's record of its own sweeps, by which the engine tells an outage from dead workers (C9). */
class ReaperPast {
  readonly #reaperId: string
  #lastSweptAt: string | undefined
  #sweptAtMs = 0
  #failingSinceMs: number | undefined

  constructor(reaperId: string) {
    this.#reaperId = reaperId
  }

  facts(): ReaperFacts {
    const facts: ReaperFacts = { reaperId: this.#reaperId }
    if (this.#lastSweptAt !== undefined) {
      facts.lastSweptAt = this.#lastSweptAt
      facts.elapsedMs = timing.nowMs() - this.#sweptAtMs
    }
    if (this.#failingSinceMs !== undefined) facts.failingForMs = timing.nowMs() - this.#failingSinceMs
    return facts
  }

  /** `sweptAt` is the start of the sweep: its duration would look like a step of the clock. */
  succeeded(sweptAt: string, askedAtMs: number): void {
    this.#lastSweptAt = sweptAt
    this.#sweptAtMs = askedAtMs
    this.#failingSinceMs = undefined
  }

  /** Failures before the first success say nothing about leases. */
  failed(): void {
    if (this.#lastSweptAt !== undefined) this.#failingSinceMs ??= this.#sweptAtMs
  }
}
