import { UnstuckError } from '../../../src/errors/index.ts'
import type { Loop, VirtualTime } from '../world/virtual-time.ts'

/** A client's end of the network, as faults see it. */
export interface Route {
  loop: Loop
  /** The name of the process. */
  owner: string
  /** The heartbeat thread has connections of its own. */
  kind: 'main' | 'heartbeat' | 'presence'
  timeoutMs: number
}

/** One call of a client, until it is answered, fails or takes too long. */
export class Call {
  readonly route: Route
  isOver = false
  readonly #resolve: (answer: unknown) => void
  readonly #reject: (error: unknown) => void
  readonly #onFailed: (reason: string) => void
  readonly #timeout: { isCancelled: boolean }

  constructor(
    time: VirtualTime,
    route: Route,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
    onFailed: (reason: string) => void,
  ) {
    this.route = route
    this.#resolve = resolve
    this.#reject = reject
    this.#onFailed = onFailed
    this.#timeout = time.after(route.timeoutMs, route.loop, () =>
      this.fail('no answer in time', 'DATABASE_TIMEOUT'),
    )
  }

  answer(answer: unknown): void {
    this.#end()
    this.#resolve(answer)
  }

  refuse(error: unknown): void {
    this.#end()
    this.#reject(error)
  }

  fail(reason: string, code: 'DATABASE_UNREACHABLE' | 'DATABASE_TIMEOUT' = 'DATABASE_UNREACHABLE'): void {
    if (this.isOver) return
    this.#end()
    this.#onFailed(reason)
    this.#reject(new UnstuckError(code, reason))
  }

  #end(): void {
    this.isOver = true
    this.#timeout.isCancelled = true
  }
}
