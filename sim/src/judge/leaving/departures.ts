// A worker that is asked to leave gives back what it holds: a deploy costs no attempt.
import { concerns } from '../../../../chaos/src/faults/disturbances.ts'
import { type EventRow, isWithin, type Violation } from '../../../../chaos/src/judge/history.ts'
import type { Evidence } from '../../world/evidence.ts'

/** The end of the worker itself, and of sessions that no release needs. */
const UNHINDERING = new Set(['gone', 'presence-ended', 'hints-lost'])

export class Departures {
  readonly #evidence: Evidence
  /** By worker: from the request to its end. */
  readonly #departures = new Map<string, { from: number; to: number }>()
  /** Workers some of whose calls failed on the way out. */
  readonly #hindered = new Set<string>()
  /** By worker: when an operator asked it to leave. */
  readonly asked = new Map<string, number>()
  /** When workers that leave claimed. */
  readonly lateClaims: { worker: string; at: number }[] = []

  constructor(evidence: Evidence) {
    this.#evidence = evidence
  }

  noteAsked(worker: string, at: number): void {
    this.asked.set(worker, at)
  }

  noteClaim(worker: string, sentAt: number): void {
    if (sentAt > (this.#departures.get(worker)?.from ?? sentAt)) this.lateClaims.push({ worker, at: sentAt })
  }

  noteStop(worker: string, at: number): void {
    this.#departures.set(worker, { from: at, to: Number.POSITIVE_INFINITY })
  }

  /** By worker. Those that were killed, or are not gone yet, have no end. */
  get spans(): ReadonlyMap<string, { from: number; to: number }> {
    return this.#departures
  }

  /** Whether a call of it failed on the way out. */
  isHindered(worker: string): boolean {
    return this.#hindered.has(worker)
  }

  has(worker: string): boolean {
    return this.#departures.has(worker)
  }

  /** Whether it had been asked to leave by then. */
  hasLeft(worker: string, by: number): boolean {
    return (this.#departures.get(worker)?.from ?? Number.POSITIVE_INFINITY) <= by
  }

  noteFailure(worker: string): void {
    if (this.#departures.has(worker)) this.#hindered.add(worker)
  }

  noteEnd(worker: string, at: number): void {
    const departure = this.#departures.get(worker)
    if (departure !== undefined) departure.to = at
  }

  *check(events: EventRow[]): Iterable<Violation> {
    for (const { jobId, type, at, details } of events) {
      if (!type.startsWith('reaper:') || details['cause'] !== 'crash') continue
      const worker = String(details['locked_by'])
      const beatAt = Date.parse(String(details['last_heartbeat_at']))
      if (this.#wasHeld(worker, beatAt, at) && !this.#evidence.wasUndone(worker, jobId))
        yield {
          invariant: 'deploy',
          message: `job ${jobId}: ${worker} left in order and did not give it back`,
        }
    }
  }

  /** Whether the worker left in order and unhindered while it held the lease that was reaped. */
  #wasHeld(worker: string, beatAt: number, reapedAt: number): boolean {
    const { from, to } = this.#departures.get(worker) ?? { from: reapedAt, to: Number.POSITIVE_INFINITY }
    if (to === Number.POSITIVE_INFINITY || reapedAt < from || this.#hindered.has(worker)) return false
    return !this.#evidence.disturbances.some(
      (disturbance) =>
        !UNHINDERING.has(disturbance.kind) &&
        concerns(disturbance, worker) &&
        isWithin(disturbance, Math.min(beatAt, from), to),
    )
  }
}
