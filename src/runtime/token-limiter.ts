// Which of the jobs just claimed may start now, by the tokens there are (RATE-1, RATE-4). The others go back unstarted with an
// appointment: the time when a token should be there for each of them.
import { invalidArgument } from '../errors/index.ts'
import type { ClaimedJob } from '../job/lease.ts'
import {
  freeTokens,
  type RateLimit,
  returnTokens,
  type TokenGrant,
  takeTokens,
} from '../policy/rate-limit.ts'
import type { JobStore } from '../store/job-store.ts'

export interface HandlerLimit {
  /** What is limited. Handlers and workers that name the same key share its tokens. */
  key: string
  /** Tokens that come back in a second; each start of a job takes one. */
  ratePerS: number
  /** Tokens in a full bucket: how many jobs may start at once. */
  burst: number
  /** A bucket for each owner of jobs, instead of one for all. */
  perOwner?: boolean
  /** `shared` by all workers through the database, or of this `process` alone; shared where absent. */
  scope?: 'shared' | 'process'
}

export interface ParkedJobs {
  jobs: ClaimedJob[]
  /** Of the limit, without the owner. */
  key: string
  /** Until the first of them may come again, and how much later each after it. */
  delayMs: number
  spreadMs: number
}

export interface Admission {
  admitted: ClaimedJob[]
  parked: ParkedJobs[]
}

/** `key` is that of the bucket, `name` that of the limit: an owner's bucket has both in its key. */
type BucketLimit = RateLimit & Pick<HandlerLimit, 'perOwner' | 'scope'> & { name: string }

/** How far ahead an appointment is made: the limit may be raised in the meantime. */
const FARTHEST_APPOINTMENT_MS = 10 * 60_000

export class TokenLimiter {
  readonly #store: Pick<JobStore, 'takeTokens'>
  readonly #limitsOf: (type: string) => readonly HandlerLimit[]
  /** The truth for buckets of this process; what this process last heard for shared ones, of which others take too. */
  readonly #fullAtMs = new Map<string, number>()
  /** The next free appointment of each bucket that refused a job. */
  readonly #nextFreeAtMs = new Map<string, number>()

  constructor(store: Pick<JobStore, 'takeTokens'>, limitsOf: (type: string) => readonly HandlerLimit[]) {
    this.#store = store
    this.#limitsOf = limitsOf
  }

