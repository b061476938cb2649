// Runs operations that have no runner: new ones, and those whose process died. Any number of processes may do so; the lease
// of an operation keeps them apart.
import { isUnstuckError } from '../../errors/index.ts'
import type { Job } from '../../job/job.ts'
import { hasCapability } from '../../store/capability.ts'
import type { HeldOperation, JobStore } from '../../store/job-store.ts'
import { type Repetition, repeat } from '../timing/repeat.ts'
import { runOperation } from './run-operation.ts'

export interface OperationRunnerOptions {
  tables: readonly { store: JobStore }[]
  /** Interval between two looks for operations. Default: 2 s. */
  pollMs?: number
  /** How long a dead process delays its operation. Default: 30 s. */
  leaseMs?: number
  /** Whether the source of a job still exists, checked before a retry (OPS-1). Default: always. */
  sourceExists?: (job: Job) => Promise<boolean>
}

const POLL_MS = 2_000
const LEASE_MS = 30_000
/** A slow redrive does not delay others. */
const MAX_RUNNING = 16

export class OperationRunner {
  readonly #options: OperationRunnerOptions
  readonly #tables: OperationRunnerOptions['tables']
  readonly #leaving = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** One for each table: a shard that is down delays no operation of the others. */
  #loops: Repetition[] | undefined

  constructor(options: OperationRunnerOptions) {
    this.#options = options
    this.#tables = options.tables.filter(({ store }) => hasCapability(store, 'operations'))
  }

  /** Looks now, and then at every interval. */
  wake(): void {
    if (this.#leaving.signal.aborted) return
    if (this.#loops === undefined)
      this.#loops = this.#tables.map(({ store }) => repeat((stopping) => this.#look(store, stopping)))
    else for (const loop of this.#loops) loop.wake()
  }

  /** Resolves when the current steps have ended; the rest is left to another process. */
  async stop(): Promise<void> {
    this.#leaving.abort()
    await Promise.all((this.#loops ?? []).map((loop) => loop.stop()))
    await Promise.all(this.#running)
  }

  async #look(store: JobStore, stopping: AbortSignal): Promise<number> {
    const { pollMs = POLL_MS, leaseMs = LEASE_MS } = this.#options
    try {
      while (this.#running.size < MAX_RUNNING && !stopping.aborted) {
        const held = await store.takeOperation({ leaseMs })
        if (held === null) break
        this.#run(store, held)
      }
    } catch {
      // The store is unreachable: the next look tries again.
    }
    return pollMs
  }

  #run(store: JobStore, held: HeldOperation): void {
    const run = this.#runOne(store, held).finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  async #runOne(store: JobStore, held: HeldOperation): Promise<void> {
    const { leaseMs = LEASE_MS, sourceExists } = this.#options
    try {
      await runOperation(store, held, { signal: this.#leaving.signal, leaseMs, sourceExists })
    } catch (error) {
      // After a transient error, another process resumes it when its lease expires; in observe mode nobody does.
      if (isUnstuckError(error) && (error.isRetryable || error.code === 'WRONG_MODE')) return
      const stopped = error instanceof Error ? error.message : String(error)
      const lease = { operationId: held.operation.id, leaseId: held.leaseId }
      await store.endOperation(lease, { state: 'failed', stopped }).catch(() => {})
    }
  }
}
