import type { AccessStore } from '../../store/access-store.ts'

const FRESH_MS = 10_000

/** The database's time without a query for every answer: a reading, and the monotonic clock since. */
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
    // One question for all who need it at this moment: fifty streams would ask fifty times.
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
