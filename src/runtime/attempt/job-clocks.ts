// The clocks of one attempt that this process keeps itself: lease, deadline, progress (LEASE-8), and the grace after an abort.
import type { AbortCause } from './handler.ts'

/** Whose clocks they are. */
export interface ClockOwner {
  abort(cause: AbortCause): void
  /** The lease may be over, and nobody knows. */
  tellRisk(): void
}

/** Between two looks at the leases of a worker. */
export const LOOK_MS = 100
/** A deadline that is nearer has a timer of its own: few jobs get there. */
const NEAR_MS = 1_000

export class JobClocks {
  readonly #progressLimitMs: number | undefined
  readonly #owner: ClockOwner
  #leaseEndsAtMs = Number.POSITIVE_INFINITY
  #isSuspect = false
  #isAtRisk = false
  #deadlineAtMs = Number.POSITIVE_INFINITY
  #deadline: NodeJS.Timeout | undefined
  #progress: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(progressLimitMs: number | undefined, owner: ClockOwner) {
    this.#progressLimitMs = progressLimitMs
    this.#owner = owner
  }

  /** The lease may be over, and nobody knows: no beat got through in time (C6). */
  get isAtRisk(): boolean {
    return this.#isAtRisk
  }

  /** The lease was granted or extended just now. */
  renewLease(leaseMs: number): void {
    this.#leaseEndsAtMs = performance.now() + leaseMs
    // The answer took longer than the lease that it tells of.
    if (leaseMs <= 0) return
    this.#isSuspect = false
    this.#isAtRisk = false
  }

  /** One timer of the worker looks at all jobs, instead of one for each. */
  look(nowMs: number): void {
    if (nowMs > this.#deadlineAtMs - NEAR_MS) this.#startDeadline()
    this.#lookAtLease(nowMs)
  }

  #lookAtLease(nowMs: number): void {
    if (this.#hasEnded || this.#isAtRisk || nowMs < this.#leaseEndsAtMs - LOOK_MS) return
    // After a blocked event loop the answers of beats that got through are read first: the next look decides.
    if (this.#isSuspect) {
      this.#isAtRisk = true
      this.#owner.tellRisk()
    }
    this.#isSuspect = true
  }

  /** `agoMs`: since it was asked for, so that the database never has an earlier one (C5). */
  setDeadline(deadlineMs: number | null, agoMs: number): void {
    clearTimeout(this.#deadline)
    const leftMs = deadlineMs === null ? Number.POSITIVE_INFINITY : deadlineMs - agoMs
    this.#deadlineAtMs = performance.now() + leftMs
    if (leftMs < NEAR_MS) this.#startDeadline()
  }

  #startDeadline(): void {
    if (this.#hasEnded) return
    const leftMs = this.#deadlineAtMs - performance.now()
    this.#deadlineAtMs = Number.POSITIVE_INFINITY
    this.#deadline = setTimeout(() => this.#owner.abort('deadline'), leftMs)
  }

  restartProgress(): void {
    // A handler that was given up may go on and call it.
    if (this.#hasEnded || this.#progressLimitMs === undefined) return
    clearTimeout(this.#progress)
    this.#progress = setTimeout(() => this.#owner.abort('no-progress'), this.#progressLimitMs)
  }

  startGrace(graceMs: number, giveUp: () => void): void {
    this.#grace = setTimeout(giveUp, graceMs)
  }

  end(): void {
    this.#hasEnded = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#progress)
    clearTimeout(this.#grace)
  }
}
