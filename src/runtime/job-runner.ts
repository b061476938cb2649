// The life of one attempt, top to bottom: hold the lease, run the handler under its clocks, write the outcome with the lease
// or not at all.

import type { JsonValue } from '../job/job.ts'
import type { ClaimedJob, HeartbeatAnswer } from '../job/lease.ts'
import type { CompleteOutcome } from '../job/outcome.ts'
import type { AttemptEnd } from '../observe/events.ts'
import type { Completion, JobOutcome } from '../store/job-store.ts'
import type { Asker } from './batcher.ts'
import type { Gateway } from './gateway.ts'
import { type AbortCause, JobAborted, type RegisteredHandler } from './handler.ts'
import { type ClockOwner, JobClocks } from './job-clocks.ts'
import { type ContextSource, createJobContext } from './job-context.ts'
import { JobGateway } from './job-gateway.ts'
import { completeInTransaction, type TransactionOwner } from './job-transaction.ts'
import { type HandlerEnd, lateDetails } from './late-result.ts'
import { isRefusal } from './refusal.ts'
import { type AskedRelease, releaseOf, settleRelease } from './release-request.ts'
import type { RunnerTools, RunningAttempt } from './runner-tools.ts'
import { completionOf, failureOf, leaseLost, type Settlement, unsettled } from './settlement.ts'
import { knownLater, untilKnown } from './until-known.ts'
import type { WaitingJob } from './waiting-jobs.ts'

const COMPLETED: Settlement = { end: 'completed' }

type AnswersTo<Tx> = TransactionOwner & Asker<JobOutcome<CompleteOutcome>> & ClockOwner & ContextSource<Tx>

export class Attempt<Tx> implements RunningAttempt, AnswersTo<Tx> {
  isHandling = false
  readonly job: ClaimedJob
  readonly #registered: RegisteredHandler<Tx>
  readonly #tools: RunnerTools<Tx>
  /** Made where the handler has a dependency, or asks for it. */
  #madeGateway: JobGateway | undefined
  #openGateway: Gateway | undefined
  /** Made when the handler asks for its signal: a short job seldom does. */
  #controller: AbortController | undefined
  #abortCause: AbortCause | null = null
  #handled: Promise<unknown> | null = null
  #isSettling = false
  #isHung = false
  #completion: Completion | undefined
  #tellTrace: ((settled: Settlement) => void) | undefined
  #startedAtMs = performance.now()
  readonly #clocks: JobClocks
  /** Of the stage the job is in. */
  #leaseMs: number
  #isGivenUp = false
  #hasEnded = false
  /** A `tx` has completed the job. */
  #isCommitted = false

  constructor({ job, registered, claimedAtMs, keptAtMs }: WaitingJob<Tx>, tools: RunnerTools<Tx>) {
    this.job = job
    this.#registered = registered
    this.#tools = tools
    this.#leaseMs = job.leaseMs
    this.#clocks = new JobClocks(registered.progressLimitMs, this)
    tools.heartbeat.listen(job, this)
    const nowMs = performance.now()
    this.#clocks.renewLease(this.#leaseMs - (nowMs - keptAtMs))
    this.#clocks.setDeadline(job.deadlineMs, nowMs - claimedAtMs)
  }

  start(): void {
    this.#startedAtMs = performance.now()
    const { events } = this.#tools
    if (events.isHeard('job:started')) events.emit('job:started', { job: this.job })
    this.#clocks.restartProgress()
    const { tracing, workerId } = this.#tools
    if (tracing?.isActive() !== true) return this.#callHandler()
    const work = () =>
      new Promise<Settlement>((resolve) => {
        this.#tellTrace = resolve
        this.#callHandler()
      })
    void tracing.process(this.job, workerId, work, (settlement) => settlement)
  }

  #callHandler(): void {
    let handled: Promise<unknown>
    try {
      if (this.#abortCause !== null) throw new JobAborted(this.#abortCause)
      handled = Promise.resolve(this.#registered.handler(this.job, createJobContext(this)))
    } catch (error) {
      // Not before the worker has noted the start.
      queueMicrotask(() => this.#onHandlerEnd({ kind: 'threw', error }))
      return
    }
    this.#handled = handled.then(
      (result) => this.#onHandlerEnd({ kind: 'returned', result }),
      (error: unknown) => this.#onHandlerEnd({ kind: 'threw', error }),
    )
  }

  /** The first one counts: a handler that was left behind may end after all. */
  #onHandlerEnd(handlerEnd: HandlerEnd): void {
    if (this.#isSettling) return
    this.#isSettling = true
    this.#isHung = handlerEnd.kind === 'hung'
    const isPlain = handlerEnd.kind === 'returned' && !this.#isCommitted && this.#abortCause !== 'lease-lost'
    if (handlerEnd.kind === 'returned') this.#tools.slots.onReturned(this)
    if (isPlain) this.#complete(handlerEnd.result)
    else this.#endWith(this.#settle(handlerEnd))
  }

  #endWith(settling: Promise<Settlement>): void {
    void settling.catch(unsettled).then((settled) => this.#end(settled))
  }

  #end(settled: Settlement): void {
    this.#hasEnded = true
    this.#clocks.end()
    this.#tools.heartbeat.drop(this.job)
    this.#tell(settled)
    this.#tellTrace?.(settled)
    const leftBehind = this.#isHung ? this.#handled : null
    this.#tools.slots.onEnded(this, { leftBehind, isCritical: settled.isCritical === true })
  }

