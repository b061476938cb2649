// How many jobs a worker claims before it has slots for them, so that short jobs do not cost a round trip each. A job that will
// not start soon is not claimed: holding it would keep it from idle workers, and giving it back costs two more writes.

/** Jobs claimed ahead should start within this time plus three claims, */
const SOON_MS = 50
/** and within this time if claims are slow. */
const LATEST_MS = 500
/** What three statements bring: while two are under way, the jobs of the one before are worked off. */
const MOST = 3_000
/** Limit per job started recently: a few short jobs are no reason to claim thousands. */
const GROWTH = 8
/** Observations lose half their weight in this time. */
const HALF_LIFE_MS = 500
/** Avoids a division by zero for handlers that return at once. */
const LEAST_MS = 0.01

export class Prefetch {
  readonly #slots: number
  #handling = 0
  /** Handlers that returned recently, and the time spent in handlers, summed over slots. Both decay. */
  #ended = 0
  #slotMs = 0
  #decayedAtMs = performance.now()
  #changedAtMs = performance.now()
  /** Handlers started since `#countedFromMs`, and in the interval before. */
  #started = 0
  #startedBefore = 0
  #countedFromMs = performance.now()
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

  /** A handler has returned, or its slot was taken from it. */
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
    const soonMs = Math.min(SOON_MS + 3 * this.#claimMs, LATEST_MS)
    // The time that slots spend per job, not the jobs that end per millisecond: slow jobs claimed together also end together,
    // and would look fast at that moment. Running handlers are assumed to need this much longer: in a mix the short ones end
    // first.
    const slotMs = Math.max(LEAST_MS, this.#slotMs + this.#handling * soonMs)
    const byDuration = (this.#slots * soonMs * this.#ended) / slotMs
    return Math.floor(Math.min(MOST, GROWTH * this.#startedWithin(soonMs), byDuration))
  }

  /** Reacts to what durations show late or not at all: slow jobs in all slots, results that wait for the database, a busy machine. */
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
    const nowMs = performance.now()
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
