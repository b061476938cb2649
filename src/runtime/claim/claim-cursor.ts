// Where the last claims got to, so that the next one starts there. Index entries of claimed jobs stay until vacuum removes
// them, and an open transaction keeps vacuum from doing so: claims from the start would walk past all of them and slow down
// with every job done. Jobs that a cursor skips, such as one retried by an operator or one whose transaction committed late,
// are found by the next claim from the start, which a hint hastens.
import type { ClaimedJob } from '../../job/lease.ts'
import { timing } from '../timing/timing.ts'

/** Interval between claims from the start, in a busy worker, */
const RESTART_MS = 1_000
/** or this many times as long as such a claim takes: it walks past what vacuum may not remove, 150 ms for 400,000 jobs. */
const RESTART_RATIO = 20
/** Longest interval: skipped jobs wait for this long at most. */
const MOST_RESTART_MS = 5_000
/** The same after a claim from the cursor found nothing. */
const EMPTY_RESTART_MS = 250

/** By queue and priority, the creation time of the newest job claimed; empty at the start. */
type Position = Map<string, Map<number, Date>>

export class ClaimCursor {
  #position: Position = new Map()
  #restartedAtMs = Number.NEGATIVE_INFINITY
  #restartMs = RESTART_MS
  /** A hint came since the start of the last claim from the beginning. */
  #isHinted = false
  /** A hint came, and a claim from the position has found nothing. */
  #isDoubted = false

  /** Where the next claim starts. */
  position(): Position {
    if (this.#isOlderThan(this.#isDoubted ? EMPTY_RESTART_MS : this.#restartMs)) return this.#restart()
    if (this.#position.size === 0) this.#isHinted = false
    return this.#position
  }

  /** There is a job: if none is found from the position on, it lies before it. */
  noteHint(): void {
    this.#isHinted = true
  }

  /** Time until a claim may look before the position for an announced job; infinite if there is none, or it may do so now. */
  restartInMs(): number {
    const inMs = this.#restartedAtMs + EMPTY_RESTART_MS - timing.nowMs()
    return this.#isDoubted && inMs > 0 ? inMs + 1 : Number.POSITIVE_INFINITY
  }

  /** Where to look again after a claim from `from` found nothing; null if there is nothing else, or it was looked at recently. */
  rewind(from: Position): Position | null {
    if (from.size === 0) return null
    if (this.#isOlderThan(EMPTY_RESTART_MS)) return this.#restart()
    this.#isDoubted = this.#isHinted
    return null
  }

  /** How long a claim from this position took. */
  noteDuration(from: Position, durationMs: number): void {
    if (from.size === 0)
      this.#restartMs = Math.min(Math.max(RESTART_MS, RESTART_RATIO * durationMs), MOST_RESTART_MS)
  }

  /**
   * Moves the position that a claim started from past its jobs. If another claim has restarted meanwhile, that position is no
   * longer in use. A job is due at its creation or later, so its creation time skips nothing that becomes due after it.
   */
  advance(from: Position, jobs: ClaimedJob[]): void {
    for (const { queue, priority, createdAt } of jobs) {
      const times = from.get(queue) ?? new Map<number, Date>()
      from.set(queue, times)
      const known = times.get(priority)
      if (known === undefined || known < createdAt) times.set(priority, createdAt)
    }
  }

  #isOlderThan(ms: number): boolean {
    return timing.nowMs() - this.#restartedAtMs > ms
  }

  #restart(): Position {
    this.#position = new Map()
    this.#restartedAtMs = timing.nowMs()
    this.#isHinted = false
    this.#isDoubted = false
    return this.#position
  }
}
