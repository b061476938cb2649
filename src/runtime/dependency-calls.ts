// What the jobs of this worker learn about the services they depend on: told to the breakers in batches, and their state
// remembered, so that every change of it is said once (BREAK-2).
import type { RuntimeEventEmitter } from '../observe/events.ts'
import type { Breaker, BreakerState, DependencyCall, JobStore } from '../store/job-store.ts'
import { type Batcher, createBatcher } from './batcher.ts'

export class DependencyCalls {
  readonly #store: Pick<JobStore, 'recordCalls'>
  readonly #events: RuntimeEventEmitter
  readonly #states = new Map<string, BreakerState>()
  readonly #batchers = new Map<string, Batcher<DependencyCall, Breaker>>()

  constructor(store: Pick<JobStore, 'recordCalls'>, events: RuntimeEventEmitter) {
    this.#store = store
    this.#events = events
  }

  /** Nobody waits for it: a breaker that cannot be told must not hold up or change what the job came to. */
  report(name: string, call: DependencyCall): void {
    const batcher = this.#batchers.get(name) ?? this.#createBatcher(name)
    this.#batchers.set(name, batcher)
    batcher.add(call).then(
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