  #tell(settled: Settlement): void {
    const { end, code, reason, retryInMs } = settled
    if (this.#hasGateway) this.#jobGateway.noteEnd(settled)
    const { events } = this.#tools
    if (!events.isHeard('job:ended')) return
    events.emit('job:ended', {
      job: this.job,
      end,
      durationMs: Math.round(performance.now() - this.#startedAtMs),
      ...(code === undefined ? {} : { code }),
      ...(reason === undefined ? {} : { reason }),
      ...(retryInMs === undefined ? {} : { retryInMs }),
      ...(this.#hasGateway ? this.#jobGateway.facts() : {}),
    })
  }

  lookAtClocks(nowMs: number): void {
    this.#clocks.look(nowMs)
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
      const agoMs = performance.timeOrigin + performance.now() - sentAtMs
      this.#clocks.renewLease(this.#leaseMs - agoMs)
    }
    if (answer === 'lost') this.abort('lease-lost')
    else if (answer === 'cancel-asked') this.abort('cancelled')
    else if (answer === 'past-deadline') this.abort('deadline')
  }

  tellRisk(): void {
    this.#tools.events.emit('job:at-risk', { job: this.job })
  }

  get isAtRisk(): boolean {
    return this.#clocks.isAtRisk
  }

  noteProgress(): void {
    this.#clocks.restartProgress()
  }

  get gateway(): Gateway {
    this.#openGateway ??= this.#jobGateway.open(this.signal, () => this.#clocks.isAtRisk)
    return this.#openGateway
  }

  get #hasGateway(): boolean {
    return this.#madeGateway !== undefined || this.#registered.dependency !== undefined
  }

  get #jobGateway(): JobGateway {
    this.#madeGateway ??= new JobGateway(this.job, this.#registered.dependency, this.#tools)
    return this.#madeGateway
  }

  async enterStage(name: string): Promise<void> {
    const { store, policy } = this.#tools
    const askedAtMs = performance.now()
    const entered = await store.enterStage(this.job, name, { policy })
    const agoMs = performance.now() - askedAtMs
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
  }

  async completeInTx<T extends JsonValue | undefined>(work: (client: Tx) => Promise<T>): Promise<T> {
    const value = await completeInTransaction(this, this.#tools, work)
    this.#isCommitted = true
    return value
  }

  noteExtended(leaseMs: number): void {
    this.#clocks.renewLease(leaseMs)
  }

  get leaseMs(): number {
    return this.#leaseMs
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  #settle(handlerEnd: HandlerEnd): Promise<Settlement> {
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
      this.#tools.completions.put(this.#completion, this)
    } catch (error) {
      this.#endWith(this.#fail(error))
    }
  }

  onAnswered({ outcome }: JobOutcome<CompleteOutcome>): void {
    if (outcome === 'completed' || outcome === 'already-done') this.#end(COMPLETED)
    else this.#endWith(this.#keepLateResult({ kind: 'returned', result: this.#completion?.result }))
  }

  /** What the table does not take as a result is a failure of the job. */
  onFailed(error: unknown): void {
    const write = () => this.#tools.completions.add(this.#completion as Completion)
    knownLater(error, write, () => this.#isHopeless).then(
      (settled) => this.onAnswered(settled),
      (last: unknown) => (isRefusal(last) ? this.#endWith(this.#fail(last)) : this.#end(unsettled(last))),
    )
  }

  async #fail(error: unknown): Promise<Settlement> {
    const { failure, isCritical } = failureOf(this.job, error, this.#abortCause)
    if (this.#hasGateway) await this.#jobGateway.noteFailure(failure.code)
    const settled = await this.#untilKnown(() => this.#tools.failures.add(failure))
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

  /** As the handler or the service it calls asked for; where nobody did, the worker leaves. */
  async #release(asked?: AskedRelease): Promise<Settlement> {
    const { store, releases } = this.#tools
    const write = async () =>
      asked === undefined ? releases.add(this.job) : (await store.releaseJobs([this.job], asked))[0]
    return settleRelease(await this.#untilKnown(write), asked)
  }

  #untilKnown<T>(call: () => Promise<T>): Promise<T> {
    return untilKnown(call, () => this.#isHopeless)
  }

  /** A worker that leaves does not wait for a database that is gone longer than its leases last. */
  get #isHopeless(): boolean {
    const isLost = this.#abortCause === 'lease-lost'
    return isLost || this.#isGivenUp || (this.#abortCause === 'shutdown' && this.#clocks.isAtRisk)
  }

  /** A fenced-out attempt writes nothing; what it found out is kept as evidence. */
  async #keepLateResult(handlerEnd: HandlerEnd): Promise<Settlement> {
    const details = lateDetails(handlerEnd, this.job)
    // Evidence is worth one try, not a crash.
    if (details !== null) await this.#tools.store.recordLateResult(this.job, details).catch(() => false)
    return { end: 'lost' }
  }
}
