// What a worker tells its heartbeat thread: the leases it has taken on, and those it is done with. Both load it.
import type { Lease } from '../../job/lease.ts'

/** A lease id, and the jobs that it is or was for as one text, which is copied to the thread at once. */
export type LeaseList = [leaseId: string, jobIds: string][]
const NUL = '\0'
/** Instead of ids: every job of the claim. */
const ALL = ''

/** Null in place of a job is every job. */
export function* readLeases(list: LeaseList): Generator<{ leaseId: string; jobId: string | null }> {
  for (const [leaseId, jobIds] of list)
    for (const jobId of jobIds.split(NUL)) yield { leaseId, jobId: jobId === ALL ? null : jobId }
}

/** How long a lease that was dropped may still be beaten for. */
const DROPPED_MS = 250

/**
 * One message for many leases: a message a job, each way, took a tenth of the time of a worker with short jobs. What is held
 * is told before the next handler runs, what is dropped a little later or along with it.
 */
export class LeaseChanges {
  readonly #tell: (held: LeaseList, dropped: LeaseList) => void
  #held = new Map<string, string[]>()
  #dropped = new Map<string, string[]>()
  #isTelling = false
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (held: LeaseList, dropped: LeaseList) => void) {
    this.#tell = tell
  }

  hold({ jobId, leaseId }: Lease): void {
    // After a transaction that failed: what was dropped of the claim goes first, or it would take this one along.
    if (this.#dropped.has(leaseId)) this.tell()
    addTo(this.#held, leaseId, jobId)
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => this.tell())
  }

  drop({ jobId, leaseId }: Lease): void {
    addTo(this.#dropped, leaseId, jobId)
    this.#timer ??= setTimeout(() => this.tell(), DROPPED_MS)
  }

  dropAll(leaseId: string): void {
    this.#dropped.set(leaseId, [ALL])
    this.#timer ??= setTimeout(() => this.tell(), DROPPED_MS)
  }

  tell(): void {
    this.#isTelling = false
    // Held first: a job may be claimed and end between two messages.
    if (this.#held.size === 0 && this.#dropped.size === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#tell(listOf(this.#held), listOf(this.#dropped))
    this.#held = new Map()
    this.#dropped = new Map()
  }
}

function addTo(leases: Map<string, string[]>, leaseId: string, jobId: string): void {
  const jobIds = leases.get(leaseId)
  if (jobIds === undefined) leases.set(leaseId, [jobId])
  else jobIds.push(jobId)
}

const listOf = (leases: Map<string, string[]>): LeaseList =>
  Array.from(leases, ([leaseId, jobIds]) => [leaseId, jobIds.join(NUL)])
