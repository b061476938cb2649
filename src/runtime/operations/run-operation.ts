// Runs one operation to its end, step by step, under its lease. Changes are kept, however it ends.
import type { Job } from '../../job/job.ts'
import { nextMove, type OperationMove } from '../../policy/operation-move.ts'
import type {
  HeldOperation,
  JobStore,
  Operation,
  OperationLease,
  OperationProgress,
  OperationStep,
} from '../../store/job-store.ts'
import { wait as waitFor } from '../timing/wait.ts'
import { type SourceStore, sourceGoneFinder } from './find-source-gone.ts'

export type OperationRunStore = Pick<
  JobStore,
  'stepOperation' | 'endOperation' | 'giveBackOperation' | 'readOperation' | 'listQueues'
> &
  SourceStore

export interface RunOperationOptions {
  /** Leaves the operation to the next runner. */
  signal?: AbortSignal
  onProgress?: (operation: Operation) => void
  /** Default: 30 s. */
  leaseMs?: number
  /** Whether the source of a job still exists, checked before a retry (OPS-1). Default: always. */
  sourceExists?: ((job: Job) => Promise<boolean>) | undefined
  /** For tests: replaces the timer. */
  wait?: (ms: number) => Promise<unknown>
}

const POLL_MS = 500
const LEASE_MS = 30_000

/** Returns the operation, ended or left to another runner; null if it no longer exists. */
export async function runOperation(
  store: OperationRunStore,
  held: HeldOperation,
  options: RunOperationOptions = {},
): Promise<Operation | null> {
  return new OperationRun(store, held, options).run()
}

class OperationRun {
  readonly #store: OperationRunStore
  readonly #lease: OperationLease
  readonly #queues: string[]
  readonly #options: RunOperationOptions
  readonly #leaseMs: number
  readonly #findSourceGone: (limit: number) => Promise<string[]>

  constructor(store: OperationRunStore, { operation, leaseId }: HeldOperation, options: RunOperationOptions) {
    this.#store = store
    this.#lease = { operationId: operation.id, leaseId }
    this.#queues = operation.queues
    this.#options = options
    this.#leaseMs = options.leaseMs ?? LEASE_MS
    this.#findSourceGone = sourceGoneFinder(store, operation, options.sourceExists)
  }

  async run(): Promise<Operation | null> {
    let progress = await this.#look()
    while (progress !== 'lease-lost' && this.#options.signal?.aborted !== true) {
      const move = await this.#decide(progress)
      if (move.kind === 'end') return this.#end(move)
      progress = move.kind === 'wait' ? await this.#pause(POLL_MS) : await this.#change(move, progress)
    }
    if (progress !== 'lease-lost') await this.#store.giveBackOperation(this.#lease)
    return this.#store.readOperation(this.#lease.operationId)
  }

  async #decide({ operation, sample }: OperationProgress): Promise<OperationMove> {
    const isHeldBack = operation.action === 'redrive' && (await this.#isHeldBack())
    return nextMove({ ...operation, sample, isHeldBack })
  }

  async #change(
    { limit, phase, pauseMs }: OperationMove & { kind: 'change' },
    before: OperationProgress,
  ): Promise<OperationProgress | 'lease-lost'> {
    const sourceGone = await this.#findSourceGone(limit)
    const progress = await this.#step({ limit, phase, sourceGone })
    if (progress === 'lease-lost') return progress
    // No job was changed: other transactions hold all of them locked.
    const leastMs = taken(progress) === taken(before) ? POLL_MS : 0
    const waitMs = Math.max(pauseMs, leastMs)
    return waitMs > 0 && taken(progress) < progress.operation.total ? this.#pause(waitMs) : progress
  }

  async #end({ stopped }: OperationMove & { kind: 'end' }): Promise<Operation | null> {
    const end = stopped === null ? ({ state: 'done' } as const) : ({ state: 'stopped', stopped } as const)
    const ended = await this.#store.endOperation(this.#lease, end)
    return ended === 'lease-lost' ? this.#store.readOperation(this.#lease.operationId) : ended
  }

  async #step(step: OperationStep): Promise<OperationProgress | 'lease-lost'> {
    const progress = await this.#store.stepOperation(this.#lease, { leaseMs: this.#leaseMs, ...step })
    if (progress !== 'lease-lost') this.#options.onProgress?.(progress.operation)
    return progress
  }

  #look(): Promise<OperationProgress | 'lease-lost'> {
    return this.#step({ limit: 0 })
  }

  /** Reads the progress at the end of the pause, and often enough in between to keep the lease. */
  async #pause(ms: number): Promise<OperationProgress | 'lease-lost'> {
    const { signal } = this.#options
    let leftMs = ms
    for (;;) {
      const sliceMs = Math.min(leftMs, this.#leaseMs / 4)
      await this.#wait(sliceMs)
      leftMs -= sliceMs
      const progress = await this.#look()
      if (leftMs <= 0 || progress === 'lease-lost' || signal?.aborted === true) return progress
    }
  }

  async #isHeldBack(): Promise<boolean> {
    // Counts nothing: only the breakers matter.
    const { queues } = await this.#store.listQueues({ queues: this.#queues, countLimit: 1 })
    return queues.some(({ breakerState }) => breakerState === 'open' || breakerState === 'held')
  }

  async #wait(ms: number): Promise<void> {
    const { wait, signal } = this.#options
    if (wait !== undefined) await wait(ms)
    else await waitFor(ms, signal ?? new AbortController().signal)
  }
}

const taken = ({ operation: { changed, refused } }: OperationProgress) => changed + refused
