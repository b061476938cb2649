// The clocks of one attempt that this process keeps itself: deadline, progress, and the grace after an abort (LEASE-8).
import type { AbortCause } from './handler.ts'

export class JobClocks {
  readonly #progressLimitMs: number | undefined
  readonly #abort: (cause: AbortCause) => void
  #deadline: NodeJS.Timeout | undefined
  #progress: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(progressLimitMs: number | undefined, abort: (cause: AbortCause) => void) {
    this.#progressLimitMs = progressLimitMs
    this.#abort = abort
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
