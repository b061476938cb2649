// The clocks of one attempt: lease, deadline, progress (LEASE-8), and the grace after an abort.

import { type Timer, timing } from '../timing/timing.ts'
import type { AbortCause } from './handler.ts'

export interface ClockOwner {
  abort(cause: AbortCause): void
  /** The lease may have expired: no heartbeat was answered in time. */
  emitAtRisk(): void
}

/** A lease is looked at so long before its end, and again after this time. */
const LOOK_MS = 100
/** A nearer deadline gets its own timer: few jobs get there. */
const NEAR_MS = 1_000

export class JobClocks {
  readonly #progressLimitMs: number | undefined
  readonly #owner: ClockOwner
  #leaseEndsAtMs = Number.POSITIVE_INFINITY
  /** When a look found that it ends soon. */
  #suspectAtMs: number | undefined
  #isAtRisk = false
  #deadlineAtMs = Number.POSITIVE_INFINITY
  #deadline: Timer | undefined
  #progress: Timer | undefined
  #grace: Timer | undefined
  #hasEnded = false

  constructor(progressLimitMs: number | undefined, owner: ClockOwner) {
    this.#progressLimitMs = progressLimitMs
    this.#owner = owner
  }

  /** The lease may have expired: no heartbeat was answered in time (C6). */
  get isAtRisk(): boolean {
    return this.#isAtRisk
  }

  /** The lease was granted or extended just now. Returns whether it ends earlier than before. */
  renewLease(leaseMs: number): boolean {
    const endsAtMs = timing.nowMs() + leaseMs
    const isShorter = endsAtMs < this.#leaseEndsAtMs
    this.#leaseEndsAtMs = endsAtMs
    // The answer took longer than the lease it granted.
    if (leaseMs <= 0) return isShorter
    this.#suspectAtMs = undefined
    this.#isAtRisk = false
    return isShorter
  }

  /** The lease may be taken away before it ends (LEASE-10). */
  putAtRisk(): void {
    if (this.#hasEnded || this.#isAtRisk) return
    this.#isAtRisk = true
    this.#owner.emitAtRisk()
  }

  /** Returns when the next look is needed, if neither lease nor deadline becomes shorter. */
  look(nowMs: number): number {
    if (this.#hasEnded) return Number.POSITIVE_INFINITY
    if (nowMs >= this.#deadlineAtMs - NEAR_MS) this.#startDeadline()
    return Math.min(this.#deadlineAtMs - NEAR_MS, this.#lookAtLease(nowMs))
  }

  #lookAtLease(nowMs: number): number {
    const nearMs = this.#leaseEndsAtMs - LOOK_MS
    if (nowMs < nearMs) return nearMs
    // After a blocked event loop, let pending heartbeat answers be read first: the next look decides.
    this.#suspectAtMs ??= nowMs
    if (nowMs >= this.#suspectAtMs + LOOK_MS) this.putAtRisk()
    return this.#isAtRisk ? nowMs + LOOK_MS : this.#suspectAtMs + LOOK_MS
  }

  /** `agoMs` is the time since the call was sent: the database's deadline is never earlier than this one (C5). */
  setDeadline(deadlineMs: number | null, agoMs: number): void {
    timing.clearTimeout(this.#deadline)
    const leftMs = deadlineMs === null ? Number.POSITIVE_INFINITY : deadlineMs - agoMs
    this.#deadlineAtMs = timing.nowMs() + leftMs
    if (leftMs < NEAR_MS) this.#startDeadline()
  }

  #startDeadline(): void {
    if (this.#hasEnded) return
    const leftMs = this.#deadlineAtMs - timing.nowMs()
    this.#deadlineAtMs = Number.POSITIVE_INFINITY
    this.#deadline = timing.setTimeout(() => this.#owner.abort('deadline'), leftMs)
  }

  restartProgress(): void {
    // A handler that was given up may still call it.
    if (this.#hasEnded || this.#progressLimitMs === undefined) return
    timing.clearTimeout(this.#progress)
    this.#progress = timing.setTimeout(() => this.#owner.abort('no-progress'), this.#progressLimitMs)
  }

  startGrace(graceMs: number, onHung: () => void): void {
    this.#grace = timing.setTimeout(onHung, graceMs)
  }

  end(): void {
    this.#hasEnded = true
    timing.clearTimeout(this.#deadline)
    timing.clearTimeout(this.#progress)
    timing.clearTimeout(this.#grace)
  }
}
