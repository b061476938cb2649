// Reports the calls of this worker's jobs to the breakers, in batches, and remembers the state of each breaker, so that every
// change is emitted once (BREAK-2).
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { Breaker, BreakerState, DependencyCall, JobStore } from '../../store/job-store.ts'
import { type Batcher, createBatcher } from '../calls/batcher.ts'

/** After this many failures in a row without a telling code, the breaker is without effect: warn. */
const SILENT_FAILURES = 5

export class DependencyCalls {
  readonly #store: Pick<JobStore, 'recordCalls'>
  readonly #events: RuntimeEventEmitter
  readonly #states = new Map<string, BreakerState>()
  readonly #batchers = new Map<string, Batcher<DependencyCall, Breaker>>()
  /** Types whose handlers call through `gateway`. */
  readonly #callers = new Set<string>()
  /** By type, failures in a row without a telling code; infinite once the warning was emitted. */
  readonly #silences = new Map<string, number>()

  constructor(store: Pick<JobStore, 'recordCalls'>, events: RuntimeEventEmitter) {
    this.#store = store
    this.#events = events
  }

  /** Resolves when the report was written or has failed, which must not change the outcome of the job. */
  report(name: string, call: DependencyCall): Promise<void> {
    const batcher = this.#batchers.get(name) ?? this.#createBatcher(name)
    this.#batchers.set(name, batcher)
    return batcher.add(call).then(
      (breaker) => this.note(breaker),
      (error: unknown) => this.#events.emit('breaker:failed', { name, error }),
    )
  }

  stateOf(name: string | undefined): BreakerState | undefined {
    return name === undefined ? undefined : this.#states.get(name)
  }

  note({ name, state, reason }: Pick<Breaker, 'name' | 'state' | 'reason'>): void {
    const from = this.#states.get(name) ?? 'closed'
    this.#states.set(name, state)
    if (from !== state) this.#events.emit('breaker:changed', { name, from, to: state, reason })
  }

  noteCaller(type: string): void {
    this.#callers.add(type)
  }

  isCaller(type: string): boolean {
    return this.#callers.has(type)
  }

  /** A handler with its own client failed, with a code that says whose fault it was or without. */
  noteFailure(type: string, name: string, isTelling: boolean): void {
    const silent = isTelling ? 0 : (this.#silences.get(type) ?? 0) + 1
    this.#silences.set(type, silent === SILENT_FAILURES ? Number.POSITIVE_INFINITY : silent)
    if (silent !== SILENT_FAILURES) return
    const warning =
      `handler ${type} depends on ${name}, and its last ${silent} failures say nothing about it: the breaker cannot open. ` +
      "Call it through gateway(), or throw transientError(message, { code: 'GW_5XX' })."
    this.#events.emit('config:warned', { warning })
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#batchers.values()].map((batcher) => batcher.idle()))
  }

  #createBatcher(name: string): Batcher<DependencyCall, Breaker> {
    return createBatcher(async (calls) => {
      const breaker = await this.#store.recordCalls(name, calls)
      return calls.map(() => breaker)
    })
  }
}
