// Claims jobs for the free slots of a worker, and some ahead of them if jobs are short. claim-plan.ts decides when and how
// many; this module asks the store and the rate limits, holds the leases of jobs that wait for a slot, and releases, without
// an attempt spent, those that may not start.
import type { ClaimedJob } from '../../job/lease.ts'
import type { ReleaseOptions, Shards } from '../../store/job-store.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import { untilNextTurn } from '../calls/batcher.ts'
import { retryUntilAnswered } from '../calls/retry-until-answered.ts'
import { mayHaveExpired } from '../heartbeat/may-have-expired.ts'
import { TokenLimiter } from '../limits/token-limiter.ts'
import { StandBy } from '../services/stand-by.ts'
import { timing } from '../timing/timing.ts'
import { wait, within } from '../timing/wait.ts'
import { Waker } from '../timing/waker.ts'
import { ClaimCursor } from './claim-cursor.ts'
import { ClaimGroups } from './claim-groups.ts'
import {
  type ClaimFacts,
  type ClaimGroup,
  type ClaimSize,
  groupLimit,
  isLow,
  planClaim,
} from './claim-plan.ts'
import type { ClaimerOptions } from './claimer-options.ts'
import { HandlerSlots } from './handler-slots.ts'
import { HeldBack } from './held-back.ts'
import { Prefetch } from './prefetch.ts'
import { STALE_MS, WaitingJob, WaitingJobs } from './waiting-jobs.ts'

/** After a claim that found less than it asked for, the next one follows within this time, or when a job ends. */
const SHORT_CLAIM_PAUSE_MS = 250

/** Result of a claim, measured by what it asked for. `all`: there may be more. `unknown`: it asked for nothing, or failed. */
type Found = 'all' | 'some' | 'unknown' | 'none'

/** After a full claim of this size the next one is sent before its jobs start: the server then works meanwhile (docs/adr/0060). */
const WORTH_OVERLAPPING = 200

/** Longest wait of claims for the releases of a shard. */
const SHARD_RELEASE_MS = 1_000

/** Release of jobs whose tokens could not be asked for: they come back a little later, one after the other. */
const WITHOUT_TOKENS = { delayMs: 1_000, spreadMs: 10 }

export class Claimer<Tx> {
  readonly #options: ClaimerOptions<Tx>
  readonly #byType: Map<string, RegisteredHandler<Tx>>
  readonly #limiter: TokenLimiter
  readonly #groups: ClaimGroups<Tx>
  readonly #standBy: StandBy
  readonly #prefetch: Prefetch
  readonly #waiting = new WaitingJobs<Tx>()
  readonly #handlerSlots = new HandlerSlots()
  readonly #heldBack = new HeldBack()
  /** By group of types: a position skips jobs of its own types only. */
  readonly #cursors = new Map<string, ClaimCursor>()
  readonly #waker = new Waker()
  /** How many jobs may wait, as of the last plan. */
  #prefetchSize = 0
  #inFlight = 0
  #lastFound: Found = 'unknown'
  #isStartScheduled = false
  /** Releases that a shard has not answered yet. */
  readonly #releases = new Set<Promise<void>>()

  constructor(options: ClaimerOptions<Tx>) {
    this.#options = options
    this.#byType = new Map(options.handlers.map((registered) => [registered.type, registered]))
    this.#limiter = new TokenLimiter(options.store, (type) => this.#byType.get(type)?.limits ?? [])
    this.#groups = new ClaimGroups([...this.#byType.values()], this.#limiter, this.#handlerSlots)
    this.#standBy = new StandBy({ service: 'claims', ...options })
    this.#prefetch = new Prefetch(options.concurrency)
  }

  /** There may be work: plan the next claim now. */
  wake(): void {
    this.#waker.wake()
  }

