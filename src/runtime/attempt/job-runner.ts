// The life of one attempt, top to bottom: hold the lease, run the handler under its clocks, write the outcome under the lease
// or not at all.

import { isUnstuckError } from '../../errors/index.ts'
import type { ClaimedJob, HeartbeatAnswer } from '../../job/lease.ts'
import type { CompleteOutcome } from '../../job/outcome.ts'
import type { Completion, JobOutcome } from '../../store/job-store.ts'
import type { Asker } from '../calls/batcher.ts'
import { isRefusal } from '../calls/refusal.ts'
import { retryAfterError, retryUntilAnswered } from '../calls/retry-until-answered.ts'
import type { WaitingJob } from '../claim/waiting-jobs.ts'
import type { Gateway } from '../limits/gateway.ts'
import { JobGateway } from '../limits/job-gateway.ts'
import { timing } from '../timing/timing.ts'
import type { AttemptDependencies, RunningAttempt } from './attempt-dependencies.ts'
import { emitAttemptEnd } from './emit-attempt-end.ts'
import { type AbortCause, JobAborted, type RegisteredHandler } from './handler.ts'
import { type ClockOwner, JobClocks } from './job-clocks.ts'
import { type ContextSource, createJobContext } from './job-context.ts'
import type { CompleteIn, TransactionOwner } from './job-transaction.ts'
import { type HandlerEnd, keepLateResult } from './late-result.ts'
import {
  type AttemptOutcome,
  COMPLETED,
  completionOf,
  failureOf,
  leaseLost,
  lostOutcome,
  thrownFailure,
} from './outcome.ts'
import { type AskedRelease, releaseOf, releaseOutcome } from './release-request.ts'
import { progressOf, ReportedProgress } from './reported-progress.ts'
import { readWrittenEnd } from './written-end.ts'

type AnswersTo<Tx> = TransactionOwner & Asker<JobOutcome<CompleteOutcome>> & ClockOwner & ContextSource<Tx>

export class Attempt<Tx> implements RunningAttempt, AnswersTo<Tx> {
  isHandling = false
  readonly job: ClaimedJob
  readonly #registered: RegisteredHandler<Tx>
  readonly #deps: AttemptDependencies<Tx>
  /** Created if the handler has a dependency or uses `gateway`. */
  #madeGateway: JobGateway | undefined
  #openGateway: Gateway | undefined
  /** Created when the handler asks for its signal: short jobs seldom do. */
  #controller: AbortController | undefined
  #abortCause: AbortCause | null = null
  #handled: Promise<unknown> | null = null
  #hasHandlerEnded = false
  #isHung = false
  #completion: Completion | undefined
  #endTrace: ((outcome: AttemptOutcome) => void) | undefined
  #startedAtMs = timing.nowMs()
  readonly #clocks: JobClocks
  /** Created when the handler reports a value. */
  #progress: ReportedProgress | undefined
  /** Lease of the job's current stage. */
  #leaseMs: number
  #isGivenUp = false
  #hasEnded = false
  /** A `tx` completed the job. */
  #isCommitted = false
  /** A call that may have completed the job was not answered. */
  #hasLostAnswer = false

  constructor(waiting: WaitingJob<Tx>, deps: AttemptDependencies<Tx>) {
    const { job, registered, claimedAtMs, keptAtMs } = waiting
    waiting.attempt = this
    this.job = job
    this.#registered = registered
    this.#deps = deps
    this.#leaseMs = job.leaseMs
    this.#clocks = new JobClocks(registered.progressLimitMs, this)
    const nowMs = timing.nowMs()
    this.#clocks.renewLease(this.#leaseMs - (nowMs - keptAtMs))
    this.#clocks.setDeadline(job.deadlineMs, nowMs - claimedAtMs)
  }

