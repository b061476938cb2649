// The life of one attempt, top to bottom: hold the lease, run the handler under its clocks, write the outcome with the lease
// or not at all.

import type { JsonValue } from '../job/job.ts'
import type { ClaimedJob, Lease } from '../job/lease.ts'
import type { CompleteOutcome, ReleaseOutcome } from '../job/outcome.ts'
import type { AttemptEnd } from '../observe/events.ts'
import type { Tracing } from '../observe/tracing.ts'
import { classifyError } from '../policy/classify-error.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { Completion, FailedJob, Failure, JobStore, Settled } from '../store/job-store.ts'
import type { Batcher } from './batcher.ts'
import { type AbortCause, JobAborted, type JobContext, type RegisteredHandler } from './handler.ts'
import type { Heartbeat, OnAnswer } from './heartbeat.ts'
import { JobClocks } from './job-clocks.ts'
import { createJobContext } from './job-context.ts'
import { JobGateway, type JobGatewayTools } from './job-gateway.ts'
import { type HandlerEnd, lateDetails } from './late-result.ts'
import { completionOf, leaseLost, type Settlement, unsettled } from './settlement.ts'
import { untilKnown } from './until-known.ts'
import { wait } from './wait.ts'

export interface RunnerTools<Tx = unknown> extends JobGatewayTools {
  store: JobStore<Tx>
  heartbeat: Heartbeat
  completions: Batcher<Completion, Settled<CompleteOutcome>>
  failures: Batcher<Failure, FailedJob>
  releases: Batcher<Lease, Settled<ReleaseOutcome>>
  policy: PolicyOverride
  tracing: Tracing | null
  workerId: string
  /** How long a handler may go on after its signal before its slot is taken from it. */
  hangGraceMs: number
  /** How long a `tx` may take: the lease is extended once by it. */
  txTimeoutMs: number
  transaction: <T>(work: (client: Tx) => Promise<T>) => Promise<T>
}

export interface AttemptResult {
  end: AttemptEnd
  /** The handler that still runs, until it ends after all: its slot is back, its memory is not. */
  leftBehind: Promise<unknown> | null
  isCritical: boolean
}

/** Between the end of a transaction and the next beat. */
const TX_MARGIN_MS = 10_000

export class Attempt<Tx> {
  readonly job: ClaimedJob
  /** From before the claim was asked for. */
  readonly claimedAtMs: number
  readonly #registered: RegisteredHandler<Tx>
  readonly #tools: RunnerTools<Tx>
  /** Made where the handler has a dependency, or asks for it. */
  #madeGateway: JobGateway | undefined
  /** Made when the handler asks for its signal: a short job seldom does. */
  #controller: AbortController | undefined
  #abortCause: AbortCause | null = null
  /** Ends the wait for a handler that was told to stop and did not, within the grace. */
  #leaveBehind: (() => void) | undefined
  #startedAtMs = performance.now()
  readonly #clocks: JobClocks
  /** Of the stage the job is in. */
  #leaseMs: number
  #isGivenUp = false
  #hasEnded = false
  #tx: 'none' | 'tried' | 'committed' = 'none'

  constructor(
    job: ClaimedJob,
    registered: RegisteredHandler<Tx>,
    tools: RunnerTools<Tx>,
    claimedAtMs: number,
  ) {
    this.claimedAtMs = claimedAtMs
    this.job = job
    this.#registered = registered
    this.#tools = tools
    this.#leaseMs = job.leaseMs
    this.#clocks = new JobClocks(
      registered.progressLimitMs,
      (cause) => this.abort(cause),
      () => this.#tools.events.emit('job:at-risk', { job }),
    )
    tools.heartbeat.listen(job, this.#onAnswer)
    this.#clocks.renewLease(this.#leaseMs - (performance.now() - claimedAtMs))
    this.#clocks.setDeadline(job.deadlineMs)
  }

  /** `onReturned` is told when the handler has returned; the outcome is written after that. */
  async run(onReturned: () => void): Promise<AttemptResult> {
    // The leases of all jobs of a claim are held before the first handler may block the event loop.
    await Promise.resolve()
    this.#startedAtMs = performance.now()
    this.#tools.events.emit('job:started', { job: this.job })
    this.#clocks.restartProgress()
    const { tracing, workerId } = this.#tools
    const settled = await (tracing === null
      ? this.#work(onReturned)
      : tracing.process(
          this.job,
          workerId,
          () => this.#work(onReturned),
          (settlement) => settlement,
        ))
    this.letGo()
    this.#tell(settled)
    const { end, leftBehind, isCritical = false } = settled
    return { end, leftBehind, isCritical }
  }

