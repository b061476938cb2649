// Keeps a pool small: a call opens another connection only if those that are open stay busy. pg's pool opens one for every call
// that finds none idle, so that the burst of a start, or two short statements at once, leave a fleet with connections that
// nobody uses. A connection that is rarely needed is not used any more, even before it is closed: the server prepares each
// statement for each connection, which takes as long as dozens of calls.

/** A statement is usually over by then; it takes as long to prepare those of another connection. */
const PATIENCE_MS = 25
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
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        sinceMs: performance.now(),
        timer: setTimeout(() => this.#lookAt(waiting), PATIENCE_MS),
        enter: resolve,
      }
      this.#waiting.push(waiting)
    })
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
    const [next] = this.#waiting.splice(0, 1)
    if (next === undefined) return
    clearTimeout(next.timer)
    this.#begin()
    next.enter()
  }
}
