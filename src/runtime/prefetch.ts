// Jobs that were claimed before there is a slot for them, so that short jobs do not wait for the database one round trip
// each. No more than will start in a moment at the pace of late, and what has waited longer goes back: a worker whose jobs
// suddenly take long must not sit on jobs that others could run.

/** How far ahead is claimed, in time, beside the time that claims take. */
const AHEAD_MS = 50
/** What three statements bring: while two are under way, those of the one before are worked off. */
const MOST = 3_000
/** What has waited this long goes back. */
export const STALE_MS = 500
/** Between two looks at the pace, in working time; shorter ones would see chance, unless they saw several jobs. */
const LOOK_MS = 10
const SEVERAL = 10
/** No clock tells less. */
const LEAST_MS = 0.01
/** Of what was seen: a few short jobs are no reason to claim thousands. */
const GROWTH = 16

export class Prefetch {
  /** In working time: how many would end in a millisecond if there were always one more. */
  #pacePerMs = 0
  #seen = 0
  #ended = 0
  #workedMs = 0
  #workingSinceMs: number | null = null
  #restingSinceMs = performance.now()
  #claimMs = 0

  /** A job has a slot, after a time in which none had. After a longer one there may be other jobs: what was is forgotten. */
  noteWork(): void {
    if (this.#workingSinceMs !== null) return
    const nowMs = performance.now()
    this.#workingSinceMs = nowMs
    if (nowMs - this.#restingSinceMs < STALE_MS) return
    this.#pacePerMs = 0
    this.#ended = 0
    this.#workedMs = 0
  }

  /** No job has a slot. */
  noteRest(): void {
    this.#workedMs += this.#sinceMs()
    this.#workingSinceMs = null
    this.#restingSinceMs = performance.now()
  }

  /** A job has ended. */
  noteEnd(): void {
    this.#ended++
  }

  noteClaim(durationMs: number): void {
    this.#claimMs = (this.#claimMs + durationMs) / 2
  }

  /** How many jobs may wait for a slot: enough to keep the slots busy while the next claim is under way. */
  size(): number {
    const workedMs = this.#workedMs + this.#sinceMs()
    if (workedMs >= LOOK_MS || this.#ended >= SEVERAL) this.#look(workedMs)
    const aheadMs = Math.min(AHEAD_MS + 3 * this.#claimMs, STALE_MS / 2)
    return Math.min(MOST, GROWTH * this.#seen, Math.floor(this.#pacePerMs * aheadMs))
  }

  #look(workedMs: number): void {
    const pacePerMs = this.#ended / Math.max(workedMs, LEAST_MS)
    // A faster pace counts at once, for a worker that claims too little never gets to it; a slower one by half, so that a
    // change is noticed soon and chance is not followed.
    this.#pacePerMs = Math.max(pacePerMs, (this.#pacePerMs + pacePerMs) / 2)
    this.#seen = Math.max(this.#ended, this.#seen / 2)
    this.#ended = 0
    this.#workedMs = 0
    if (this.#workingSinceMs !== null) this.#workingSinceMs = performance.now()
  }

  #sinceMs(): number {
    return this.#workingSinceMs === null ? 0 : performance.now() - this.#workingSinceMs
  }
}
