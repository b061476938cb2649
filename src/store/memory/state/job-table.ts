import type { Job } from '../../../job/job.ts'

/**
 * Jobs by id. Waiting ones are also kept in the order of claims, and running ones apart: a search among all rows for each claim or
 * sweep would make a drain of thousands of jobs quadratic.
 */
export class JobTable extends Map<string, Job> {
  readonly #waiting: Job[] = []
  readonly #running = new Map<string, Job>()
  #waitingGrouped = 0

  static of(jobs: Iterable<Job>): JobTable {
    const table = new JobTable()
    for (const job of jobs) table.set(job.id, job)
    return table
  }

  override set(id: string, job: Job): this {
    this.#forget(id)
    if (job.status === 'waiting') {
      this.#waiting.splice(this.#placeOf(placeInOrder(job)), 0, job)
      if (job.group !== null) this.#waitingGrouped += 1
    } else if (job.status === 'running') this.#running.set(id, job)
    return super.set(id, job)
  }

  override delete(id: string): boolean {
    this.#forget(id)
    return super.delete(id)
  }

  override clear(): void {
    this.#waiting.length = 0
    this.#waitingGrouped = 0
    this.#running.clear()
    super.clear()
  }

  /** Waiting jobs that are due, in the order of claims. No row may change meanwhile. */
  *due(nowMs: number): Generator<Job> {
    for (let n = 0; n < this.#waiting.length; n++) {
      const job = this.#waiting[n] as Job
      if (dueMs(job) <= nowMs) yield job
      // The rest of its priority is due even later.
      else n = this.#placeOf({ priority: job.priority, dueMs: Number.POSITIVE_INFINITY, id: '' }) - 1
    }
  }

  hasDue(nowMs: number): boolean {
    return this.due(nowMs).next().done === false
  }

  running(): IterableIterator<Job> {
    return this.#running.values()
  }

  /** Whether a waiting job has a group. */
  get hasGroups(): boolean {
    return this.#waitingGrouped > 0
  }

  #forget(id: string): void {
    const job = this.get(id)
    if (job?.status === 'running') this.#running.delete(id)
    if (job?.status !== 'waiting') return
    this.#waiting.splice(this.#placeOf(placeInOrder(job)), 1)
    if (job.group !== null) this.#waitingGrouped -= 1
  }

  /** The place of the first job that is not before this one. */
  #placeOf(place: Place): number {
    let [first, last] = [0, this.#waiting.length]
    while (first < last) {
      const middle = (first + last) >>> 1
      if (comparePlaces(placeInOrder(this.#waiting[middle] as Job), place) < 0) first = middle + 1
      else last = middle
    }
    return first
  }
}

interface Place {
  priority: number
  dueMs: number
  id: string
}

const placeInOrder = (job: Job): Place => ({ priority: job.priority, dueMs: dueMs(job), id: job.id })

function comparePlaces(a: Place, b: Place): number {
  // Without a difference: infinity less infinity is no number.
  if (a.priority !== b.priority) return a.priority < b.priority ? -1 : 1
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs ? -1 : 1
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
}

export function dueMs(job: Job): number {
  return (job.runAt ?? job.createdAt).getTime()
}

export function compareClaimOrder(a: Job, b: Job): number {
  return comparePlaces(placeInOrder(a), placeInOrder(b))
}
