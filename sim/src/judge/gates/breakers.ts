// A breaker opens, lets jobs through and closes as documented; what it gives back costs no attempt; and it closes in time once its
// service is back.
import type { EventRow } from '../../../../chaos/src/judge/history.ts'
import { runTime, transitions } from '../../../../chaos/src/judge/job-story.ts'
import { type ClaimedJob, type Lease, leaseKey } from '../../../../src/job/lease.ts'
import type { BreakerFacts, DependencyCall } from '../../../../src/policy/dependency/breaker.ts'
import type { Breaker, Failure } from '../../../../src/store/job-store.ts'
import { isCallType, type PlannedBreaker } from '../../plan/breakers.ts'
import { BreakerModel } from './breaker-model.ts'

export interface Span {
  from: number
  to: number
}

export interface BreakerOptions {
  planned: PlannedBreaker
  /** As the store has them. */
  facts: () => BreakerFacts | undefined
  failovers: () => number
  onViolation: (message: string) => void
}

/** Failures of the service, and not of the job. */
const ofService = new Set(['GW_5XX', 'GW_TIMEOUT'])

export class BreakerJudge {
  readonly #options: BreakerOptions
  readonly #model: BreakerModel
  #failovers = 0
  /** Times at which jobs may have been refused. The last one may go on. */
  readonly #closings: Span[] = []
  /** By lease: the worker of a job that a half-open breaker let through. */
  readonly #letThrough = new Map<string, string>()

  constructor(options: BreakerOptions) {
    this.#options = options
    this.#model = new BreakerModel(options.planned.settings)
  }

  noteClaims(worker: string, claims: ClaimedJob[], at: number): void {
    if (claims.length === 0 || this.#isRestored()) return
    for (const job of claims) {
      if (!isCallType(job.type)) continue
      const isProbe = this.#model.stateAt(at) === 'half-open'
      const refusal = this.#model.claim(job.jobId, at)
      if (refusal !== null) this.#options.onViolation(`job ${job.jobId}: claimed ${refusal}`)
      if (isProbe) this.#letThrough.set(leaseKey(job), worker)
    }
  }

  noteCalls(calls: DependencyCall[], answer: Breaker, at: number): void {
    if (this.#isRestored()) return this.#noteState(at)
    const isLate = this.#model.isLate(calls, at)
    this.#model.report(calls, at)
    if (isLate) this.#restore()
    else this.#compare(answer, at)
    this.#noteState(at)
  }

  noteProbe(isHealthy: boolean, answer: Breaker, at: number): void {
    if (this.#isRestored()) return this.#noteState(at)
    this.#model.probe(isHealthy, at)
    this.#compare(answer, at)
    this.#noteState(at)
  }

  /** Settings that are written again change nothing. */
  noteWritten(answer: Breaker, at: number): void {
    if (!this.#isRestored()) this.#compare(answer, at)
    this.#noteState(at)
  }

  /** A report that may not have arrived: the breaker does not know that these jobs met its failure. */
  noteFailedCall(worker: string): void {
    for (const [lease, holder] of this.#letThrough) if (holder === worker) this.#letThrough.delete(lease)
  }

  noteFailures(failures: (Failure & Lease)[], outcomes: { outcome: string }[]): void {
    if (this.#isRestored()) return
    for (const [nth, failure] of failures.entries()) {
      const outcome = outcomes[nth]?.outcome ?? ''
      const isSpent = outcome === 'retried' || outcome === 'dead'
      if (isSpent && ofService.has(failure.code ?? '') && this.#letThrough.has(leaseKey(failure)))
        this.#options.onViolation(
          `job ${failure.jobId}: let through by a half-open breaker, it met the failure behind it and was ${outcome}`,
        )
    }
  }

  #compare({ state }: Breaker, at: number): void {
    const expected = this.#model.stateAt(at)
    if (state === expected) return
    this.#options.onViolation(`the breaker is ${state} at ${at}, and should be ${expected}`)
    this.#restore()
  }

  #isRestored(): boolean {
    const failovers = this.#options.failovers()
    if (failovers === this.#failovers) return false
    this.#failovers = failovers
    this.#restore()
    return true
  }

  #restore(): void {
    const facts = this.#options.facts()
    if (facts !== undefined) this.#model.restore(facts)
    this.#letThrough.clear()
  }

  #noteState(at: number): void {
    const state = this.#model.stateAt(at)
    const last = this.#closings.at(-1)
    const isShut = last?.to === Number.POSITIVE_INFINITY
    if (state === 'closed') {
      if (isShut) last.to = at
      this.#letThrough.clear()
    } else if (!isShut) {
      // A hold over a closed breaker ends by itself.
      const { heldUntil } = this.#model
      const isHold = state === 'held' && this.#model.stateAt(heldUntil) === 'closed'
      this.#closings.push({ from: at, to: isHold ? heldUntil : Number.POSITIVE_INFINITY })
    }
  }

  /** When it last closed, or `from`; null if it was not closed at `to`, or if a failover restored another one. */
  openSince(from: number, to: number): number | null {
    if (this.#options.failovers() > 0) return null
    const since = Math.max(from, ...this.#closings.filter((span) => span.from <= to).map((span) => span.to))
    return since < to ? since : null
  }

  /** Once everything is healed, no due job waits longer than this for the breaker. */
  *check(events: EventRow[], jobTypes: Map<string, string>, healed: Span, slackMs: number): Iterable<string> {
    const { closeAfter, probeIntervalMs, probeTimeoutMs } = this.#model.settings
    const boundMs =
      slackMs + 2 * this.#model.longestCooldownMs + closeAfter * probeIntervalMs + probeTimeoutMs
    for (const wait of waits(events, jobTypes, healed))
      for (const shut of this.#closings) {
        const from = Math.max(wait.from, shut.from)
        const lastedMs = Math.min(wait.to, shut.to) - from
        if (lastedMs > boundMs)
          yield `job ${wait.jobId}: the breaker did not close for ${Math.round(lastedMs)} ms after everything was healed`
      }
  }
}

/** Due jobs that call the service, from when everything was healed. */
function* waits(
  events: EventRow[],
  jobTypes: Map<string, string>,
  healed: Span,
): Iterable<Span & { jobId: string }> {
  const dueAt = new Map<string, number>()
  for (const event of events) {
    const { jobId, type, at } = event
    if (!isCallType(jobTypes.get(jobId) ?? '')) continue
    const from = dueAt.get(jobId)
    if (type === 'processing' && from !== undefined) yield { jobId, from, to: at }
    if (type === 'queued' || transitions[type]?.to === 'waiting')
      dueAt.set(jobId, Math.max(at, runTime(event), healed.from))
    else if (type === 'processing' || transitions[type] !== undefined) dueAt.delete(jobId)
  }
  for (const [jobId, from] of dueAt) yield { jobId, from, to: healed.to }
}
