// How many jobs a worker claims ahead of its free slots, so that short jobs do not cost a round trip each. A job that would not
// start soon is not claimed: holding it keeps it from idle workers, and releasing it costs two more writes.
import { timing } from '../timing/timing.ts'

/** Prefetched jobs should start within this time plus the duration of three claims. */
const SOON_MS = 50
/** Longer jobs may wait for this share of the time that they take, */
const SOON_SHARE = 0.25
/** but not for longer than this: 25 slow jobs in 100 slots are then claimed by one statement, and not by six. */
const SOON_MOST_MS = 250
/** Even if claims are slow, prefetched jobs should start within this time. */
const LATEST_MS = 500
/** Two claims of the largest size: while one is in flight, the jobs of the other are worked off. */
const MOST = 4_000
/** Limit per recently started job: a few short jobs are no reason to claim thousands. */
const GROWTH = 8
/** A slot may stay empty, and a result unwritten, for this share of the time that a job takes, */
const GATHER_SHARE = 0.02
/** a result for a larger one if a call then writes this many: a slot is free before its result is written. */
const RESULT_SHARE = 0.4
const WORTHWHILE_RESULTS = 16
/** but not for longer, so that jobs that end together are replaced by one claim. */
const MOST_GATHER_MS = 20
/** Half-life of observations. */
const HALF_LIFE_MS = 500
/** Avoids a division by zero for handlers that return at once. */
const LEAST_MS = 0.01

export class Prefetch {
  readonly #slots: number
  #handling = 0
  /** Handlers that returned recently, and the time spent in handlers, summed over all slots. Both decay. */
  #ended = 0
  #slotMs = 0
  #decayedAtMs = timing.nowMs()
  #changedAtMs = timing.nowMs()
  /** Handlers started since `#countedFromMs`, and in the interval before. */
  #started = 0
  #startedBefore = 0
  #countedFromMs = timing.nowMs()
  #claimMs = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /** A handler starts. */
  noteStart(): void {
    this.#passTime()
    this.#handling++
    this.#started++
  }

  /** A handler has returned or lost its slot. */
  noteEnd(): void {
    this.#passTime()
    this.#handling--
    this.#ended++
  }

  noteClaim(durationMs: number): void {
    this.#claimMs = (this.#claimMs + durationMs) / 2
  }

  /** How many jobs may wait for a slot. */
  size(): number {
    this.#passTime()
    const patienceMs = Math.min(SOON_MOST_MS, SOON_SHARE * this.#jobMs)
    const soonMs = Math.min(Math.max(SOON_MS, patienceMs) + 3 * this.#claimMs, LATEST_MS)
    // Slot time per job, not jobs ended per millisecond: slow jobs that were claimed together also end together, and would look
    // fast at that moment. Running handlers are assumed to need this much longer, since in a mix the short ones end first.
    const slotMs = Math.max(LEAST_MS, this.#slotMs + this.#handling * soonMs)
    const byDuration = (this.#slots * soonMs * this.#ended) / slotMs
    // A first job that is short says little of the next ones: a worker of one slot claimed eight of a second each after it.
    const byEvidence = Math.min(GROWTH * this.#startedWithin(soonMs), this.#ended ** 2)
    return Math.floor(Math.min(MOST, byEvidence, byDuration))
  }

  /** How long to wait for the end of other jobs, before those that have ended are replaced. */
  gatherMs(): number {
    this.#passTime()
    return this.#handling === 0 ? 0 : Math.min(MOST_GATHER_MS, this.#jobMs * GATHER_SHARE)
  }

  /** The same, before their results are written. */
  gatherResultsMs(): number {
    const leastMs = this.gatherMs()
    const mostMs = Math.min(MOST_GATHER_MS, this.#jobMs * RESULT_SHARE)
    return (this.#handling * mostMs) / this.#jobMs >= WORTHWHILE_RESULTS ? mostMs : leastMs
  }

  /** The time that a job takes. */
  get #jobMs(): number {
    return this.#slotMs / Math.max(1, this.#ended)
  }

  /** Reacts to conditions that durations show late or never: slow jobs in all slots, unwritten results, a busy machine. */
  #startedWithin(soonMs: number): number {
    const elapsedMs = this.#changedAtMs - this.#countedFromMs
    if (elapsedMs >= soonMs) {
      this.#startedBefore = (this.#started * soonMs) / elapsedMs
      this.#started = 0
      this.#countedFromMs = this.#changedAtMs
    }
    return Math.max(this.#started, this.#startedBefore)
  }

  #passTime(): void {
    const nowMs = timing.nowMs()
    const elapsedMs = nowMs - this.#decayedAtMs
    if (elapsedMs >= HALF_LIFE_MS) {
      const weight = 0.5 ** (elapsedMs / HALF_LIFE_MS)
      this.#ended *= weight
      this.#slotMs *= weight
      this.#decayedAtMs = nowMs
    }
    this.#slotMs += this.#handling * (nowMs - this.#changedAtMs)
    this.#changedAtMs = nowMs
  }
}
