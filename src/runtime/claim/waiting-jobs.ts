// Claimed jobs that wait for a slot. Heartbeats extend their leases, and their answers decide whether a job may start.
import type { ClaimedJob, HeartbeatAnswer } from '../../job/lease.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import type { AnswerListener } from '../heartbeat/heartbeat.ts'
import { mayHaveExpired } from '../heartbeat/may-have-expired.ts'
import { timing } from '../timing/timing.ts'

/** A job without a slot for this long is released: slow jobs hold all slots, and another worker may be idle. */
export const STALE_MS = 5_000

export class WaitingJob<Tx> implements AnswerListener {
  readonly job: ClaimedJob
  readonly registered: RegisteredHandler<Tx>
  /** Taken before the claim was sent. */
  readonly claimedAtMs: number
  /** When the lease was last granted or extended. */
  keptAtMs: number
  /** The lease is lost, the job cancelled or past its deadline: it must not start. */
  isRefused = false
  /** Runs the job, and gets the answers from then on. */
  attempt: AnswerListener | undefined
  readonly #onAnswer: (waiting: WaitingJob<Tx>) => void

  constructor(
    job: ClaimedJob,
    registered: RegisteredHandler<Tx>,
    claimedAtMs: number,
    onAnswer: (waiting: WaitingJob<Tx>) => void,
  ) {
    this.job = job
    this.registered = registered
    this.claimedAtMs = claimedAtMs
    this.keptAtMs = claimedAtMs
    this.#onAnswer = onAnswer
  }

  onAnswer(answer: HeartbeatAnswer, sentAtMs: number): void {
    if (this.attempt !== undefined) return this.attempt.onAnswer(answer, sentAtMs)
    if (answer === 'kept') this.keptAtMs = timing.nowMs() - (timing.epochMs() - sentAtMs)
    else if (answer !== 'busy') this.isRefused = true
    this.#onAnswer(this)
  }

  onAtRisk(): void {
    this.attempt?.onAtRisk?.()
  }

  /** False while the lease may have expired, after the process was suspended or blocked: the next answer decides. */
  get isStartable(): boolean {
    return !this.isRefused && !mayHaveExpired(this.job, this.keptAtMs)
  }

  isStale(nowMs: number): boolean {
    return this.isRefused || nowMs - this.claimedAtMs >= STALE_MS
  }
}

/** Oldest first. */
export class WaitingJobs<Tx> {
  #jobs: WaitingJob<Tx>[] = []

  get size(): number {
    return this.#jobs.length
  }

  add(waiting: WaitingJob<Tx>): void {
    this.#jobs.push(waiting)
  }

  /** The next job to start. One that runs alone waits until nothing else runs, and holds up those behind it. */
  take(isIdle: boolean): WaitingJob<Tx> | undefined {
    const [next] = this.#jobs
    const isReady = next?.isStartable === true && (isIdle || !next.job.runsAlone)
    return isReady ? this.#jobs.shift() : undefined
  }

  get hasStale(): boolean {
    const nowMs = timing.nowMs()
    return this.#jobs.some((waiting) => waiting.isStale(nowMs))
  }

  /** Removes the jobs to release. */
  takeStale(): ClaimedJob[] {
    const nowMs = timing.nowMs()
    const stale = this.#jobs.filter((waiting) => waiting.isStale(nowMs))
    this.#jobs = this.#jobs.filter((waiting) => !waiting.isStale(nowMs))
    return stale.map(({ job }) => job)
  }

  takeAll(): ClaimedJob[] {
    const jobs = this.#jobs.map(({ job }) => job)
    this.#jobs = []
    return jobs
  }
}
