// The reaper service: sweeps at the start and at every interval, never two sweeps at once, and errors never stop it (REAP-6,
// REAP-7). Any number of reapers may run; the store's row locks keep them apart.
import { isUnstuckError } from '../../errors/index.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore, ReaperFacts } from '../../store/job-store.ts'
import { wait } from '../timing/wait.ts'
import { processName } from '../worker/process-name.ts'
import { runSweep, type SweepReport } from './run-sweep.ts'

export interface ReaperTable {
  name: string
  store: JobStore
  /** Called after every sweep: reports workers that are gone, and if it is needed, looks for them every second. */
  watch?: (onGone: () => void, isNeeded: boolean) => void
}

export interface ReaperOptions {
  tables: ReaperTable[]
  intervalMs: number
  reaperId?: string
  policy?: PolicyOverride
  onSweep?: (table: string, report: SweepReport) => void
  onError?: (table: string, error: unknown) => void
}

export interface Reaper {
  /** Resolves when the current sweep has ended. */
  stop(): Promise<void>
}

/** Waits between the tries of a sweep that met a transient database error. */
const transientWaitsMs = [100, 500, 2_000]

export function startReaper(options: ReaperOptions): Reaper {
  const reaperId = options.reaperId ?? processName()
  const pasts = new Map(options.tables.map(({ name }) => [name, new ReaperPast(reaperId)]))
  const stopping = new AbortController()
  let woken = new AbortController()
  const loop = run()
  return {
    async stop() {
      stopping.abort()
      await loop
    },
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = new AbortController()
      for (const table of options.tables) await sweepTable(table)
      await wait(options.intervalMs, AbortSignal.any([stopping.signal, woken.signal]))
    }
  }

  async function sweepTable({ name, store, watch }: ReaperTable): Promise<void> {
    const past = pasts.get(name) ?? new ReaperPast(reaperId)
    try {
      const report = await retryTransient(() => sweepOnce(store, past))
      options.onSweep?.(name, report)
      watch?.(() => woken.abort(), !report.isWatched)
    } catch (error) {
      past.failed()
      options.onError?.(name, error)
    }
  }

  async function sweepOnce(store: JobStore, past: ReaperPast): Promise<SweepReport> {
    const { policy } = options
    const askedAtMs = performance.now()
    const report = await runSweep(store, {
      reaper: past.facts(),
      ...(policy === undefined ? {} : { policy }),
    })
    past.succeeded(report.sweptAt, askedAtMs)
    return report
  }

  async function retryTransient(sweep: () => Promise<SweepReport>): Promise<SweepReport> {
    for (const waitMs of transientWaitsMs) {
      try {
        return await sweep()
      } catch (error) {
        if (!isUnstuckError(error) || !error.isRetryable || stopping.signal.aborted) throw error
        await wait(waitMs, stopping.signal)
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
    return {
      reaperId: this.#reaperId,
      ...(this.#lastSweptAt === undefined
        ? {}
        : { lastSweptAt: this.#lastSweptAt, elapsedMs: performance.now() - this.#sweptAtMs }),
      ...(this.#failingSinceMs === undefined
        ? {}
        : { failingForMs: performance.now() - this.#failingSinceMs }),
    }
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
