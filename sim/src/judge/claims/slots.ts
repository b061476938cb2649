// A worker runs no more handlers than it has slots. One that it has given up keeps no slot, and one that has returned neither,
// although its result is not written yet.

export class Slots {
  readonly #most: number
  readonly #onViolation: (message: string) => void
  /** Leases whose handlers run, by worker. */
  readonly #running = new Map<string, Set<string>>()

  constructor(most: number, onViolation: (message: string) => void) {
    this.#most = most
    this.#onViolation = onViolation
  }

  noteStart(worker: string, lease: string): void {
    const running = this.#running.get(worker) ?? new Set()
    this.#running.set(worker, running.add(lease))
    if (running.size > this.#most)
      this.#onViolation(`${worker} runs ${running.size} handlers, and has ${this.#most} slots`)
  }

  isRunning(worker: string, lease: string): boolean {
    return this.#running.get(worker)?.has(lease) === true
  }

  /** It returned, or its attempt is over. */
  noteEnd(worker: string, lease: string): void {
    this.#running.get(worker)?.delete(lease)
  }
}