  start(): void {
    this.#startedAtMs = timing.nowMs()
    const { events } = this.#deps
    if (events.hasListeners('job:started')) events.emit('job:started', { job: this.job })
    // A batch starts the progress limits of its jobs when it begins: until then nothing works on them.
    if (this.#registered.batches === undefined) this.#clocks.restartProgress()
    const { tracing, workerId } = this.#deps
    if (tracing?.isActive() !== true) return this.#callHandler()
    const work = () =>
      new Promise<AttemptOutcome>((resolve) => {
        this.#endTrace = resolve
        this.#callHandler()
      })
    void tracing.process(this.job, workerId, work, (outcome) => outcome)
  }

  #callHandler(): void {
    let handled: Promise<unknown>
    try {
      if (this.#abortCause !== null) throw new JobAborted(this.#abortCause)
      handled = Promise.resolve(this.#registered.handler(this.job, createJobContext(this)))
    } catch (error) {
      // After the worker has counted the start.
      queueMicrotask(() => this.#onHandlerEnd({ kind: 'threw', error }))
      return
    }
    this.#handled = handled.then(
      (result) => this.#onHandlerEnd({ kind: 'returned', result }),
      (error: unknown) => this.#onHandlerEnd({ kind: 'threw', error }),
    )
  }

  /** Only the first call counts: a handler that was given up may still return later. */
  #onHandlerEnd(handlerEnd: HandlerEnd): void {
    if (this.#hasHandlerEnded) return
    this.#hasHandlerEnded = true
    this.#isHung = handlerEnd.kind === 'hung'
    if (handlerEnd.kind === 'returned') this.#deps.slots.onReturned(this)
    const writing = this.#progress?.end() ?? null
    if (writing === null) this.#writeEnd(handlerEnd)
    else void writing.then(() => this.#writeEnd(handlerEnd))
  }

  #writeEnd(handlerEnd: HandlerEnd): void {
    const isPlain = handlerEnd.kind === 'returned' && !this.#isCommitted && this.#abortCause !== 'lease-lost'
    if (isPlain) this.#complete(handlerEnd.result)
    else this.#endWith(this.#writeOutcome(handlerEnd))
  }

  #endWith(writing: Promise<AttemptOutcome>): void {
    void writing.catch(lostOutcome).then((outcome) => this.#end(outcome))
  }

  #end(outcome: AttemptOutcome): void {
    this.#hasEnded = true
    this.#clocks.end()
    this.#deps.heartbeat.drop(this.job)
    this.#emitEnded(outcome)
    this.#endTrace?.(outcome)
    const leftBehind = this.#isHung ? this.#leftBehind : null
    this.#deps.slots.onEnded(this, { leftBehind, isCritical: outcome.isCritical === true })
  }

  get #leftBehind(): Promise<unknown> | null {
    const { batches } = this.#registered
    return batches === undefined ? this.#handled : batches.leave(this.job)
  }