  /** How many jobs of the type are worth claiming: more would only be sent back, behind jobs that are due later. */
  allowance(type: string): { jobs: number; retryInMs: number } {
    const limits = this.#limitsOf(type).filter(({ perOwner }) => perOwner !== true)
    if (limits.length === 0) return { jobs: Number.POSITIVE_INFINITY, retryInMs: 0 }
    const { free, retryInMs } = freeTokens(this.#fullAtMs, limits, performance.now())
    return { jobs: free, retryInMs }
  }

  async admit(jobs: ClaimedJob[]): Promise<Admission> {
    if (jobs.every(({ type }) => this.#limitsOf(type).length === 0)) return { admitted: jobs, parked: [] }
    const admission: Admission = { admitted: [], parked: [] }
    for (const { limits, jobs: alike } of this.#groupAlike(jobs)) {
      const { granted, retryInMs } = await this.#take(limits, alike.length)
      admission.admitted.push(...alike.slice(0, granted))
      const refused = alike.slice(granted)
      if (refused.length > 0) admission.parked.push(this.#park(refused, limits, retryInMs))
    }
    return admission
  }

  /** Jobs that draw on the same buckets are asked for together. */
  #groupAlike(jobs: readonly ClaimedJob[]): { limits: BucketLimit[]; jobs: ClaimedJob[] }[] {
    const groups = new Map<string, { limits: BucketLimit[]; jobs: ClaimedJob[] }>()
    for (const job of jobs) {
      const limits = this.#limitsOf(job.type).map((limit) => bucketOf(limit, job))
      const name = JSON.stringify(limits.map(({ key }) => key))
      const group = groups.get(name) ?? { limits, jobs: [] }
      group.jobs.push(job)
      groups.set(name, group)
    }
    return [...groups.values()]
  }

  /** Those of the process first: what they refuse is not taken from the others. */
  async #take(limits: BucketLimit[], tokens: number): Promise<TokenGrant> {
    this.#forgetFull()
    const ofProcess = limits.filter(({ scope }) => scope === 'process')
    const shared = limits.filter(({ scope }) => scope !== 'process')
    const here: TokenGrant =
      ofProcess.length === 0
        ? { granted: tokens, retryInMs: 0 }
        : takeTokens(this.#fullAtMs, ofProcess, tokens, performance.now())
    if (shared.length === 0 || here.granted === 0) return here
    const there = await this.#store.takeTokens(shared.map(bareLimit), here.granted)
    this.#remember(shared, there)
    returnTokens(this.#fullAtMs, ofProcess, here.granted - there.granted)
    return { granted: there.granted, retryInMs: Math.max(here.retryInMs, there.retryInMs) }
  }

  /** A bucket that is full again needs no entry: with limits by owner there would be one for everybody who ever came. */
  #forgetFull(): void {
    const nowMs = performance.now()
    for (const [key, atMs] of this.#fullAtMs) if (atMs < nowMs) this.#fullAtMs.delete(key)
  }

  #remember(shared: BucketLimit[], { granted, retryInMs }: TokenGrant): void {
    const nowMs = performance.now()
    takeTokens(this.#fullAtMs, shared, granted, nowMs)
    if (retryInMs === 0) return
    for (const { key, ratePerS, burst } of shared) {
      const emptyMs = nowMs + retryInMs + ((burst - 1) * 1_000) / ratePerS
      this.#fullAtMs.set(key, Math.max(emptyMs, this.#fullAtMs.get(key) ?? 0))
    }
  }

  #park(jobs: ClaimedJob[], limits: BucketLimit[], retryInMs: number): ParkedJobs {
    const nowMs = performance.now()
    for (const [key, atMs] of this.#nextFreeAtMs) if (atMs < nowMs) this.#nextFreeAtMs.delete(key)
    const slowest = limits.reduce((a, b) => (b.ratePerS < a.ratePerS ? b : a))
    const spreadMs = 1_000 / slowest.ratePerS
    const soonestMs = nowMs + retryInMs
    const booked = this.#nextFreeAtMs.get(slowest.key) ?? 0
    const firstMs = Math.min(Math.max(soonestMs, booked), soonestMs + FARTHEST_APPOINTMENT_MS)
    this.#nextFreeAtMs.set(slowest.key, firstMs + jobs.length * spreadMs)
    return {
      jobs,
      key: slowest.name,
      delayMs: Math.ceil(firstMs - nowMs),
      spreadMs: Math.min(spreadMs, FARTHEST_APPOINTMENT_MS),
    }
  }
}

/** The ranges of the database (sql/functions/queues/limits/take_tokens.sql), told when the handler is registered. */
export function requireLimits(type: string, limits: readonly HandlerLimit[]): void {
  const refuse = (field: string, got: unknown, takes: string) => {
    throw invalidArgument(`limits of ${type}: ${field}`, got, takes)
  }
  for (const { key, ratePerS, burst, scope = 'shared' } of limits) {
    if (typeof key !== 'string' || key === '') refuse('key', key, 'a name')
    if (!(ratePerS >= 0.0001 && ratePerS <= 1_000_000))
      refuse('ratePerS', ratePerS, 'tokens a second from 0.0001 to 1000000')
    if (!Number.isInteger(burst) || burst < 1 || burst > 1_000_000)
      refuse('burst', burst, 'a whole number from 1 to 1000000')
    if (scope !== 'shared' && scope !== 'process') refuse('scope', scope, 'shared or process')
  }
  const keys = limits.map(({ key }) => key)
  if (new Set(keys).size < keys.length) refuse('key', keys.join(', '), 'each key once')
}

function bucketOf(limit: HandlerLimit, { owner }: ClaimedJob): BucketLimit {
  const key = limit.perOwner === true ? `${limit.key}:${owner ?? ''}` : limit.key
  return { ...limit, key, name: limit.key }
}

const bareLimit = ({ key, ratePerS, burst }: RateLimit): RateLimit => ({ key, ratePerS, burst })
