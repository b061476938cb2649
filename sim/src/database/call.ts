import { UnstuckError } from '../../../src/errors/index.ts'
import type { Entry, Loop, VirtualTime } from '../world/virtual-time.ts'

/** A client's end of the network, as faults see it. */
export interface Route {
  loop: Loop
  /** The name of the process. */
  owner: string
  /** The heartbeat thread has connections of its own. */
  kind: 'main' | 'heartbeat' | 'presence' | 'listen'
  timeoutMs: number
}

export interface Caller {
  resolve(answer: unknown): void
  reject(error: unknown): void
  onFailed(reason: string): void
  onOver(): void
}

/** One call of a client, until it is answered, fails or takes too long. */
export class Call {
  readonly route: Route
  readonly sentAtMs: number
  isOver = false
  readonly #caller: Caller
  readonly #timeout: Entry

  constructor(time: VirtualTime, route: Route, caller: Caller) {
    this.route = route
    this.sentAtMs = time.localMs
    this.#caller = caller
    this.#timeout = time.after(route.timeoutMs, route.loop, () =>
      this.fail('no answer in time', 'DATABASE_TIMEOUT'),
    )
  }

  answer(answer: unknown): void {
    this.#end()
    this.#caller.resolve(answer)
  }

  refuse(error: unknown): void {
    this.#end()
    this.#caller.reject(error)
  }

  fail(reason: string, code: 'DATABASE_UNREACHABLE' | 'DATABASE_TIMEOUT' = 'DATABASE_UNREACHABLE'): void {
    if (this.isOver) return
    this.#end()
    this.#caller.onFailed(reason)
    this.#caller.reject(new UnstuckError(code, reason))
  }

  #end(): void {
    this.isOver = true
    this.#timeout.cancel()
    this.#caller.onOver()
  }
}
