// Decides by available tokens which of the claimed jobs may start (RATE-1, RATE-4). The others are released unstarted, each
// scheduled for the time at which a token should be available.
import { invalidArgument } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import {
  freeTokens,
  type RateLimit,
  returnTokens,
  type TokenGrant,
  takeTokens,
} from '../../policy/dependency/rate-limit.ts'
import type { JobStore } from '../../store/job-store.ts'
import { timing } from '../timing/timing.ts'

export interface HandlerLimit {
  /** Name of the limit. Handlers and workers that use the same key share its tokens. */
  key: string
  /** Tokens added per second; each start of a job takes one. */
  ratePerS: number
  /** Size of the bucket: how many jobs may start at once. */
  burst: number
  /** One bucket per owner of jobs, instead of one for all. */
  perOwner?: boolean
  /** `shared` by all workers through the database, or local to this `process`. Default: `shared`. */
  scope?: 'shared' | 'process'
  /**
   * Over several shards: one bucket for all of them `together`, or `divided`, an equal part of rate and burst in each shard for
   * its own jobs. Default: `together`.
   */
  shards?: 'together' | 'divided'
}

export interface ParkedJobs {
  jobs: ClaimedJob[]
  /** Key of the limit, without the owner. */
  key: string
  /** Delay of the first job, and of each further one after it. */
  delayMs: number
  spreadMs: number
}

export interface Admission {
  admitted: ClaimedJob[]
  parked: ParkedJobs[]
}

/** `key` identifies the bucket, `name` the limit: an owner's bucket has both in its key. */
type BucketLimit = RateLimit & Pick<HandlerLimit, 'perOwner' | 'scope'> & { name: string }

interface TokenStore extends Pick<JobStore, 'takeTokens'> {
  readonly shards?:
    | { readonly all: readonly { number: number }[]; of(jobId: string): { number: number } }
    | undefined
}

/** Longest delay of a parked job: the limit may be raised in the meantime. */
const FARTHEST_APPOINTMENT_MS = 10 * 60_000

export class TokenLimiter {
  readonly #store: TokenStore
  readonly #limitsOf: (type: string) => readonly HandlerLimit[]
  /** Exact for buckets of this process; the last known state of shared ones. */
  readonly #fullAtMs = new Map<string, number>()
  /** By shared buckets that refused a job together, when to ask them again: which of them was empty is not known. */
  readonly #emptyUntilMs = new Map<string, number>()
  /** By bucket that refused a job, the next unassigned time. */
  readonly #nextFreeAtMs = new Map<string, number>()

  constructor(store: TokenStore, limitsOf: (type: string) => readonly HandlerLimit[]) {
    this.#store = store
    this.#limitsOf = limitsOf
  }

  /**
   * How many jobs of the type to claim: more would only be released, behind jobs that are due later. `retryInMs` is the wait for
   * the next token of a bucket that has none, else 0.
   */
  allowance(type: string): { jobs: number; retryInMs: number } {
    const limits = this.#limitsOfAll(type)
    if (limits.length === 0) return { jobs: Number.POSITIVE_INFINITY, retryInMs: 0 }
    const parts = this.#divisionOf(limits).map((shard) => this.#freeIn(limits, shard))
    const waitsMs = parts.flatMap(({ retryInMs }) => (retryInMs > 0 ? [retryInMs] : []))
    return {
      jobs: parts.reduce((sum, { free }) => sum + free, 0),
      retryInMs: waitsMs.length === 0 ? 0 : Math.min(...waitsMs),
    }
  }

  /** How many jobs to claim from a shard, if the limits of the only type are divided. */
  shardAllowance(types: readonly string[]): ((shard: number) => number) | undefined {
    const limits = types.length === 1 ? types.flatMap((type) => this.#limitsOfAll(type)) : []
    if (this.#divisionOf(limits)[0] === undefined) return undefined
    return (shard) => this.#freeIn(limits, shard).free
  }

  #limitsOfAll(type: string): HandlerLimit[] {
    return this.#limitsOf(type).filter(({ perOwner }) => perOwner !== true)
  }

  /** The shards that have parts of these limits; only undefined if they are not divided. */
  #divisionOf(limits: readonly HandlerLimit[]): (number | undefined)[] {
    const { shards } = this.#store
    const isDivided = shards !== undefined && limits.some((limit) => limit.shards === 'divided')
    return isDivided ? shards.all.map(({ number }) => number) : [undefined]
  }

