// The clocks of one attempt that this process keeps itself: lease, deadline, progress (LEASE-8), and the grace after an abort.
import type { AbortCause } from './handler.ts'

const ANSWERS_MS = 20

export class JobClocks {
  readonly #progressLimitMs: number | undefined
  readonly #abort: (cause: AbortCause) => void
  readonly #tellRisk: () => void
  #lease: NodeJS.Timeout | undefined
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
    clearTimeout(this.#lease)
    this.#isAtRisk = false
    if (this.#hasEnded || leaseMs >= 2 ** 31) return
    this.#lease = setTimeout(() => {
      // After a blocked event loop the answers of beats that got through are read first.
      this.#lease = setTimeout(() => {
        this.#isAtRisk = true
        this.#tellRisk()
      }, ANSWERS_MS)
    }, leaseMs)
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
    clearTimeout(this.#lease)
    clearTimeout(this.#deadline)
    clearTimeout(this.#progress)
    clearTimeout(this.#grace)
  }
}
