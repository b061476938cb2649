// Keeps leases alive. One statement a tick for all leases of a worker; each answer goes to the runner of its job.
import type { HeartbeatAnswer, Lease } from '../../job/lease.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../../store/job-store.ts'

export interface Heartbeat {
  hold(lease: Lease, listener: AnswerListener): void
  /** Of a lease that is held: where its answers go from now on. */
  listen(lease: Lease, listener: AnswerListener): void
  /** No more beats, soon: one may still be sent, and its answer goes nowhere. */
  drop(lease: Lease): void
  /**
   * Ends the beats of this lease with a last one that lasts `leaseMs`. Settles when no other is under way any more; rejects
   * where the last one got no answer.
   */
  letGo(lease: Lease, leaseMs: number): Promise<LastBeat>
  /** Settles when it can beat: a job claimed before that could lose its lease to a blocked event loop (LEASE-9). */
  ready: Promise<void>
  /** Settles where it will never beat again. */
  died: Promise<Error>
  /** False while beats fail: such a worker must not take on more (C6). */
  isHealthy(): boolean
  stop(): Promise<void>
}

export interface LastBeat {
  answer: HeartbeatAnswer
  /** As of `AnswerListener`. */
  sentAtMs: number
}

export interface AnswerListener {
  /** `sentAtMs`, in milliseconds since 1970 by a clock that only goes forward: an extended lease counts from then (C5). */
  onAnswer(answer: HeartbeatAnswer, sentAtMs: number): void
}

export interface HeartbeatEvents {
  /** One statement extended so many leases. */
  onBeat(leases: number): void
  onFailed(error: unknown, failingForMs: number): void
  onRecovered(failedForMs: number): void
  onLag(lagMs: number): void
}

const nothing = () => {}

/** The leases that are held, and where their answers go. By lease and then by job: the jobs of a claim share a lease id. */
export class HeldLeases {
  readonly #held = new Map<string, Map<string, AnswerListener>>()

  add({ jobId, leaseId }: Lease, listener: AnswerListener): void {
    const jobs = this.#held.get(leaseId)
    if (jobs === undefined) this.#held.set(leaseId, new Map([[jobId, listener]]))
    else jobs.set(jobId, listener)
  }

  /** Answers whether it was the last one of its claim. */
  delete({ jobId, leaseId }: Lease): boolean {
    const jobs = this.#held.get(leaseId)
    jobs?.delete(jobId)
    return jobs?.size === 0 && this.#held.delete(leaseId)
  }

  list(): Lease[] {
    return [...this.#held].flatMap(([leaseId, jobs]) => [...jobs.keys()].map((jobId) => ({ jobId, leaseId })))
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
 * Beats from the main thread: for stores without a connection of their own, such as the memory store or a caller's pool. A
 * handler that blocks the event loop blocks these beats too.
 */
export function startMainHeartbeat({ store, intervalMs, policy, events }: MainHeartbeatOptions): Heartbeat {
  const held = new HeldLeases()
  const health = new BeatHealth(events)
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= beat().finally(() => {
      underWay = undefined
    })
  }, intervalMs)
  return {
    hold: (lease, listener) => held.add(lease, listener),
    listen: (lease, listener) => held.add(lease, listener),
    drop: (lease) => void held.delete(lease),
    async letGo(lease, leaseMs) {
      held.delete(lease)
      // Whoever waited longer may have sent the next one.
      for (;;) {
        if (underWay === undefined) break
        await underWay
      }
      const sentAtMs = performance.timeOrigin + performance.now()
      const extended = store.heartbeatJobs([lease], { leaseMs, policy })
      underWay = extended.then(nothing, nothing).finally(() => {
        underWay = undefined
      })
      const { answers } = await extended
      return { answer: answers[0]?.answer ?? 'lost', sentAtMs }
    },
    ready: Promise.resolve(),
    died: new Promise(() => {}),
    isHealthy: () => health.isHealthy,
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }

  async function beat(): Promise<void> {
    const leases = held.list()
    // While beats fail nothing is claimed, so there may be nothing to beat for: still, find out whether it works again.
    if (leases.length === 0 && health.isHealthy) return
    const sentAtMs = performance.timeOrigin + performance.now()
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

/** Turns single beats into the two moments that matter: it began to fail, it works again. */
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
    this.#events.onRecovered(performance.now() - this.#failingSinceMs)
    this.#failingSinceMs = undefined
  }

  failed(error: unknown): void {
    this.#failingSinceMs ??= performance.now()
    this.#events.onFailed(error, performance.now() - this.#failingSinceMs)
  }
}
