// The server's side of sweeps: what begin_sweep.sql knows of outages and sessions, and the memory store does not.
import type { Job } from '../../../src/job/job.ts'
import type { SweepRequest, SweepStep } from '../../../src/store/job-store.ts'
import type { MemoryJobStore } from '../../../src/store/memory/memory-store.ts'
import type { MemoryState } from '../../../src/store/memory/state/memory-state.ts'
import type { Sessions } from './sessions.ts'

/** The first or a later step of a sweep, with the rows before it. */
export interface SweepCall {
  request: SweepRequest
  nowMs: number
  sweptAtMs: number | null
  /** The end of the last outage that is known. */
  outageEndMs: number | null
  running: Job[]
  /** Workers that are gone, by their sessions. */
  gone: ReadonlyMap<string, number>
  step: SweepStep
}

export interface SweepsOptions {
  store: MemoryJobStore
  state: MemoryState
  sessions: Sessions
  onSweep: (call: SweepCall) => void
}

const NOBODY: ReadonlyMap<string, number> = new Map()

export class Sweeps {
  readonly #options: SweepsOptions
  readonly #state: MemoryState
  /** The next sweep finds a server that was restarted. */
  #isRestarted = false
  /** The last sweep before one that found the table locked. */
  #lockedSinceMs: number | null = null
  #isWatched = true

  constructor(options: SweepsOptions) {
    this.#options = options
    this.#state = options.state
  }

  noteRestart(): void {
    this.#isRestarted = true
  }

  /** A sweep has found the table locked. */
  noteLocked(): void {
    this.#lockedSinceMs ??= this.#state.sweptAtMs
  }

  /** Whether two workers watched the sessions, or none has to, at the last sweep. */
  get isWatched(): boolean {
    return this.#isWatched
  }

  async run(request: SweepRequest = {}): Promise<SweepStep> {
    const { store, sessions, onSweep } = this.#options
    this.#reportOutage(request)
    const hasPresence = this.#state.policy.presence !== 'off'
    if (hasPresence && request.cursor === undefined) sessions.look()
    const before = {
      request,
      nowMs: store.now(),
      sweptAtMs: this.#state.sweptAtMs,
      outageEndMs: this.#state.outages.at(-1)?.toMs ?? null,
      running: [...this.#state.jobs.running()],
      gone: hasPresence ? sessions.gone() : NOBODY,
    }
    const step = await store.sweepJobs(request)
    this.#isWatched = !hasPresence || sessions.watchers() >= 2
    if (step.isRedundant === true) return step
    this.#forgetOutage()
    sessions.forgetGone(before.gone.keys())
    onSweep({ step, ...before })
    step.isWatched = this.#isWatched
    return step
  }

  /**
   * begin_sweep.sql knows that the server was restarted, and since when the table is locked, and holds what expired since. The
   * memory store has neither: its sweep gets them as sweeps that have failed since then, with the same effect.
   */
  #reportOutage({ reaper, cursor }: SweepRequest): void {
    const sinceMs = this.#isRestarted ? this.#state.sweptAtMs : this.#lockedLongSinceMs()
    if (sinceMs === null || reaper === undefined || cursor !== undefined) return
    this.#state.reachedAtMs = null
    reaper.failingForMs = this.#state.nowMs() - sinceMs
  }

  #forgetOutage(): void {
    this.#isRestarted = false
    this.#lockedSinceMs = null
  }

  /** No lease that is renewed in time ends within half a lease. */
  #lockedLongSinceMs(): number | null {
    const sinceMs = this.#lockedSinceMs
    const isLong = sinceMs !== null && this.#state.nowMs() - sinceMs > this.#state.policy.defaultLeaseMs / 2
    return isLong ? sinceMs : null
  }
}