  async #work(onReturned: () => void): Promise<Settlement & Pick<AttemptResult, 'leftBehind'>> {
    const handled = this.#handle()
    const handlerEnd = await new Promise<HandlerEnd>((resolve) => {
      this.#leaveBehind = () => resolve({ kind: 'hung' })
      void handled.then(resolve)
    })
    if (handlerEnd.kind === 'returned') onReturned()
    const leftBehind = handlerEnd.kind === 'hung' ? handled : null
    try {
      return { ...(await this.#settle(handlerEnd)), leftBehind }
    } catch (error) {
      return { ...unsettled(error), leftBehind }
    }
  }

  #tell({ end, code, retryInMs }: Settlement): void {
    const hasGateway = this.#madeGateway !== undefined || this.#registered.dependency !== undefined
    if (hasGateway) this.#gateway.noteEnd(end, code)
    this.#tools.events.emit('job:ended', {
      job: this.job,
      end,
      durationMs: Math.round(performance.now() - this.#startedAtMs),
      ...(code === undefined ? {} : { code }),
      ...(retryInMs === undefined ? {} : { retryInMs }),
      ...(hasGateway ? this.#gateway.facts() : {}),
    })
  }

  /** Called now and then: finds out that the lease may be over (C6). */
  lookAtLease(nowMs: number): void {
    this.#clocks.lookAtLease(nowMs)
  }

  /** No more beats: it has ended, or goes back unstarted. */
  letGo(): void {
    this.#hasEnded = true
    this.#clocks.end()
    this.#tools.heartbeat.drop(this.job)
  }

