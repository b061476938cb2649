// Runs the operations that nobody runs: those just begun, and those whose process died. Any number of processes may do so;
// the lease of an operation keeps them apart.
import { isUnstuckError } from '../../errors/index.ts'
import { hasCapability } from '../../store/capability.ts'
import type { HeldOperation, JobStore } from '../../store/job-store.ts'
import { type Repetition, repeat } from '../timing/repeat.ts'
import { runOperation } from './run-operation.ts'

export interface OperationRunnerOptions {
  tables: readonly { store: JobStore }[]
  /** Between two looks for operations; 2 s where absent. */
  pollMs?: number
  /** 30 s where absent: as long as a dead process holds an operation up. */
  leaseMs?: number
}

const POLL_MS = 2_000
const LEASE_MS = 30_000
/** A slow redrive holds up no other. */
const MAX_RUNNING = 16

export class OperationRunner {
  readonly #options: OperationRunnerOptions
  readonly #tables: OperationRunnerOptions['tables']
  readonly #leaving = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #loop: Repetition | undefined

  constructor(options: OperationRunnerOptions) {
    this.#options = options
    this.#tables = options.tables.filter(({ store }) => hasCapability(store, 'operations'))
  }

  /** Looks now, and from now on at every interval. */
  wake(): void {
    if (this.#leaving.signal.aborted || this.#tables.length === 0) return
    if (this.#loop === undefined) this.#loop = repeat((stopping) => this.#look(stopping))
    else this.#loop.wake()
  }

  /** Settles when the steps that were under way have ended; the rest is left to another process. */
  async stop(): Promise<void> {
    this.#leaving.abort()
    await this.#loop?.stop()
    await Promise.all(this.#running)
  }

  async #look(stopping: AbortSignal): Promise<number> {
    const { pollMs = POLL_MS, leaseMs = LEASE_MS } = this.#options
    try {
      for (const { store } of this.#tables) {
        while (this.#running.size < MAX_RUNNING && !stopping.aborted) {
          const held = await store.takeOperation({ leaseMs })
          if (held === null) break
          this.#run(store, held)
        }
      }
    } catch {
      // The store is away: the next look will tell.
    }
    return pollMs
  }

  #run(store: JobStore, held: HeldOperation): void {
    const run = this.#runOne(store, held).finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  async #runOne(store: JobStore, held: HeldOperation): Promise<void> {
    const { leaseMs = LEASE_MS } = this.#options
    try {
      await runOperation(store, held, { signal: this.#leaving.signal, leaseMs })
    } catch (error) {
      // What may pass is tried again by whoever takes it when its lease is over; in mode observe nobody gets it.
      if (isUnstuckError(error) && (error.isRetryable || error.code === 'WRONG_MODE')) return
      const stopped = error instanceof Error ? error.message : String(error)
      const lease = { operationId: held.operation.id, leaseId: held.leaseId }
      await store.endOperation(lease, { state: 'failed', stopped }).catch(() => {})
    }
  }
}