  /** A hint announced a job. */
  wakeForHint(): void {
    for (const cursor of this.#cursors.values()) cursor.noteHint()
    this.wake()
  }

  /** The next waiting job, for a free slot. */
  take(isIdle: boolean): WaitingJob<Tx> | undefined {
    return this.#isStartScheduled ? undefined : this.#waiting.take(isIdle)
  }

  noteStart(): void {
    this.#prefetch.noteStart()
  }

  noteEnd(type: string): void {
    this.#prefetch.noteEnd()
    this.#handlerSlots.free(type)
  }

  /** The result of a job of this queue was written. */
  noteWritten(queue: string): void {
    if (this.#heldBack.free(queue)) this.wake()
  }

  /** Many results are written by one call, unless a job may wait for the place of another. */
  gatherResults(): Promise<void> {
    return this.#heldBack.isEmpty ? this.#gather(this.#prefetch.gatherResultsMs()) : untilNextTurn()
  }

  /** Jobs that started together end together, and one claim replaces them. */
  #gather(gatherMs = this.#prefetch.gatherMs()): Promise<void> {
    return gatherMs >= 1 ? wait(gatherMs, this.#options.stopping) : untilNextTurn()
  }

  /** To call after the slot of a job of this queue became free and waiting jobs were started. */
  wakeIfLow(isIdle: boolean, queue: string): void {
    if (!this.#isExhausted(isIdle) && !this.#awaitsResult(queue) && isLow(this.#facts())) this.wake()
  }

  /** The last claim found less than it asked for, and the next one follows when the result of this job is written. */
  #awaitsResult(queue: string): boolean {
    return this.#heldBack.has(queue) && (this.#lastFound === 'some' || this.#lastFound === 'none')
  }

  /**
   * The last claim had slots to spare and found nothing, and a hint would have announced what came since. But the end of a job
   * may close a breaker or free a place of its handler, and an idle worker may get a job that must run alone.
   */
  #isExhausted(isIdle: boolean): boolean {
    const { areHintsTrusted, handlers } = this.#options
    return (
      this.#lastFound === 'none' &&
      !isIdle &&
      areHintsTrusted() &&
      handlers.every(({ dependency, concurrency }) => dependency === undefined && concurrency === undefined)
    )
  }

  async run(): Promise<void> {
    const { canClaim, stopping } = this.#options
    while (!stopping.aborted) {
      // Before the plan, so that a wake-up during the claim is not missed.
      this.#waker.reset()
      this.#prefetchSize = this.#prefetch.size()
      const size = canClaim() ? planClaim(this.#facts()) : null
      this.#lastFound = size === null ? 'unknown' : await this.#claim(size)
      if (this.#lastFound !== 'all') await this.#waker.pause(this.#pauseMs())
      const mayGather = ['all', 'unknown'].includes(this.#lastFound) && !this.#isStartScheduled
      if (mayGather && planClaim(this.#facts())) await this.#gather()
      await this.#releaseStale()
    }
    await this.#releaseStale()
    await Promise.all(this.#releases)
  }

  #facts(): ClaimFacts {
    const freeSlots = this.#options.freeSlots()
    const starting = this.#isStartScheduled ? Math.min(freeSlots, this.#waiting.size) : 0
    return {
      freeSlots: freeSlots - starting,
      waiting: this.#waiting.size - starting,
      inFlight: this.#inFlight,
      prefetch: this.#prefetchSize,
    }
  }

  #pauseMs(): number {
    const [least, most] = this.#options.pollMs(!this.#heldBack.isEmpty)
    const restartsInMs = Array.from(this.#cursors.values(), (cursor) => cursor.restartInMs())
    const pollMs = least + timing.random() * (most - least)
    const recheckMs = this.#lastFound === 'some' ? SHORT_CLAIM_PAUSE_MS : Number.POSITIVE_INFINITY
    const pauseMs = Math.min(pollMs, recheckMs, this.#groups.tokenInMs(), ...restartsInMs)
    return this.#waiting.size > 0 ? Math.min(pauseMs, STALE_MS) : pauseMs
  }

  /** Jobs that are released again were found, too. */
  async #claim({ slots, ahead }: ClaimSize): Promise<Found> {
    const beganAtMs = timing.nowMs()
    const rounds: Found[] = []
    const { canClaim, stopping } = this.#options
    let slotsLeft = slots
    this.#inFlight += ahead
    this.#heldBack.beginClaim()
    for (const group of this.#groups.next()) {
      const limit = groupLimit(group, slotsLeft, ahead)
      // Heartbeats may fail, or a job that runs alone may start, while another group is claimed.
      if (limit <= 0 || stopping.aborted || !canClaim()) continue
      const round = await this.#claimGroup(group, limit)
      rounds.push(round.found)
      slotsLeft -= round.started
    }
    this.#inFlight -= ahead
    if (this.#heldBack.endClaim()) this.wake()
    const found =
      (['all', 'some', 'unknown', 'none'] as const).find((each) => rounds.includes(each)) ?? 'unknown'
    if (found === 'all' || found === 'some') this.#prefetch.noteClaim(timing.nowMs() - beganAtMs)
    return found
  }

  async #claimGroup(group: ClaimGroup, limit: number): Promise<{ found: Found; started: number }> {
    // The lease may begin now, and not earlier.
    const claimedAtMs = timing.nowMs()
    try {
      const jobs = await this.#claimFromCursor(group, limit)
      const found = jobs.length >= limit ? 'all' : jobs.length > 0 ? 'some' : 'none'
      // Its jobs start in the next turn.
      if (found === 'all' && limit >= WORTH_OVERLAPPING)
        this.#scheduleStart((start) => timing.setImmediate(start))
      const started = jobs.length === 0 ? 0 : await this.#holdOrRelease(jobs, claimedAtMs)
      return { found, started }
    } catch (error) {
      this.#options.events.emit('claim:failed', { error })
      return { found: 'unknown', started: 0 }
    }
  }

  async #claimFromCursor({ types, queues }: ClaimGroup, limit: number): Promise<ClaimedJob[]> {
    const { store, workerId, policy, stopping } = this.#options
    const cursor = this.#cursorOf(types)
    let from = cursor.position()
    for (;;) {
      const limitOfShard = this.#limiter.shardAllowance(types)
      const onHeldBack = this.#heldBack.note
      const request = { workerId, queues, types, limit, limitOfShard, policy, cursors: from, onHeldBack }
      const sentAtMs = timing.nowMs()
      const jobs = await this.#standBy.act(() => store.claimJobs(request), [])
      cursor.noteDuration(from, timing.nowMs() - sentAtMs)
      cursor.advance(from, jobs)
      const start = jobs.length === 0 && !stopping.aborted ? cursor.rewind(from) : null
      if (start === null) return jobs
      from = start
    }
  }

  #cursorOf(types: string[]): ClaimCursor {
    const key = types.join('\0')
    const cursor = this.#cursors.get(key) ?? new ClaimCursor()
    this.#cursors.set(key, cursor)
    return cursor
  }

  async #holdOrRelease(jobs: ClaimedJob[], claimedAtMs: number): Promise<number> {
    const { events, stopping } = this.#options
    const { admitted, parked } = await this.#limiter.admit(jobs).catch(async (error: unknown) => {
      await this.#release(jobs, WITHOUT_TOKENS)
      throw error
    })
    // A blocked event loop left the answer unread for a whole lease: another worker may have the jobs by now.
    if (stopping.aborted || jobs.some((job) => mayHaveExpired(job, claimedAtMs))) {
      await this.#release(jobs, { cause: 'interruption' })
      return 0
    }
    for (const job of admitted) this.#hold(job, claimedAtMs)
    for (const { jobs: refused, key, delayMs, spreadMs } of parked) {
      await this.#release(refused, { delayMs, spreadMs })
      events.emit('limit:reached', { key, released: refused.length, waitMs: delayMs })
    }
    return admitted.length
  }

  #hold(job: ClaimedJob, claimedAtMs: number): void {
    const registered = this.#byType.get(job.type)
    if (registered === undefined)
      throw new Error(`claimed a job of type ${job.type}, which has no handler here`)
    const waiting = new WaitingJob(job, registered, claimedAtMs, this.#onAnswer)
    this.#options.heartbeat.hold(job, waiting)
    this.#waiting.add(waiting)
    this.#handlerSlots.take(job.type)
    this.#scheduleStart()
  }

  readonly #onAnswer = ({ isRefused }: WaitingJob<Tx>): void => {
    if (isRefused) this.wake()
    else this.#scheduleStart()
  }

