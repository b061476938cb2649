// A worker that cannot extend its leases claims nothing (C6), and one that hears that a lease is lost (C2), or that its job is
// cancelled or past its deadline, stops its handler.
import type { HeartbeatAnswer, Lease } from '../../../../src/job/lease.ts'
import { leaseKey } from '../../../../src/job/lease.ts'
import type { SimWorker } from '../../world/sim-worker.ts'
import type { VirtualTime } from '../../world/virtual-time.ts'

/** From the answer to the abort, unless the event loop is blocked. */
const ABORT_MS = 1_000
/** Answers to a heartbeat after which a handler must not run on. */
const stops: ReadonlySet<HeartbeatAnswer> = new Set(['lost', 'cancel-asked', 'past-deadline'])
/** One was under way when the heartbeats failed, and looks before its cursor if it finds nothing. */
const CLAIMS_UNDER_WAY = 2

export interface SelfFenceOptions {
  time: VirtualTime
  heartbeatMs: number
  isRunning: (worker: string, lease: string) => boolean
  onViolation: (message: string) => void
}

export class SelfFence {
  readonly #options: SelfFenceOptions
  /** Leases whose handlers were told to stop. */
  readonly #aborted = new Set<string>()
  /** By worker whose heartbeats fail: how often it has claimed since. */
  readonly #claims = new Map<string, number>()

  constructor(options: SelfFenceOptions) {
    this.#options = options
  }

  /** One answer counts of a heartbeat that was sent twice: the next heartbeat says the same. */
  get #abortMs(): number {
    return ABORT_MS + this.#options.heartbeatMs
  }

  noteFailing(worker: string, areFailing: boolean): void {
    if (!areFailing) this.#claims.delete(worker)
    else if (!this.#claims.has(worker)) this.#claims.set(worker, 0)
  }

  noteClaim(worker: string): void {
    const claims = this.#claims.get(worker)
    if (claims === undefined) return
    this.#claims.set(worker, claims + 1)
    if (claims === CLAIMS_UNDER_WAY) this.#options.onViolation(`${worker} claims, and its heartbeats fail`)
  }

  noteAborted(lease: Lease): void {
    this.#aborted.add(leaseKey(lease))
  }

  noteAnswers(worker: SimWorker, answers: (Lease & { answer: HeartbeatAnswer })[]): void {
    for (const { answer, ...lease } of answers)
      if (stops.has(answer) && this.#isIgnored(worker, lease)) this.#lookAgain(worker, lease, answer)
  }

  #isIgnored(worker: SimWorker, lease: Lease): boolean {
    const key = leaseKey(lease)
    return !worker.isOver && !this.#aborted.has(key) && this.#options.isRunning(worker.name, key)
  }

  #lookAgain(worker: SimWorker, lease: Lease, answer: HeartbeatAnswer): void {
    const { time, onViolation } = this.#options
    time.after(Math.max(0, worker.main.blockedUntilMs - time.nowMs) + this.#abortMs, null, () => {
      if (!this.#isIgnored(worker, lease)) return
      // Another handler has blocked the event loop meanwhile.
      if (worker.main.blockedUntilMs + this.#abortMs > time.nowMs)
        return this.#lookAgain(worker, lease, answer)
      onViolation(
        `job ${lease.jobId}: ${worker.name} was answered ${answer} to a heartbeat, and its handler runs on`,
      )
    })
  }
}
