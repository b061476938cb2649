// Transactions of handlers. The completion is the last statement of a `tx`, so completion and commit are one step here. While one
// is open no heartbeat may write the row of its job: a REPEATABLE READ transaction would fail (C4, C27).
import type { Lease } from '../../../src/job/lease.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { EPOCH_MS, type VirtualTime } from '../world/virtual-time.ts'

interface Open {
  jobId: string
  beginWithinMs: number
  owner: string
}

export class Transactions {
  readonly #time: VirtualTime
  readonly #onViolation: (message: string) => void
  readonly #leaseOf: (jobId: string) => string | null
  /** By job. After a failover a worker may hold another lease of a job whose transaction it has not given up yet. */
  readonly #open = new Map<string, { owner: string; leaseId: string | null }>()
  readonly effects: { jobId: string; leaseId: string; at: number }[] = []

  constructor(
    time: VirtualTime,
    leaseOf: (jobId: string) => string | null,
    onViolation: (message: string) => void,
  ) {
    this.#time = time
    this.#leaseOf = leaseOf
    this.#onViolation = onViolation
  }

  /** The store as a worker uses it: the client of a transaction is no argument of the memory store. */
  watch(store: JobStore): JobStore {
    const completeJobs: JobStore['completeJobs'] = (completions, options) =>
      store.completeJobs(completions, options === undefined ? undefined : { policy: options.policy ?? {} })
    return Object.assign(Object.create(Object.getPrototypeOf(store) as object) as JobStore, store, {
      completeJobs,
    })
  }

  async run<T>(store: JobStore, { jobId, owner }: Open, work: (client: never) => Promise<T>): Promise<T> {
    // Its `begin` takes a round trip.
    await store.readPolicy()
    const open = { owner, leaseId: this.#leaseOf(jobId) }
    this.#open.set(jobId, open)
    try {
      return await work('tx' as never)
    } finally {
      if (this.#open.get(jobId) === open) this.#open.delete(jobId)
    }
  }

  noteHeartbeat(owner: string, leases: Lease[]): void {
    for (const { jobId, leaseId } of leases)
      if (this.#open.get(jobId)?.owner === owner && this.#open.get(jobId)?.leaseId === leaseId)
        this.#onViolation(
          `job ${jobId}: a heartbeat of ${owner} wrote its row during its transaction, at ${this.#time.nowMs} ms`,
        )
  }

  /** The completion of an open transaction commits its effect. */
  noteCompleted(leases: Lease[], outcomes: { outcome: string }[]): void {
    for (const [index, { jobId, leaseId }] of leases.entries())
      if (this.#open.get(jobId)?.leaseId === leaseId && outcomes[index]?.outcome === 'completed')
        this.effects.push({ jobId, leaseId, at: EPOCH_MS + this.#time.nowMs })
  }

  /** Workers with an open one. */
  owners(): Set<string> {
    return new Set(Array.from(this.#open.values(), ({ owner }) => owner))
  }

  forget(owner: string): void {
    for (const [jobId, open] of this.#open) if (open.owner === owner) this.#open.delete(jobId)
  }
}