  #freeIn(limits: readonly HandlerLimit[], shard: number | undefined) {
    const parts = limits.map((limit) => this.#partOf(limit, shard))
    const nowMs = timing.nowMs()
    const known = freeTokens(this.#fullAtMs, parts, nowMs)
    const emptyMs = (this.#emptyUntilMs.get(namesOf(parts.filter(isShared))) ?? 0) - nowMs
    return emptyMs > 0 ? { free: 0, retryInMs: Math.max(emptyMs, known.retryInMs) } : known
  }

  /** The part of a limit that one shard keeps, under a key of its own; the limit itself if it is not divided. */
  #partOf(limit: HandlerLimit, shard: number | undefined): HandlerLimit & Pick<RateLimit, 'shard'> {
    const count = this.#store.shards?.all.length
    if (shard === undefined || count === undefined || limit.shards !== 'divided') return limit
    return {
      ...limit,
      key: `${limit.key}#${shard}`,
      ratePerS: limit.ratePerS / count,
      burst: Math.max(1, Math.floor(limit.burst / count)),
      shard,
    }
  }

  #bucketOf(limit: HandlerLimit, { owner, jobId }: ClaimedJob): BucketLimit {
    const part = this.#partOf(limit, this.#store.shards?.of(jobId).number)
    const key = limit.perOwner === true ? `${part.key}:${owner ?? ''}` : part.key
    return { ...part, key, name: limit.key }
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

  /** Groups jobs that draw on the same buckets. */
  #groupAlike(jobs: readonly ClaimedJob[]): { limits: BucketLimit[]; jobs: ClaimedJob[] }[] {
    const groups = new Map<string, { limits: BucketLimit[]; jobs: ClaimedJob[] }>()
    for (const job of jobs) {
      const limits = this.#limitsOf(job.type).map((limit) => this.#bucketOf(limit, job))
      const name = namesOf(limits)
      const group = groups.get(name) ?? { limits, jobs: [] }
      group.jobs.push(job)
      groups.set(name, group)
    }
    return [...groups.values()]
  }

  /** Local buckets first: tokens they refuse are not taken from shared ones. */
  async #take(limits: BucketLimit[], tokens: number): Promise<TokenGrant> {
    this.#forgetFull()
    const ofProcess = limits.filter(({ scope }) => scope === 'process')
    const shared = limits.filter(isShared)
    const here: TokenGrant =
      ofProcess.length === 0
        ? { granted: tokens, retryInMs: 0 }
        : takeTokens(this.#fullAtMs, ofProcess, tokens, timing.nowMs())
    if (shared.length === 0 || here.granted === 0) return here
    const there = await this.#store.takeTokens(shared.map(bareLimit), here.granted)
    this.#remember(shared, there)
    returnTokens(this.#fullAtMs, ofProcess, here.granted - there.granted)
    return { granted: there.granted, retryInMs: Math.max(here.retryInMs, there.retryInMs) }
  }

  /** A full bucket needs no entry: with limits per owner there would be one for every owner ever seen. */
  #forgetFull(): void {
    const nowMs = timing.nowMs()
    for (const times of [this.#fullAtMs, this.#emptyUntilMs])
      for (const [key, atMs] of times) if (atMs < nowMs) times.delete(key)
  }

  #remember(shared: BucketLimit[], { granted, retryInMs }: TokenGrant): void {
    const nowMs = timing.nowMs()
    takeTokens(this.#fullAtMs, shared, granted, nowMs)
    const [only] = shared
    if (retryInMs === 0 || only === undefined) return
    if (shared.length > 1) return void this.#emptyUntilMs.set(namesOf(shared), nowMs + retryInMs)
    const { key, ratePerS, burst } = only
    const emptyMs = nowMs + retryInMs + ((burst - 1) * 1_000) / ratePerS
    this.#fullAtMs.set(key, Math.max(emptyMs, this.#fullAtMs.get(key) ?? 0))
  }

  #park(jobs: ClaimedJob[], limits: BucketLimit[], retryInMs: number): ParkedJobs {
    const nowMs = timing.nowMs()
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

const isShared = ({ scope }: Pick<HandlerLimit, 'scope'>) => scope !== 'process'
const namesOf = (limits: readonly { key: string }[]) => JSON.stringify(limits.map(({ key }) => key))

/** Checks the ranges of sql/functions/queues/limits/take_tokens.sql when the handler is registered. */
export function requireLimits(type: string, limits: readonly HandlerLimit[]): void {
  const refuse = (field: string, got: unknown, takes: string) => {
    throw invalidArgument(`limits of ${type}: ${field}`, got, takes)
  }
  for (const { key, ratePerS, burst, scope = 'shared', shards = 'together' } of limits) {
    if (typeof key !== 'string' || key === '') refuse('key', key, 'a name')
    if (!(ratePerS >= 0.0001 && ratePerS <= 1_000_000))
      refuse('ratePerS', ratePerS, 'tokens a second from 0.0001 to 1000000')
    if (!Number.isInteger(burst) || burst < 1 || burst > 1_000_000)
      refuse('burst', burst, 'a whole number from 1 to 1000000')
    if (scope !== 'shared' && scope !== 'process') refuse('scope', scope, 'shared or process')
    if (shards !== 'together' && shards !== 'divided') refuse('shards', shards, 'together or divided')
    if (shards === 'divided' && scope === 'process')
      refuse('shards', shards, 'together for a limit of the process')
  }
  const shared = limits.filter(({ scope }) => scope !== 'process')
  // One call takes the tokens of all of them, in one place.
  if (new Set(shared.map(({ shards = 'together' }) => shards)).size > 1)
    refuse('shards', 'both', 'together for all of its shared limits, or divided for all')
  const keys = limits.map(({ key }) => key)
  if (new Set(keys).size < keys.length) refuse('key', keys.join(', '), 'each key once')
}

const bareLimit = ({ key, ratePerS, burst, shard }: RateLimit): RateLimit => ({
  key,
  ratePerS,
  burst,
  ...(shard === undefined ? {} : { shard }),
})
