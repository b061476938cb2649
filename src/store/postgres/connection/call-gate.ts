// Keeps a pool small: a call opens another connection only if those that are open stay busy. pg's pool opens one for every call
// that finds none idle, so that the burst of a start, or two short statements at once, leave a fleet with connections that
// nobody uses.

/** A statement is usually over by then. */
const PATIENCE_MS = 10
/** Connecting takes longer, and the connection then serves all that wait. */
const CONNECTING_PATIENCE_MS = 1_000

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

  /** `most` connections may be open; calls beyond that wait in the pool. */
  constructor(most: number) {
    this.#most = most
  }

  noteConnected(): void {
    this.#connected++
  }

  noteClosed(): void {
    this.#connected = Math.max(0, this.#connected - 1)
    this.#open = Math.max(1, this.#connected)
  }

  async pass<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#open && this.#open < this.#most) await this.#wait()
    else this.#running++
    try {
      return await call()
    } finally {
      this.#running--
      if (this.#running < this.#open) this.#admit()
    }
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
      this.#open = Math.min(this.#most, this.#open + 1)
      this.#admit()
    }
    if (this.#waiting.includes(waiting)) waiting.timer = setTimeout(() => this.#lookAt(waiting), PATIENCE_MS)
  }

  #admit(): void {
    const [next] = this.#waiting.splice(0, 1)
    if (next === undefined) return
    clearTimeout(next.timer)
    this.#running++
    next.enter()
  }
}
