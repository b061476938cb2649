// How late the main thread answers the heartbeat thread: the lag of its event loop.
import { timing } from '../timing/timing.ts'
import type { FromThread } from './thread-heartbeat.ts'

export interface MainThreadLagOptions {
  intervalMs: number
  send: (message: FromThread) => void
}

/** A lag that differs by less from the last one is not sent: it would wake the main thread of an idle worker at every interval. */
const LAG_STEP_MS = 5

export class MainThreadLag {
  readonly #options: MainThreadLagOptions
  #pingedAtMs: number | undefined
  #sentLagMs = Number.NEGATIVE_INFINITY
  /** When the main thread last took a quarter of an interval or more to answer a ping. */
  #lateAtMs = Number.NEGATIVE_INFINITY

  constructor(options: MainThreadLagOptions) {
    this.#options = options
  }

  /** One at a time. */
  ping(): void {
    if (this.#pingedAtMs !== undefined) return
    this.#pingedAtMs = timing.nowMs()
    this.#options.send({ kind: 'ping' })
  }

  notePong(): void {
    if (this.#pingedAtMs === undefined) return
    const nowMs = timing.nowMs()
    const lagMs = nowMs - this.#pingedAtMs
    this.#pingedAtMs = undefined
    if (lagMs >= this.#options.intervalMs / 4) this.#lateAtMs = nowMs
    if (Math.abs(lagMs - this.#sentLagMs) < LAG_STEP_MS) return
    this.#sentLagMs = lagMs
    this.#options.send({ kind: 'lag', lagMs })
  }

  /** Whether the main thread was late within the last interval, or is late now. */
  get isLate(): boolean {
    const nowMs = timing.nowMs()
    const { intervalMs } = this.#options
    return nowMs - this.#lateAtMs < intervalMs || nowMs - (this.#pingedAtMs ?? nowMs) >= intervalMs / 4
  }
}
