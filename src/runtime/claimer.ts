// Claims what may start now, and gives back at once what may not: without an attempt spent, and with a time to come again.
import type { ClaimedJob } from '../job/lease.ts'
import type { RuntimeEventEmitter } from '../observe/events.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { JobStore, ReleaseOptions } from '../store/job-store.ts'
import type { RegisteredHandler } from './handler.ts'
import { isOver } from './is-over.ts'
import { MarkedClaims } from './marked-claims.ts'
import { StandBy } from './stand-by.ts'
import { type Admission, TokenLimiter } from './token-limiter.ts'
import { untilKnown } from './until-known.ts'

export interface ClaimerOptions<Tx> {
  store: JobStore<Tx>
  workerId: string
  handlers: RegisteredHandler<Tx>[]
  policy: PolicyOverride
  events: RuntimeEventEmitter
  /** `claimedAtMs` is from before the call: the lease may have begun then, and not later. */
  start: (job: ClaimedJob, registered: RegisteredHandler<Tx>, claimedAtMs: number) => void
  /** No job may start any more. */
  isStopping: () => boolean
  /** No call may be repeated any more. */
  isLeaving: () => boolean
}

/** Where the tokens could not be asked for, the jobs come again a little later and not as one. */
const WITHOUT_TOKENS = { delayMs: 1_000, spreadMs: 10 }

export class Claimer<Tx> {
  readonly #options: ClaimerOptions<Tx>
  readonly #byType: Map<string, RegisteredHandler<Tx>>
  readonly #limiter: TokenLimiter
  readonly #markedClaims = new Map<string, MarkedClaims>()
  readonly #standBy: StandBy
  #rounds = 0

  constructor(options: ClaimerOptions<Tx>) {
    this.#options = options
    this.#standBy = new StandBy({ ...options, service: 'claims' })
    this.#byType = new Map(options.handlers.map((registered) => [registered.type, registered]))
    this.#limiter = new TokenLimiter(options.store, (type) => this.#byType.get(type)?.limits ?? [])
  }

  /**
   * For the free slots, and some `ahead` of them where nothing but a slot decides when a job may start: no tokens, and no
   * breaker that may open in between.
   * Answers how many were claimed, those that went back included: there may be more.
   */
  async claim(free: number, ahead: number): Promise<number> {
    let claimed = 0
    let left = free
    for (const { types, allowance } of this.#claimGroups()) {
      const most =
        allowance === Number.POSITIVE_INFINITY ? left + this.#ahead(types, ahead) : Math.min(left, allowance)
      if (most <= 0) continue
      const round = await this.#claimTypes(types, most)
      claimed += round.claimed
      left -= round.started
    }
    return claimed
  }

  #ahead(types: string[], ahead: number): number {
    return types.some((type) => this.#byType.get(type)?.dependency !== undefined) ? 0 : Math.max(0, ahead)
  }

  /** Until a token is back for a type that has none; infinite where none lacks one. */
  tokenInMs(): number {
    const waitsMs = [...this.#byType.keys()].map((type) => this.#limiter.allowance(type).retryInMs)
    return Math.min(Number.POSITIVE_INFINITY, ...waitsMs.filter((waitMs) => waitMs > 0))
  }

  /** Types under a limit are claimed by themselves, as many as there may be tokens for; the others together. */
  #claimGroups(): { types: string[]; allowance: number }[] {
    const allowances = [...this.#byType.keys()].map((type) => ({
      types: [type],
      allowance: this.#limiter.allowance(type).jobs,
    }))
    const limited = allowances.filter(({ allowance }) => allowance !== Number.POSITIVE_INFINITY)
    const unlimited = allowances.filter(({ allowance }) => allowance === Number.POSITIVE_INFINITY)
    const together = { types: unlimited.flatMap(({ types }) => types), allowance: Number.POSITIVE_INFINITY }
    const groups = unlimited.length === 0 ? limited : [...limited, together]
    // Another one comes first each time, so that a long queue does not keep the slots from the others.
    const first = this.#rounds++ % groups.length
    return [...groups.slice(first), ...groups.slice(0, first)]
  }

  /** For each set of types its own: a mark passes over jobs of the other types too. */
  #marked(types: string[]): MarkedClaims {
    const key = types.join('\0')
    const marked = this.#markedClaims.get(key) ?? new MarkedClaims()
    this.#markedClaims.set(key, marked)
    return marked
  }

  async #claimTypes(types: string[], limit: number): Promise<{ claimed: number; started: number }> {
    const { store, workerId, policy, events } = this.#options
    const queues = [...new Set(types.map((type) => this.#byType.get(type)?.queue ?? type))]
    const claimedAtMs = performance.now()
    try {
      const jobs = await this.#marked(types).claim((marks) =>
        this.#standBy.act(
          () => store.claimJobs({ workerId, queues, types, limit, policy, cursors: marks }),
          [],
        ),
      )
      const started = jobs.length === 0 ? 0 : await this.#startOrGiveBack(jobs, claimedAtMs)
      return { claimed: jobs.length, started }
    } catch (error) {
      events.emit('claim:failed', { error })
      return { claimed: 0, started: 0 }
    }
  }

  async #startOrGiveBack(jobs: ClaimedJob[], claimedAtMs: number): Promise<number> {
    const { events, isStopping } = this.#options
    const { admitted, parked } = await this.#admit(jobs)
    // An answer that lay unread for a whole lease, in an event loop that was blocked: somebody else may have the jobs by now.
    if (isStopping() || jobs.some((job) => isOver(job, claimedAtMs))) {
      await this.giveBack(jobs, { cause: 'interruption' })
      return 0
    }
    for (const job of admitted) this.#start(job, claimedAtMs)
    for (const { jobs: refused, key, delayMs, spreadMs } of parked) {
      await this.giveBack(refused, { delayMs, spreadMs })
      events.emit('limit:reached', { key, released: refused.length, waitMs: delayMs })
    }
    return admitted.length
  }

  async #admit(jobs: ClaimedJob[]): Promise<Admission> {
    try {
      return await this.#limiter.admit(jobs)
    } catch (error) {
      await this.giveBack(jobs, WITHOUT_TOKENS)
      throw error
    }
  }

  #start(job: ClaimedJob, claimedAtMs: number): void {
    const registered = this.#byType.get(job.type)
    if (registered === undefined)
      throw new Error(`a job of type ${job.type} was claimed and nobody handles it`)
    this.#options.start(job, registered, claimedAtMs)
  }

  /** What is `beaten` for is held until the database is back; of the rest the lease is a limit. */
  async giveBack(jobs: ClaimedJob[], options: ReleaseOptions<Tx>, beaten = false): Promise<void> {
    const leaseMs = beaten ? Number.POSITIVE_INFINITY : Math.min(...jobs.map((job) => job.leaseMs))
    const endsAtMs = performance.now() + leaseMs
    const isLost = () => performance.now() > endsAtMs || this.#options.isLeaving()
    await untilKnown(() => this.#options.store.releaseJobs(jobs, options), isLost)
  }
}
