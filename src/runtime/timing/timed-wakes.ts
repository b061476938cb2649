import { type Timer, timing } from './timing.ts'

export interface TimedWakesOptions {
  /** Wakes of one slot are one. */
  slotMs: number
  marginMs: number
}

/**
 * An idle worker of a large fleet claims at most five times a second for jobs that become due. Timers may fire a millisecond
 * early, and the database's clock may run slower.
 */
const forDueJobs: TimedWakesOptions = { slotMs: 200, marginMs: 10 }
/** Later ones are left to polling, as `send_job_hint.sql` does; it bounds the number of timers. */
const FARTHEST_MS = 600_000

/** Wakes at given times, never early. */
export class TimedWakes {
  readonly #wake: () => void
  readonly #options: TimedWakesOptions
  readonly #timers = new Map<number, Timer>()
  #isCleared = false

  constructor(wake: () => void, options = forDueJobs) {
    this.#wake = wake
    this.#options = options
  }

  add(inMs: number): void {
    const { slotMs, marginMs } = this.#options
    const nowMs = timing.nowMs()
    const slot = Math.ceil((nowMs + inMs + marginMs) / slotMs)
    if (this.#isCleared || inMs > FARTHEST_MS || this.#timers.has(slot)) return
    const wake = () => {
      this.#timers.delete(slot)
      this.#wake()
    }
    this.#timers.set(slot, timing.setTimeout(wake, Math.ceil(slot * slotMs - nowMs)))
  }

  /** No wake follows. */
  clear(): void {
    this.#isCleared = true
    for (const timer of this.#timers.values()) timing.clearTimeout(timer)
    this.#timers.clear()
  }
}