  #emitEnded(outcome: AttemptOutcome): void {
    if (this.#hasGateway) this.#jobGateway.noteEnd(outcome)
    emitAttemptEnd(this.#deps.events, this.job, outcome, {
      startedAtMs: this.#startedAtMs,
      gateway: this.#hasGateway ? this.#jobGateway : undefined,
    })
  }

  lookAtClocks(nowMs: number): number {
    return this.#clocks.look(nowMs)
  }

  abort(cause: AbortCause): void {
    if (this.#abortCause !== null) return
    this.#abortCause = cause
    this.#deps.events.emit('job:aborted', { job: this.job, reason: cause })
    this.#controller?.abort(new JobAborted(cause))
    // Waits for the handler only: a result that it returned in time is written once the database answers.
    this.#clocks.startGrace(this.#deps.hangGraceMs, () => this.#onHandlerEnd({ kind: 'hung' }))
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#onHandlerEnd({ kind: 'hung' })
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortCause !== null) this.#controller.abort(new JobAborted(this.#abortCause))
    }
    return this.#controller.signal
  }

  onAnswer(answer: HeartbeatAnswer, sentAtMs: number): void {
    if (answer === 'kept' || answer === 'cancel-asked') {
      const agoMs = timing.epochMs() - sentAtMs
      // A heartbeat after a `tx` that failed ends the longer lease of that.
      if (this.#clocks.renewLease(this.#leaseMs - agoMs)) this.#deps.clockWatch.add(this)
    }
    // Once a completion was sent, only its own answer counts: the row may be gone because it was completed.
    if (answer === 'lost' && this.#completion === undefined) this.abort('lease-lost')
    else if (answer === 'cancel-asked') this.abort('cancelled')
    else if (answer === 'past-deadline') this.abort('deadline')
  }

  onAtRisk(): void {
    this.#clocks.putAtRisk()
  }

  emitAtRisk(): void {
    this.#deps.events.emit('job:at-risk', { job: this.job })
  }

  get isAtRisk(): boolean {
    return this.#clocks.isAtRisk
  }

  noteProgress(value?: number, text?: string): void {
    const progress = progressOf(value, text)
    this.#clocks.restartProgress()
    if (progress === null) return
    this.#progress ??= new ReportedProgress(this.job, this.#deps.progress)
    this.#progress.report(progress)
  }

  get gateway(): Gateway {
    this.#openGateway ??= this.#jobGateway.open(this.signal, () => this.#clocks.isAtRisk)
    return this.#openGateway
  }

  get #hasGateway(): boolean {
    return this.#madeGateway !== undefined || this.#registered.dependency !== undefined
  }

  get #jobGateway(): JobGateway {
    this.#madeGateway ??= new JobGateway(this.job, this.#registered.dependency, this.#deps)
    return this.#madeGateway
  }

  async enterStage(name: string): Promise<void> {
    const { store, policy } = this.#deps
    const askedAtMs = timing.nowMs()
    const entered = await store.enterStage(this.job, name, { policy })
    const agoMs = timing.nowMs() - askedAtMs
    if (entered.outcome === 'past-deadline') {
      this.abort('deadline')
      throw this.signal.reason
    }
    if (entered.outcome !== 'entered') {
      this.abort('lease-lost')
      throw leaseLost(this.job)
    }
    this.#leaseMs = entered.leaseMs ?? this.#leaseMs
    this.#clocks.renewLease(this.#leaseMs - agoMs)
    this.#clocks.setDeadline(entered.deadlineMs, agoMs)
    this.#deps.clockWatch.add(this)
  }

  async completeIn<T>(transaction: CompleteIn<Tx, T>): Promise<T> {
    if (this.#abortCause === 'lease-lost') throw leaseLost(this.job)
    await this.#progress?.flush()
    try {
      const value = await transaction(this, this.#deps)
      this.#isCommitted = true
      return value
    } catch (error) {
      if (!isUnstuckError(error, 'LEASE_LOST')) this.#hasLostAnswer = true
      throw error
    }
  }

  noteExtended(leaseMs: number): void {
    this.#clocks.renewLease(leaseMs)
    this.#deps.clockWatch.add(this)
  }

  get leaseMs(): number {
    return this.#leaseMs
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  #writeOutcome(handlerEnd: HandlerEnd): Promise<AttemptOutcome> {
    if (this.#isCommitted) return Promise.resolve(COMPLETED)
    if (this.#abortCause === 'lease-lost') return this.#keepLateResult(handlerEnd)
    if (this.#abortCause === 'shutdown') return this.#release()
    const error: unknown = handlerEnd.kind === 'threw' ? handlerEnd.error : this.signal.reason
    const asked = releaseOf(error, this.#abortCause)
    return asked === null ? this.#fail(error) : this.#release(asked)
  }

  #complete(result: unknown): void {
    try {
      this.#completion = completionOf(this.job, result)
      this.#deps.completions.put(this.#completion, this)
    } catch (error) {
      this.#endWith(this.#fail(error))
    }
  }

  onAnswered({ outcome }: JobOutcome<CompleteOutcome>): void {
    if (outcome === 'completed' || outcome === 'already-done') this.#end(COMPLETED)
    else this.#endWith(this.#keepLateResult({ kind: 'returned', result: this.#completion?.result }))
  }

  /** A result that the table refuses is a failure of the job. */
  onFailed(error: unknown): void {
    if (!isRefusal(error)) this.#hasLostAnswer = true
    const write = () => this.#deps.completions.add(this.#completion as Completion)
    retryAfterError(error, write, () => this.#isHopeless).then(
      (completed) => this.onAnswered(completed),
      (last: unknown) => (isRefusal(last) ? this.#endWith(this.#fail(last)) : this.#end(lostOutcome(last))),
    )
  }

  async #fail(error: unknown): Promise<AttemptOutcome> {
    const warn = (warning: string) => this.#deps.events.emit('config:warned', { warning })
    const { failure, isCritical } = failureOf(this.job, error, this.#abortCause, this.#registered.retry, warn)
    if (this.#hasGateway) await this.#jobGateway.noteFailure(failure.code)
    const { outcome, retryInMs } = await this.#retryUntilAnswered(() => this.#deps.failures.add(failure))
    if (outcome === 'lease-lost' || outcome === 'not-found') {
      return { ...(await this.#keepLateResult({ kind: 'threw', error })), isCritical }
    }
    const end = outcome === 'already-done' ? await readWrittenEnd(this.#deps.store, this.job) : outcome
    return {
      end,
      code: failure.code ?? 'UNKNOWN',
      retryInMs,
      isCritical,
      failure: thrownFailure(error, failure),
    }
  }

  /** Without `asked`: the worker leaves and gives the job back. */
  async #release(asked?: AskedRelease): Promise<AttemptOutcome> {
    const { store, releases } = this.#deps
    const write = async () =>
      asked === undefined ? releases.add(this.job) : (await store.releaseJobs([this.job], asked))[0]
    return releaseOutcome(await this.#retryUntilAnswered(write), asked)
  }

  #retryUntilAnswered<T>(call: () => Promise<T>): Promise<T> {
    return retryUntilAnswered(call, () => this.#isHopeless)
  }

  /** A leaving worker does not wait for a database that is away for longer than its leases last. */
  get #isHopeless(): boolean {
    const isLost = this.#abortCause === 'lease-lost'
    return isLost || this.#isGivenUp || (this.#abortCause === 'shutdown' && this.#clocks.isAtRisk)
  }

  #keepLateResult(handlerEnd: HandlerEnd): Promise<AttemptOutcome> {
    return keepLateResult(this.#deps.store, this.job, handlerEnd, this.#hasLostAnswer)
  }
}
