/** Wakes of one slot are one: an idle worker of a large fleet claims at most five times a second for them. */
const SLOT_MS = 200
/** Timers may fire a millisecond early, and the database's clock may run slower. */
const MARGIN_MS = 10
/** Later ones are left to polling, as `send_due_hint.sql` does; it bounds the number of timers. */
const FARTHEST_MS = 600_000

/** Wakes at given times, never early. */
export class TimedWakes {
  readonly #wake: () => void
  readonly #timers = new Map<number, NodeJS.Timeout>()
  #isCleared = false

  constructor(wake: () => void) {
    this.#wake = wake
  }

  add(inMs: number): void {
    const nowMs = performance.now()
    const slot = Math.ceil((nowMs + inMs + MARGIN_MS) / SLOT_MS)
    if (this.#isCleared || inMs > FARTHEST_MS || this.#timers.has(slot)) return
    const wake = () => {
      this.#timers.delete(slot)
      this.#wake()
    }
    this.#timers.set(slot, setTimeout(wake, Math.ceil(slot * SLOT_MS - nowMs)))
  }

  /** No wake follows. */
  clear(): void {
    this.#isCleared = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}
