import type { AccessStore } from '../../store/access-store.ts'

const FRESH_MS = 10_000

/** Database time without a query per answer: the last reading plus the monotonic clock. */
export class DatabaseClock {
  readonly #access: AccessStore
  #reading: { nowMs: number; atMs: number } | undefined
  #asking: Promise<Date> | undefined

  constructor(access: AccessStore) {
    this.#access = access
  }

  async now(): Promise<Date> {
    const reading = this.#reading
    if (reading !== undefined && performance.now() - reading.atMs < FRESH_MS)
      return new Date(reading.nowMs + performance.now() - reading.atMs)
    // Concurrent callers share one query.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<Date> {
    const { now } = await this.#access.readClock()
    this.#reading = { nowMs: now.getTime(), atMs: performance.now() }
    return now
  }
}
