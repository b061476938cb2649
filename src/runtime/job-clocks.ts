// The clocks of one attempt that this process keeps itself: lease, deadline, progress (LEASE-8), and the grace after an abort.
import type { AbortCause } from './handler.ts'

/** Between two looks at the leases of a worker. */
export const LOOK_MS = 100

export class JobClocks {
  readonly #progressLimitMs: number | undefined
  readonly #abort: (cause: AbortCause) => void
  readonly #tellRisk: () => void
  #leaseEndsAtMs = Number.POSITIVE_INFINITY
  #isSuspect = false
  #isAtRisk = false
  #deadline: NodeJS.Timeout | undefined
  #progress: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(progressLimitMs: number | undefined, abort: (cause: AbortCause) => void, tellRisk: () => void) {
    this.#progressLimitMs = progressLimitMs
    this.#abort = abort
    this.#tellRisk = tellRisk
  }

  /** The lease may be over, and nobody knows: no beat got through in time (C6). */
  get isAtRisk(): boolean {
    return this.#isAtRisk
  }

  /** The lease was granted or extended just now. */
  renewLease(leaseMs: number): void {
    this.#leaseEndsAtMs = performance.now() + leaseMs
    this.#isSuspect = false
    this.#isAtRisk = false
  }

  /** One timer of the worker looks at all jobs, instead of one for each. */
  lookAtLease(nowMs: number): void {
    if (this.#hasEnded || this.#isAtRisk || nowMs < this.#leaseEndsAtMs - LOOK_MS) return
    // After a blocked event loop the answers of beats that got through are read first: the next look decides.
    if (this.#isSuspect) {
      this.#isAtRisk = true
      this.#tellRisk()
    }
    this.#isSuspect = true
  }

  setDeadline(deadlineMs: number | null): void {
    clearTimeout(this.#deadline)
    // A timer holds 24 days at most; past that the heartbeat's answer tells.
    if (!this.#hasEnded && deadlineMs !== null && deadlineMs < 2 ** 31) {
      this.#deadline = setTimeout(() => this.#abort('deadline'), deadlineMs)
    }
  }

  restartProgress(): void {
    // A handler that was given up may go on and call it.
    if (this.#hasEnded || this.#progressLimitMs === undefined) return
    clearTimeout(this.#progress)
    this.#progress = setTimeout(() => this.#abort('no-progress'), this.#progressLimitMs)
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