  /** The leases of all jobs of a claim are held before the first handler may block the event loop. */
  #scheduleStart(schedule: (start: () => void) => void = queueMicrotask): void {
    if (this.#isStartScheduled) return
    this.#isStartScheduled = true
    schedule(() => {
      this.#isStartScheduled = false
      this.#options.startWaiting()
    })
  }

  /** Releases jobs that got no slot in time or must not start; all waiting jobs when the worker stops. */
  async #releaseStale(): Promise<void> {
    const { stopping, startWaiting, heartbeat } = this.#options
    const isLeaving = stopping.aborted
    if (!isLeaving && !this.#waiting.hasStale) return
    // After a blocked event loop, let handlers return and heartbeats be answered first: slots may be free.
    await untilNextTurn()
    startWaiting()
    const jobs = isLeaving ? this.#waiting.takeAll() : this.#waiting.takeStale()
    if (jobs.length === 0) return
    for (const { type } of jobs) this.#handlerSlots.free(type)
    startWaiting()
    const options: ReleaseOptions<Tx> = isLeaving ? { cause: 'interruption' } : {}
    // Not earlier: without heartbeats the jobs would be reaped as crashed while the database is away.
    const drop = (released: ClaimedJob[]) => {
      for (const job of released) heartbeat.drop(job)
    }
    await this.#release(jobs, options, Number.POSITIVE_INFINITY, drop).catch(() => {})
  }

