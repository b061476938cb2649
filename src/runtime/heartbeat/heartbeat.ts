// Extends leases: one statement per tick for all leases of a worker. Each answer goes to the attempt that holds the lease.
import type { HeartbeatAnswer, Lease } from '../../job/lease.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../../store/job-store.ts'
import type { GoneWorkers } from '../services/reaper.ts'
import { timing } from '../timing/timing.ts'
import { leaseNumber } from './lease-number.ts'

export interface Heartbeat {
  hold(lease: Lease, listener: AnswerListener): void
  /** Stops the heartbeats of a lease. One may still be sent; its answer is ignored. */
  drop(lease: Lease): void
  /**
   * Ends the heartbeats of this lease with a last one that extends it by `leaseMs`. Resolves when no other is in flight;
   * rejects if the last one got no answer.
   */
  handOver(lease: Lease, leaseMs: number): Promise<LastBeat>
  /** Sends a heartbeat now if it holds a lease with one of these numbers: a job under it is asked to stop. */
  hearCancels(leaseNumbers: number[]): void
  /** Sends them to another server from now on. Absent for heartbeats of the main thread, which use the store. */
  moveTo?(databaseUrl: string): void
  presence: GoneWorkers
  /** Resolves when heartbeats can be sent: a job claimed earlier could lose its lease to a blocked event loop (LEASE-9). */
  ready: Promise<void>
  /** Resolves if no heartbeat can ever be sent again. */
  died: Promise<Error>
  /** False while heartbeats fail: such a worker must not claim (C6). */
  isHealthy(): boolean
  stop(): Promise<void>
}

export interface LastBeat {
  answer: HeartbeatAnswer
  /** See `AnswerListener`. */
  sentAtMs: number
}

export interface AnswerListener {
  /** `sentAtMs` is a monotonic time in milliseconds since 1970: the extended lease counts from then (C5). */
  onAnswer(answer: HeartbeatAnswer, sentAtMs: number): void
  /** The lease may be taken away before it ends, until the next answer. */
  onAtRisk?(): void
}

export interface HeartbeatEvents {
  /** One statement extended `leases` leases. */
  onBeat(leases: number): void
  onFailed(error: unknown, failingForMs: number): void
  onRecovered(failedForMs: number): void
  onLag(lagMs: number): void
  /** The end of this process will be noticed by its leases alone. */
  onPresenceOff?(reason: string): void
}

const nothing = () => {}

/** Held leases and the listeners of their answers, by lease id and job id: the jobs of one claim share a lease id. */
export class HeldLeases {
  readonly #held = new Map<string, Map<string, AnswerListener>>()

  add({ jobId, leaseId }: Lease, listener: AnswerListener): void {
    const jobs = this.#held.get(leaseId)
    if (jobs === undefined) this.#held.set(leaseId, new Map([[jobId, listener]]))
    else jobs.set(jobId, listener)
  }

  /** Returns whether it was the last held lease of its claim. */
  delete({ jobId, leaseId }: Lease): boolean {
    const jobs = this.#held.get(leaseId)
    jobs?.delete(jobId)
    return jobs?.size === 0 && this.#held.delete(leaseId)
  }

  list(): Lease[] {
    return [...this.#held].flatMap(([leaseId, jobs]) => [...jobs.keys()].map((jobId) => ({ jobId, leaseId })))
  }

  /** Whether a lease with one of these numbers is held. */
  hasAny(leaseNumbers: number[]): boolean {
    const numbers = new Set(leaseNumbers)
    return [...this.#held.keys()].some((leaseId) => numbers.has(leaseNumber(leaseId)))
  }

  putAtRisk(): void {
    for (const jobs of this.#held.values()) for (const listener of jobs.values()) listener.onAtRisk?.()
  }

  answer({ jobId, leaseId }: Lease, answer: HeartbeatAnswer, sentAtMs: number): void {
    this.#held.get(leaseId)?.get(jobId)?.onAnswer(answer, sentAtMs)
  }
}

export interface MainHeartbeatOptions {
  store: JobStore
  intervalMs: number
  policy: PolicyOverride
  events: HeartbeatEvents
}

/**
 * Heartbeats from the main thread, for stores without a connection URL, such as the memory store or a caller's pool. A handler
 * that blocks the event loop blocks these heartbeats too.
 */
export function startMainHeartbeat({ store, intervalMs, policy, events }: MainHeartbeatOptions): Heartbeat {
  const held = new HeldLeases()
  const health = new BeatHealth(events)
  let underWay: Promise<void> | undefined
  const tick = () => {
    underWay ??= beat().finally(() => {
      underWay = undefined
    })
  }
  const timer = timing.setInterval(tick, intervalMs)
  return {
    hold: (lease, listener) => held.add(lease, listener),
    drop: (lease) => void held.delete(lease),
    async handOver(lease, leaseMs) {
      held.delete(lease)
      // Another call may have started meanwhile.
      for (;;) {
        if (underWay === undefined) break
        await underWay
      }
      const sentAtMs = timing.epochMs()
      const extended = store.heartbeatJobs([lease], { leaseMs, policy })
      underWay = extended.then(nothing, nothing).finally(() => {
        underWay = undefined
      })
      const { answers } = await extended
      return { answer: answers[0]?.answer ?? 'lost', sentAtMs }
    },
    hearCancels(leaseNumbers) {
      // One under way may have looked before the cancel.
      if (held.hasAny(leaseNumbers)) void Promise.resolve(underWay).then(tick)
    },
    presence: { onGone: nothing, watch: nothing },
    ready: Promise.resolve(),
    died: new Promise(() => {}),
    isHealthy: () => health.isHealthy,
    async stop() {
      timing.clearInterval(timer)
      await underWay
    },
  }

  async function beat(): Promise<void> {
    const leases = held.list()
    // While heartbeats fail nothing is claimed, so no lease may be held: probe the store anyway, to notice the recovery.
    if (leases.length === 0 && health.isHealthy) return
    const sentAtMs = timing.epochMs()
    try {
      if (leases.length === 0) await store.readPolicy()
      const { answers } = await store.heartbeatJobs(leases, { policy })
      health.succeeded()
      events.onBeat(answers.length)
      for (const { answer, ...lease } of answers) held.answer(lease, answer, sentAtMs)
    } catch (error) {
      health.failed(error)
    }
  }
}

/** Reports when heartbeats begin to fail and when they recover. */
export class BeatHealth {
  readonly #events: Pick<HeartbeatEvents, 'onFailed' | 'onRecovered'>
  #failingSinceMs: number | undefined

  constructor(events: Pick<HeartbeatEvents, 'onFailed' | 'onRecovered'>) {
    this.#events = events
  }

  get isHealthy(): boolean {
    return this.#failingSinceMs === undefined
  }

  succeeded(): void {
    if (this.#failingSinceMs === undefined) return
    this.#events.onRecovered(timing.nowMs() - this.#failingSinceMs)
    this.#failingSinceMs = undefined
  }

  failed(error: unknown): void {
    this.#failingSinceMs ??= timing.nowMs()
    this.#events.onFailed(error, timing.nowMs() - this.#failingSinceMs)
  }
}
