// The handlers of a worker in groups that one statement claims together, by what their limits leave.
import type { RegisteredHandler } from '../attempt/handler.ts'
import type { TokenLimiter } from '../limits/token-limiter.ts'
import { type ClaimGroup, groupTypes } from './claim-plan.ts'
import type { HandlerSlots } from './handler-slots.ts'

export class ClaimGroups<Tx> {
  readonly #handlers: readonly RegisteredHandler<Tx>[]
  readonly #limiter: TokenLimiter
  readonly #slots: HandlerSlots
  /** The only group if no handler has a limit: an idle worker need not make it anew with every claim. */
  readonly #everything: ClaimGroup[] | undefined
  #rounds = 0

  constructor(handlers: readonly RegisteredHandler<Tx>[], limiter: TokenLimiter, slots: HandlerSlots) {
    this.#handlers = handlers
    this.#limiter = limiter
    this.#slots = slots
    const hasLimit = handlers.some(
      ({ limits = [], concurrency }) => limits.length > 0 || concurrency !== undefined,
    )
    if (!hasLimit && handlers.length > 0) this.#everything = this.#group()
  }

  /** Groups of the next claim. */
  next(): ClaimGroup[] {
    return this.#everything ?? this.#group()
  }

  /** Time until a type without tokens gets one; infinite if none lacks any. */
  tokenInMs(): number {
    if (this.#everything !== undefined) return Number.POSITIVE_INFINITY
    const waitsMs = this.#handlers.map(({ type }) => this.#limiter.allowance(type).retryInMs)
    return Math.min(Number.POSITIVE_INFINITY, ...waitsMs.filter((waitMs) => waitMs > 0))
  }

  #group(): ClaimGroup[] {
    const types = this.#handlers.map(({ type, queue = type, dependency, concurrency }) => ({
      type,
      queue,
      allowance: Math.min(this.#limiter.allowance(type).jobs, this.#slots.left({ type, concurrency })),
      hasDependency: dependency !== undefined,
    }))
    return groupTypes(types, this.#rounds++)
  }
}