  abort(cause: AbortCause): void {
    if (this.#abortCause !== null) return
    this.#abortCause = cause
    this.#tools.events.emit('job:aborted', { job: this.job, reason: cause })
    this.#controller?.abort(new JobAborted(cause))
    this.#clocks.startGrace(this.#tools.hangGraceMs, () => this.giveUp())
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#leaveBehind?.()
  }

  get #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortCause !== null) this.#controller.abort(new JobAborted(this.#abortCause))
    }
    return this.#controller.signal
  }

  readonly #onAnswer: OnAnswer = (answer, sentAtMs) => {
    if (answer === 'kept' || answer === 'cancel-asked') {
      const agoMs = performance.timeOrigin + performance.now() - sentAtMs
      this.#clocks.renewLease(this.#leaseMs - agoMs)
    }
    if (answer === 'lost') this.abort('lease-lost')
    else if (answer === 'cancel-asked') this.abort('cancelled')
    else if (answer === 'past-deadline') this.abort('deadline')
  }

  get #gateway(): JobGateway {
    this.#madeGateway ??= new JobGateway(this.job, this.#registered.dependency, this.#tools)
    return this.#madeGateway
  }

  async #handle(): Promise<HandlerEnd> {
    try {
      if (this.#abortCause !== null) throw new JobAborted(this.#abortCause)
      return { kind: 'returned', result: await this.#registered.handler(this.job, this.#context()) }
    } catch (error) {
      return { kind: 'threw', error }
    }
  }

  #context(): JobContext<Tx> {
    return createJobContext({
      fence: this.job.fence,
      signal: () => this.#signal,
      gateway: () => this.#gateway.open(this.#signal, () => this.#clocks.isAtRisk),
      isAtRisk: () => this.#clocks.isAtRisk,
      progress: () => this.#clocks.restartProgress(),
      stage: (name) => this.#enterStage(name),
      tx: (work) => this.#completeInTx(work),
    })
  }

  async #enterStage(name: string): Promise<void> {
    const { store, policy } = this.#tools
    const entered = await store.enterStage(this.job, name, { policy })
    if (entered.outcome === 'past-deadline') {
      this.abort('deadline')
      throw this.#signal.reason
    }
    if (entered.outcome !== 'entered') {
      this.abort('lease-lost')
      throw leaseLost(this.job)
    }
    this.#leaseMs = entered.leaseMs ?? this.#leaseMs
    this.#clocks.renewLease(this.#leaseMs)
    this.#clocks.setDeadline(entered.deadlineMs)
  }

  /** Beats of the job pause while the transaction is open, or REPEATABLE READ callers would meet our writes (C4). */
  async #completeInTx<T extends JsonValue | undefined>(work: (client: Tx) => Promise<T>): Promise<T> {
    const { store, heartbeat, transaction, txTimeoutMs } = this.#tools
    try {
      const result = await transaction(async (client) => {
        // Only now: the wait for a connection is not part of the transaction's time.
        await heartbeat.letGo(this.job)
        await this.#extendLease(txTimeoutMs + TX_MARGIN_MS)
        this.#tx = 'tried'
        const value = await work(client)
        const [settled] = await store.completeJobs([completionOf(this.job, value)], { tx: client })
        if (settled?.outcome !== 'completed') throw leaseLost(this.job)
        return value
      })
      this.#tx = 'committed'
      return result
    } catch (error) {
      if (!this.#hasEnded) heartbeat.hold(this.job, this.#onAnswer)
      throw error
    }
  }

  /** A row that somebody has locked for a moment is no reason to fail (C4). */
  async #extendLease(leaseMs: number): Promise<void> {
    const { store, policy } = this.#tools
    for (;;) {
      const sentAtMs = performance.now()
      const { answers } = await store.heartbeatJobs([this.job], { leaseMs, policy })
      const answer = answers[0]?.answer ?? 'lost'
      if (answer === 'kept') return this.#clocks.renewLease(leaseMs - (performance.now() - sentAtMs))
      if (answer === 'cancel-asked') this.abort('cancelled')
      if (answer === 'past-deadline') this.abort('deadline')
      this.#signal.throwIfAborted()
      if (answer !== 'busy' || this.#clocks.isAtRisk) throw leaseLost(this.job)
      await wait(20 + Math.random() * 80, this.#signal)
    }
  }

  #settle(handlerEnd: HandlerEnd): Promise<Settlement> {
    if (this.#tx === 'committed') return Promise.resolve({ end: 'completed' })
    if (this.#abortCause === 'lease-lost') return this.#keepLateResult(handlerEnd)
    if (handlerEnd.kind === 'returned') return this.#complete(handlerEnd.result)
    if (this.#abortCause === 'shutdown') return this.#release()
    return this.#fail(handlerEnd.kind === 'threw' ? handlerEnd.error : this.#signal.reason)
  }

  async #complete(result: unknown): Promise<Settlement> {
    let completion: Completion
    try {
      completion = completionOf(this.job, result)
    } catch (error) {
      return this.#fail(error)
    }
    const { outcome } = await this.#untilKnown(() => this.#tools.completions.add(completion))
    if (outcome === 'completed' || outcome === 'already-done') return { end: 'completed' }
    return this.#keepLateResult({ kind: 'returned', result })
  }

  async #fail(error: unknown): Promise<Settlement> {
    const classified = classifyError(error)
    const isTimeout = this.#abortCause === 'deadline' || this.#abortCause === 'no-progress'
    const failure: Failure = {
      jobId: this.job.jobId,
      leaseId: this.job.leaseId,
      code: isTimeout ? 'timeout' : classified.code,
      reason: isTimeout ? `aborted: ${this.#abortCause ?? ''}` : classified.reason,
      category: classified.category,
      ...(classified.stack === null ? {} : { stack: classified.stack }),
      isRetryable: isTimeout || classified.isRetryable,
      ...(classified.retryInMs === undefined ? {} : { retryInMs: classified.retryInMs }),
      cause: isTimeout ? 'timeout' : 'failure',
    }
    const settled = await this.#untilKnown(() => this.#tools.failures.add(failure))
    const isCritical = !isTimeout && classified.category === 'CRITICAL'
    const told = { code: failure.code ?? 'UNKNOWN', retryInMs: settled.retryInMs, isCritical }
    if (settled.outcome === 'lease-lost' || settled.outcome === 'not-found') {
      return { ...(await this.#keepLateResult({ kind: 'threw', error })), isCritical }
    }
    if (settled.outcome !== 'already-done') return { end: settled.outcome, ...told }
    return { end: await this.#endAlreadyWritten(), ...told }
  }

  /** An earlier call of ours had got through: the commit of a `tx` whose answer was lost, or this very failure. */
  async #endAlreadyWritten(): Promise<AttemptEnd> {
    const job = await this.#tools.store.getJob(this.job.jobId)
    if (job?.status === 'succeeded') return 'completed'
    return job?.status === 'dead' ? 'dead' : 'retried'
  }

  async #release(): Promise<Settlement> {
    const { jobId, leaseId } = this.job
    const { outcome } = await this.#untilKnown(() => this.#tools.releases.add({ jobId, leaseId }))
    return { end: outcome === 'cancelled' ? 'cancelled' : 'released' }
  }

  /** A worker that leaves does not wait for a database that is gone longer than its leases last. */
  #untilKnown<T>(call: () => Promise<T>): Promise<T> {
    return untilKnown(
      call,
      () =>
        this.#abortCause === 'lease-lost' ||
        this.#isGivenUp ||
        (this.#abortCause === 'shutdown' && this.#clocks.isAtRisk),
    )
  }

  /** A fenced-out attempt writes nothing; what it found out is kept as evidence. */
  async #keepLateResult(handlerEnd: HandlerEnd): Promise<Settlement> {
    const details = lateDetails(handlerEnd, this.job)
    // Evidence is worth one try, not a crash.
    if (details !== null) await this.#tools.store.recordLateResult(this.job, details).catch(() => false)
    return { end: 'lost' }
  }
}
