import type { RegisteredHandler } from '../attempt/handler.ts'

/** Claimed jobs by type, for handlers that run few at a time in this process. */
export class HandlerSlots {
  readonly #taken = new Map<string, number>()

  take(type: string): void {
    this.#taken.set(type, (this.#taken.get(type) ?? 0) + 1)
  }

  free(type: string): void {
    this.#taken.set(type, Math.max(0, (this.#taken.get(type) ?? 0) - 1))
  }

  /** How many more jobs of this handler may be claimed; infinite without a limit. */
  left({ type, concurrency }: Pick<RegisteredHandler, 'type' | 'concurrency'>): number {
    if (concurrency === undefined) return Number.POSITIVE_INFINITY
    return Math.max(0, concurrency - (this.#taken.get(type) ?? 0))
  }
}
