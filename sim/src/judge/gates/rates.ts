// No bucket gives more tokens than it has, and no job of a limited handler starts without one. Tokens are spent when they are taken:
// a job that starts late, behind a blocked event loop, may start beside those that took theirs later.
import type { ClaimedJob, Lease } from '../../../../src/job/lease.ts'
import { leaseKey } from '../../../../src/job/lease.ts'
import type { RateLimit } from '../../../../src/policy/dependency/rate-limit.ts'
import type { HandlerLimit } from '../../../../src/runtime/limits/token-limiter.ts'
import type { Rates } from '../../plan/rates.ts'
import { TokenBuckets } from './token-buckets.ts'

type Limited = Pick<ClaimedJob, 'owner' | 'type'>

interface LocalStart {
  limit: HandlerLimit
  key: string
  worker: string
  at: number
}

export interface RateOptions {
  rates: Rates
  /** A failover restores what the replica had of the buckets. */
  failovers: () => number
  onViolation: (message: string) => void
}

export class RateJudge {
  readonly #options: RateOptions
  readonly #buckets = new TokenBuckets()
  #failovers = 0
  /** By worker and key: tokens that it was granted and has not used. */
  readonly #granted = new Map<string, number>()
  /** By worker and lease: when the worker heard of its claim. A worker takes tokens of its own at that moment. */
  readonly #claimedAt = new Map<string, number>()
  readonly #starts: LocalStart[] = []

  constructor(options: RateOptions) {
    this.#options = options
  }

  limits(type: string): boolean {
    return Object.hasOwn(this.#options.rates, type)
  }

  noteTaken(limits: RateLimit[], granted: number, at: number): void {
    this.#noteFailovers()
    for (const limit of limits)
      if (!this.#buckets.take(limit.key, limit, granted, at))
        this.#options.onViolation(
          `limit ${limit.key}: ${granted} tokens at ${at} are more than it has, with ${limit.ratePerS} per second and a burst of ${limit.burst}`,
        )
  }

  /** The answer arrived. */
  noteGranted(worker: string, limits: RateLimit[], granted: number): void {
    for (const { key } of limits) this.#grant(`${worker} ${key}`, granted)
  }

  noteClaimed(worker: string, claims: Lease[], at: number): void {
    for (const lease of claims) this.#claimedAt.set(`${worker} ${leaseKey(lease)}`, at)
  }

  noteStart(worker: string, job: Limited & Lease): void {
    const limits = this.#limitsOf(job)
    const shared = limits.filter(({ scope }) => scope !== 'process')
    for (const limit of shared) {
      const key = keyOf(limit, job)
      if (this.#grant(`${worker} ${key}`, -1) < 0)
        this.#options.onViolation(`job ${job.jobId}: ${worker} started it without a token of ${key}`)
    }
    // With shared ones, it takes its own earlier or later.
    if (shared.length > 0) return
    const at = this.#claimedAt.get(`${worker} ${leaseKey(job)}`) ?? 0
    for (const limit of limits) this.#starts.push({ limit, key: keyOf(limit, job), worker, at })
  }

  /** Whether all buckets of the job had a token to spare all the time; false if that is not known. */
  hadToken(job: Limited, from: number, to: number): boolean {
    this.#noteFailovers()
    return this.#limitsOf(job).every(
      (limit) =>
        limit.scope !== 'process' &&
        this.#failovers === 0 &&
        this.#buckets.hadToken(keyOf(limit, job), limit, from, to),
    )
  }

  /** At the end of a run: the buckets of each process. */
  check(): void {
    const buckets = new TokenBuckets()
    for (const { limit, key, worker, at } of this.#starts.toSorted((a, b) => a.at - b.at))
      if (!buckets.take(`${worker} ${key}`, limit, 1, at))
        this.#options.onViolation(`limit ${key}: a job that ${worker} claimed at ${at} is one too many`)
  }

  #limitsOf({ type }: Limited): HandlerLimit[] {
    return this.#options.rates[type as keyof Rates] ?? []
  }

  #grant(key: string, tokens: number): number {
    const granted = (this.#granted.get(key) ?? 0) + tokens
    this.#granted.set(key, Math.max(0, granted))
    return granted
  }

  #noteFailovers(): void {
    const failovers = this.#options.failovers()
    if (failovers > this.#failovers) this.#buckets.fill()
    this.#failovers = failovers
  }
}

const keyOf = ({ key, perOwner }: HandlerLimit, { owner }: Limited) =>
  perOwner === true ? `${key}:${owner ?? ''}` : key
