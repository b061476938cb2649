// Keeps a pool small: a call opens another connection only if those that are open stay busy. pg's pool opens one for every call
// that finds none idle, so that the burst of a start, or two short statements at once, leave a fleet with connections that
// nobody uses. A connection that is rarely needed is not used any more, even before it is closed: the server prepares each
// statement for each connection, which takes as long as dozens of calls.

/**
 * How long calls may wait within PATIENCE_WINDOW_MS before another connection is used. It takes as long to prepare the statements
 * of another connection. One call that waits this long shows a need, and so do many short waits: a claim of 20 ms that delays
 * each completion would otherwise halve the throughput of a worker.
 */
const PATIENCE_MS = 25
const PATIENCE_WINDOW_MS = 250
/** Connecting takes longer, and the connection then serves all that wait. */
const CONNECTING_PATIENCE_MS = 1_000
/** The last connection stays in use if all were busy for this share of the time: the others would delay one call in fifty. */
const NEEDED_SHARE = 0.02
const LEAST_USE_MS = 1_000

interface Waiting {
  sinceMs: number
  timer: NodeJS.Timeout
  enter: () => void
}

export class CallGate {
  readonly #most: number
  /** Waiting calls, the oldest first. */
  readonly #waiting: Waiting[] = []
  #open = 1
  #connected = 0
  #running = 0
  /** Start of the time over which the use of the last connection is measured. */
  #sinceMs = 0
  #busyMs = 0
  #allBusySinceMs = 0
  /** Start of the time over which waits are added up, their sum, and up to when they are in it. */
  #windowSinceMs = 0
  #waitedMs = 0
  #waitedUntilMs = 0

  /** `most` connections may be open; calls beyond that wait in the pool. */
  constructor(most: number) {
    this.#most = most
  }

  noteConnected(): void {
    this.#connected++
  }

  noteClosed(): void {
    this.#connected = Math.max(0, this.#connected - 1)
    this.#use(Math.max(1, Math.min(this.#open, this.#connected)))
  }

  async pass<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running === 0 && this.#open > 1) this.#review()
    if (this.#running >= this.#open && this.#open < this.#most) await this.#wait()
    else this.#begin()
    try {
      return await call()
    } finally {
      if (this.#running-- === this.#open) this.#busyMs += performance.now() - this.#allBusySinceMs
      if (this.#running < this.#open) this.#admit()
    }
  }

  #begin(): void {
    if (++this.#running === this.#open) this.#allBusySinceMs = performance.now()
  }

  #review(): void {
    const elapsedMs = performance.now() - this.#sinceMs
    if (elapsedMs >= LEAST_USE_MS)
      this.#use(this.#busyMs < elapsedMs * NEEDED_SHARE ? this.#open - 1 : this.#open)
  }

  #use(connections: number): void {
    this.#open = connections
    this.#sinceMs = performance.now()
    this.#busyMs = 0
    this.#waitedMs = 0
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const sinceMs = performance.now()
      if (this.#waiting.length === 0) this.#beginWaits(sinceMs)
      const patienceMs = Math.max(0, PATIENCE_MS - this.#waitedMs)
      const waiting: Waiting = {
        sinceMs,
        timer: setTimeout(() => this.#lookAt(waiting), patienceMs),
        enter: resolve,
      }
      this.#waiting.push(waiting)
    })
  }

  #beginWaits(nowMs: number): void {
    this.#waitedUntilMs = nowMs
    if (nowMs - this.#windowSinceMs < PATIENCE_WINDOW_MS) return
    this.#windowSinceMs = nowMs
    this.#waitedMs = 0
  }

  /** Calls that wait at the same time count once. */
  #addWaits(): void {
    const nowMs = performance.now()
    this.#waitedMs += nowMs - this.#waitedUntilMs
    this.#waitedUntilMs = nowMs
  }

  #lookAt(waiting: Waiting): void {
    const isConnecting = this.#connected < this.#open
    const isFull = this.#open === this.#most
    const isPatient = isConnecting && !isFull && performance.now() - waiting.sinceMs < CONNECTING_PATIENCE_MS
    if (!isPatient) {
      this.#use(Math.min(this.#most, this.#open + 1))
      this.#admit()
    }
    if (this.#waiting.includes(waiting)) waiting.timer = setTimeout(() => this.#lookAt(waiting), PATIENCE_MS)
  }

  #admit(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    clearTimeout(next.timer)
    this.#addWaits()
    this.#begin()
    next.enter()
  }
}
