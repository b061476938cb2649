// Jobs that were claimed before there is a slot for them, so that short jobs do not wait for the database one round trip
// each. No more than will start in a moment at the pace of late, and what has waited longer goes back: a worker whose jobs
// suddenly take long must not sit on jobs that others could run.

/** How far ahead is claimed, in time, beside the time that claims take. */
const AHEAD_MS = 50
/** What three statements bring: while two are under way, those of the one before are worked off. */
const MOST = 3_000
/** What has waited this long goes back. */
export const STALE_MS = 500
/** Between two looks at the pace; shorter ones would see chance. */
const LOOK_MS = 10

export class Prefetch {
  #pacePerMs = 0
  #ended = 0
  #lookedAtMs = performance.now()
  #claimMs = 0

  /** A job has ended. */
  noteEnd(): void {
    this.#ended++
  }

  noteClaim(durationMs: number): void {
    this.#claimMs = (this.#claimMs + durationMs) / 2
  }

  /** How many jobs may wait for a slot: enough to keep the slots busy while the next claim is under way. */
  size(): number {
    const elapsedMs = performance.now() - this.#lookedAtMs
    if (elapsedMs >= LOOK_MS) {
      const pacePerMs = this.#ended / elapsedMs
      // A faster pace counts at once, for a worker that claims too little never gets to it; a slower one by half, so that a
      // pause is noticed soon and chance is not followed.
      this.#pacePerMs = Math.max(pacePerMs, (this.#pacePerMs + pacePerMs) / 2)
      this.#ended = 0
      this.#lookedAtMs += elapsedMs
    }
    const aheadMs = Math.min(AHEAD_MS + 3 * this.#claimMs, STALE_MS / 2)
    return Math.min(MOST, Math.floor(this.#pacePerMs * aheadMs))
  }
}
