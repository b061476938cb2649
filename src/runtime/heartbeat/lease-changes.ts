// Batches the messages from a worker to its heartbeat thread: leases taken, leases dropped. Both sides load this module.
import type { Lease } from '../../job/lease.ts'
import { type Timer, timing } from '../timing/timing.ts'

/** A lease id and its job ids, joined into one string: cheaper to copy to the thread than an array. */
export type LeaseList = [leaseId: string, jobIds: string][]
export const JOB_ID_SEPARATOR = '\0'
/** In place of job ids: every job of the claim. */
export const ALL = ''

/** How long a dropped lease may still be extended. */
const DROPPED_MS = 250

/**
 * One message for many leases: a message per job and direction took 10 % of the time of a worker with short jobs. Leases
 * taken are sent before the next handler runs, dropped ones a little later or along with them.
 */
export class LeaseChanges {
  readonly #send: (held: LeaseList, dropped: LeaseList) => void
  #held = new Map<string, string[]>()
  #dropped = new Map<string, string[]>()
  #isFlushScheduled = false
  #timer: Timer | undefined

  constructor(send: (held: LeaseList, dropped: LeaseList) => void) {
    this.#send = send
  }

  hold({ jobId, leaseId }: Lease): void {
    // A failed transaction takes its lease again: send the pending drop first, or it would drop this one too.
    if (this.#dropped.has(leaseId)) this.flush()
    addTo(this.#held, leaseId, jobId)
    if (this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    queueMicrotask(() => this.flush())
  }

  drop({ jobId, leaseId }: Lease): void {
    // The last job of a claim to end may be one that was handed over before.
    if (this.#dropped.get(leaseId)?.[0] === ALL) return
    addTo(this.#dropped, leaseId, jobId)
    this.#timer ??= timing.setTimeout(() => this.flush(), DROPPED_MS)
  }

  dropAll(leaseId: string): void {
    this.#dropped.set(leaseId, [ALL])
    this.#timer ??= timing.setTimeout(() => this.flush(), DROPPED_MS)
  }

  flush(): void {
    this.#isFlushScheduled = false
    // Held before dropped: a job may be claimed and end between two messages.
    if (this.#held.size === 0 && this.#dropped.size === 0) return
    timing.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#send(listOf(this.#held), listOf(this.#dropped))
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
  Array.from(leases, ([leaseId, jobIds]) => [leaseId, jobIds.join(JOB_ID_SEPARATOR)])
