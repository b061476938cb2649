// Rate limit per caller, in token buckets of this process: a limit in the database would load it.
import { freeTokens, takeTokens } from '../../policy/dependency/rate-limit.ts'
import { ApiProblem } from '../problem.ts'

const MAX_BUCKETS = 10_000

export class RequestLimit {
  readonly #fullAtMs = new Map<string, number>()
  readonly #limit: { ratePerS: number; burst: number }

  readonly #what: string

  constructor(limit: { ratePerS: number; burst: number }, what = 'requests') {
    this.#limit = limit
    this.#what = what
  }

  /** Returns the headers of the answer; throws if the limit is reached. */
  take(key: string): Record<string, string> {
    const { ratePerS, burst } = this.#limit
    const limits = [{ key, ratePerS, burst }]
    const nowMs = performance.now()
    const { granted, retryInMs } = takeTokens(this.#fullAtMs, limits, 1, nowMs)
    const { free } = freeTokens(this.#fullAtMs, limits, nowMs)
    const resetSec = Math.ceil(Math.max(0, (this.#fullAtMs.get(key) ?? nowMs) - nowMs) / 1000)
    this.#forgetFull(nowMs)
    const headers = {
      'ratelimit-limit': String(burst),
      'ratelimit-remaining': String(Math.floor(free)),
      'ratelimit-reset': String(resetSec),
    }
    if (granted === 1) return headers
    const retryAfter = String(Math.max(1, Math.ceil(retryInMs / 1000)))
    throw new ApiProblem(
      'RATE_LIMITED',
      `more than ${ratePerS} ${this.#what} per second`,
      {},
      { ...headers, 'retry-after': retryAfter },
    )
  }

  /** A full bucket needs no entry. */
  #forgetFull(nowMs: number): void {
    if (this.#fullAtMs.size < MAX_BUCKETS) return
    for (const [key, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(key)
  }
}
