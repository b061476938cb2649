// Where in its life each job is, for the coverage of faults, and for faults that wait for such a place.
import type { Job } from '../../../src/job/job.ts'
import { type Lease, leaseKey } from '../../../src/job/lease.ts'

/** Places in the life of an attempt that a fault can wait for. */
export const attemptPlaces = ['claimed', 'working', 'tx', 'aborted', 'returned'] as const
export type AttemptPlace = (typeof attemptPlaces)[number]

export const places = [
  'new',
  'again',
  ...attemptPlaces,
  'expired',
  'abandoned',
  'succeeded',
  'dead',
  'cancelled',
] as const
export type Place = (typeof places)[number]

export interface Arrival {
  jobId: string
  worker: string
}

export class Places {
  /** By lease: the last place that its worker has reached. */
  readonly #attempts = new Map<string, AttemptPlace>()
  readonly #waiting: { place: AttemptPlace; onArrival: (arrival: Arrival) => void }[] = []

  /** Calls once, for the next job that arrives there. */
  await(place: AttemptPlace, onArrival: (arrival: Arrival) => void): void {
    this.#waiting.push({ place, onArrival })
  }

  arrive(place: AttemptPlace, worker: string, lease: Lease): void {
    const key = leaseKey(lease)
    // A handler that was aborted may still open a transaction.
    if (place !== 'returned' && this.#attempts.get(key) === 'aborted') return
    this.#attempts.set(key, place)
    for (const waiting of this.#waiting.filter((each) => each.place === place)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      waiting.onArrival({ jobId: lease.jobId, worker })
    }
  }

  of(job: Job, nowMs: number, isAlive: (worker: string) => boolean): Place {
    const { id, status, fence, leaseId, leaseExpiresAt, workerId } = job
    if (status === 'waiting') return fence === 0 ? 'new' : 'again'
    if (status !== 'running') return status
    if (leaseExpiresAt !== null && leaseExpiresAt.getTime() <= nowMs) return 'expired'
    if (!isAlive(workerId ?? '')) return 'abandoned'
    return this.#attempts.get(leaseKey({ jobId: id, leaseId: leaseId ?? '' })) ?? 'claimed'
  }
}
