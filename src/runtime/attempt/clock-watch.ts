// One timer of a worker for the clocks of its jobs, instead of one for each job. It fires when the first of them needs a look.
import { type Timer, timing } from '../timing/timing.ts'

/** A timer of Node fires at once if it is set for over 24 days. */
const LONGEST_MS = 3_600_000

export interface Watched {
  /** Detects a lease that may have expired (C6) and a deadline that is near. Returns when to look again. */
  lookAtClocks(nowMs: number): number
}

export class ClockWatch {
  readonly #running: Iterable<Watched>
  #timer: Timer | undefined
  #atMs = Number.POSITIVE_INFINITY

  constructor(running: Iterable<Watched>) {
    this.#running = running
  }

  /** To call for a new attempt, and when its lease or deadline may have become shorter. */
  add(attempt: Watched): void {
    const nowMs = timing.nowMs()
    this.#lookBy(attempt.lookAtClocks(nowMs), nowMs)
  }

  stop(): void {
    timing.clearTimeout(this.#timer)
    this.#atMs = Number.POSITIVE_INFINITY
  }

  #lookBy(atMs: number, nowMs: number): void {
    if (atMs >= this.#atMs) return
    timing.clearTimeout(this.#timer)
    this.#atMs = atMs
    this.#timer = timing.setTimeout(() => this.#look(), Math.min(atMs - nowMs, LONGEST_MS))
  }

  #look(): void {
    const nowMs = timing.nowMs()
    this.#atMs = Number.POSITIVE_INFINITY
    let atMs = Number.POSITIVE_INFINITY
    for (const attempt of this.#running) atMs = Math.min(atMs, attempt.lookAtClocks(nowMs))
    this.#lookBy(atMs, nowMs)
  }
}