  /** Repeated until the leases expire: heartbeats extend those of waiting jobs, so that they never do. */
  async #release(
    jobs: ClaimedJob[],
    options: ReleaseOptions<Tx>,
    leaseMs = Math.min(...jobs.map((job) => job.leaseMs)),
    onEnded: (jobs: ClaimedJob[]) => void = () => {},
  ): Promise<void> {
    const { store, leaving } = this.#options
    const endsAtMs = timing.nowMs() + leaseMs
    const isLost = () => timing.nowMs() > endsAtMs || leaving.aborted
    const release = (part: ClaimedJob[]) =>
      retryUntilAnswered(() => store.releaseJobs(part, options), isLost).finally(() => onEnded(part))
    if (store.shards === undefined) await release(jobs)
    else await this.#releaseByShard(store.shards, jobs, release)
  }

  /** Waits a moment for each shard; what one that is down still has to answer is left to the end of the run. */
  async #releaseByShard(
    shards: Shards<Tx>,
    jobs: ClaimedJob[],
    release: (part: ClaimedJob[]) => Promise<unknown>,
  ): Promise<void> {
    const numbers = new Set(jobs.map(({ jobId }) => shards.of(jobId).number))
    const partOf = (number: number) => jobs.filter(({ jobId }) => shards.of(jobId).number === number)
    const ignore = () => {}
    const releases = Array.from(numbers, (number) => release(partOf(number)).then(ignore, ignore))
    for (const released of releases) {
      this.#releases.add(released)
      void released.then(() => this.#releases.delete(released))
    }
    await within(
      SHARD_RELEASE_MS,
      Promise.all(releases).then(() => {}),
    )
  }
}
