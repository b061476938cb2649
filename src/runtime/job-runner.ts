// The life of one attempt, top to bottom: hold the lease, run the handler under its clocks, write the outcome with the lease
// or not at all.

import { isUnstuckError, UnstuckError } from '../errors/index.ts'
import type { JsonValue } from '../job/job.ts'
import { jsonText } from '../job/json-text.ts'
import type { ClaimedJob, HeartbeatAnswer } from '../job/lease.ts'
import type { CompleteOutcome } from '../job/outcome.ts'
import type { AttemptEnd } from '../observe/events.ts'
import type { Tracing } from '../observe/tracing.ts'
import { classifyError } from '../policy/classify-error.ts'
import type { Completion, FailedJob, Failure, JobStore, Settled } from '../store/job-store.ts'
import type { Batcher } from './batcher.ts'
import { type AbortCause, JobAborted, type JobContext, type RegisteredHandler } from './handler.ts'
import type { Heartbeat } from './heartbeat.ts'
import { JobClocks } from './job-clocks.ts'
import { JobGateway, type JobGatewayTools } from './job-gateway.ts'
import { type HandlerEnd, lateDetails } from './late-result.ts'
import { spawnChild } from './spawn-child.ts'
import { untilKnown } from './until-known.ts'

export interface RunnerTools<Tx = unknown> extends JobGatewayTools {
  store: JobStore<Tx>
  heartbeat: Heartbeat
  completions: Batcher<Completion, Settled<CompleteOutcome>>
  failures: Batcher<Failure, FailedJob>
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
  /** The handler still runs: its slot is back, its memory is not. */
  isLeaked: boolean
  isCritical: boolean
}

export interface RunningJob {
  job: ClaimedJob
  abort(cause: AbortCause): void
  /** No more grace for a handler that was told to stop. */
  giveUp(): void
  ended: Promise<AttemptResult>
}

export function startJob<Tx>(
  job: ClaimedJob,
  registered: RegisteredHandler<Tx>,
  tools: RunnerTools<Tx>,
): RunningJob {
  const attempt = new Attempt(job, registered, tools)
  return { job, abort: (cause) => attempt.abort(cause), giveUp: () => attempt.giveUp(), ended: attempt.run() }
}

class Attempt<Tx> {
  readonly #job: ClaimedJob
  readonly #registered: RegisteredHandler<Tx>
  readonly #tools: RunnerTools<Tx>
  readonly #gateway: JobGateway
  readonly #controller = new AbortController()
  /** Settles when the handler was told to stop and did not, within the grace. */
  readonly #hung = withResolvers<HandlerEnd>()
  readonly #startedAtMs = performance.now()
  readonly #clocks: JobClocks
  /** Of the stage the job is in. */
  #leaseMs: number
  #tx: 'none' | 'tried' | 'committed' = 'none'

  constructor(job: ClaimedJob, registered: RegisteredHandler<Tx>, tools: RunnerTools<Tx>) {
    this.#job = job
    this.#registered = registered
    this.#tools = tools
    this.#gateway = new JobGateway(job, registered.dependency, tools)
    this.#leaseMs = job.leaseMs
    this.#clocks = new JobClocks(
      registered.progressLimitMs,
      (cause) => this.abort(cause),
      () => this.#tools.events.emit('job:at-risk', { job }),
    )
  }

  async run(): Promise<AttemptResult> {
    this.#tools.events.emit('job:started', { job: this.#job })
    this.#holdLease()
    this.#clocks.renewLease(this.#leaseMs)
    this.#clocks.setDeadline(this.#job.deadlineMs)
    this.#clocks.restartProgress()
    const { tracing, workerId, heartbeat } = this.#tools
    const work = () => this.#work()
    const settled = await (tracing?.process(this.#job, workerId, work, (settlement) => settlement) ?? work())
    this.#clocks.end()
    heartbeat.letGo(this.#job)
    this.#tell(settled)
    return { end: settled.end, isLeaked: settled.isLeaked, isCritical: settled.isCritical ?? false }
  }

  async #work(): Promise<Settlement & { isLeaked: boolean }> {
    const handlerEnd = await Promise.race([this.#handle(), this.#hung.promise])
    const settlement = await this.#settle(handlerEnd).catch(unsettled)
    return { ...settlement, isLeaked: handlerEnd.kind === 'hung' }
  }

  #tell({ end, code, retryInMs }: Settlement): void {
    this.#gateway.noteEnd(end, code)
    this.#tools.events.emit('job:ended', {
      job: this.#job,
      end,
      durationMs: Math.round(performance.now() - this.#startedAtMs),
      ...(code === undefined ? {} : { code }),
      ...(retryInMs === undefined ? {} : { retryInMs }),
      ...this.#gateway.facts(),
    })
  }

  abort(cause: AbortCause): void {
    if (this.#controller.signal.aborted) return
    this.#tools.events.emit('job:aborted', { job: this.#job, reason: cause })
    this.#controller.abort(new JobAborted(cause))
    this.#clocks.startGrace(this.#tools.hangGraceMs, () => this.giveUp())
  }

  giveUp(): void {
    this.#hung.resolve({ kind: 'hung' })
  }

  get #abortCause(): AbortCause | null {
    const reason: unknown = this.#controller.signal.reason
    return reason instanceof JobAborted ? reason.abortCause : null
  }

  #holdLease(): void {
    this.#tools.heartbeat.hold(this.#job, (answer: HeartbeatAnswer) => {
      if (answer === 'kept' || answer === 'cancel-asked') this.#clocks.renewLease(this.#leaseMs)
      if (answer === 'lost') this.abort('lease-lost')
      else if (answer === 'cancel-asked') this.abort('cancelled')
      else if (answer === 'past-deadline') this.abort('deadline')
    })
  }

  async #handle(): Promise<HandlerEnd> {
    try {
      return { kind: 'returned', result: await this.#registered.handler(this.#job, this.#context()) }
    } catch (error) {
      return { kind: 'threw', error }
    }
  }

  #context(): JobContext<Tx> {
    const { signal } = this.#controller
    return {
      signal,
      fence: this.#job.fence,
      isAtRisk: () => this.#clocks.isAtRisk,
      progress: () => this.#clocks.restartProgress(),
      stage: (name) => this.#enterStage(name),
      spawn: (command, args, options) => spawnChild(command, args, { ...options, signal }),
      gateway: this.#gateway.open(signal, () => this.#clocks.isAtRisk),
      tx: (work) => this.#completeInTx(work),
    }
  }

  async #enterStage(name: string): Promise<void> {
    const entered = await this.#tools.store.enterStage(this.#job, name)
    if (entered.outcome === 'past-deadline') {
      this.abort('deadline')
      throw this.#controller.signal.reason
    }
    if (entered.outcome !== 'entered') {
      this.abort('lease-lost')
      throw leaseLost(this.#job)
    }
    this.#leaseMs = entered.leaseMs ?? this.#leaseMs
    this.#clocks.renewLease(this.#leaseMs)
    this.#clocks.setDeadline(entered.deadlineMs)
  }

  /** Beats of the job pause while the transaction is open, or REPEATABLE READ callers would meet our writes (C4). */
  async #completeInTx<T extends JsonValue | undefined>(work: (client: Tx) => Promise<T>): Promise<T> {
    const { store, heartbeat, transaction, txTimeoutMs } = this.#tools
    const { answers } = await store.heartbeatJobs([this.#job], { leaseMs: txTimeoutMs })
    if (answers[0]?.answer !== 'kept') throw leaseLost(this.#job)
    heartbeat.letGo(this.#job)
    this.#clocks.renewLease(txTimeoutMs)
    this.#tx = 'tried'
    try {
      const result = await transaction(async (client) => {
        const value = await work(client)
        const [settled] = await store.completeJobs([completionOf(this.#job, value)], { tx: client })
        if (settled?.outcome !== 'completed') throw leaseLost(this.#job)
        return value
      })
      this.#tx = 'committed'
      return result
    } catch (error) {
      this.#holdLease()
      throw error
    }
  }

  async #settle(handlerEnd: HandlerEnd): Promise<Settlement> {
    if (this.#tx === 'committed') return { end: 'completed' }
    if (this.#abortCause === 'lease-lost') return this.#keepLateResult(handlerEnd)
    if (handlerEnd.kind === 'returned') return this.#complete(handlerEnd.result)
    if (this.#abortCause === 'shutdown') return this.#release()
    return this.#fail(handlerEnd.kind === 'threw' ? handlerEnd.error : this.#controller.signal.reason)
  }

  async #complete(result: unknown): Promise<Settlement> {
    let completion: Completion
    try {
      completion = completionOf(this.#job, result)
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
      jobId: this.#job.jobId,
      leaseId: this.#job.leaseId,
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
    // An earlier call of ours had got through: the commit of a `tx` whose answer was lost, or this very failure.
    return this.#tx === 'tried' ? { end: 'completed' } : { end: 'retried', ...told }
  }

  async #release(): Promise<Settlement> {
    const release = () => this.#tools.store.releaseJobs([this.#job], { cause: 'interruption' })
    const [settled] = await this.#untilKnown(release)
    return { end: settled?.outcome === 'cancelled' ? 'cancelled' : 'released' }
  }

  #untilKnown<T>(call: () => Promise<T>): Promise<T> {
    return untilKnown(call, () => this.#abortCause === 'lease-lost')
  }

  /** A fenced-out attempt writes nothing; what it found out is kept as evidence. */
  async #keepLateResult(handlerEnd: HandlerEnd): Promise<Settlement> {
    const details = lateDetails(handlerEnd, this.#job)
    // Evidence is worth one try, not a crash.
    if (details !== null) await this.#tools.store.recordLateResult(this.#job, details).catch(() => false)
    return { end: 'lost' }
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

interface Settlement {
  end: AttemptEnd
  code?: string
  retryInMs?: number | null
  isCritical?: boolean
}

/** Nothing could be written, for a reason that no retry mends: the lease runs out and the reaper takes the job. */
function unsettled(error: unknown): Settlement {
  return { end: 'lost', code: isUnstuckError(error) ? error.code : 'INTERNAL' }
}

function completionOf({ jobId, leaseId }: ClaimedJob, result: unknown): Completion {
  if (result === undefined) return { jobId, leaseId }
  // Checked here, so that one bad result does not spoil the batch of the others.
  jsonText('result', result)
  return { jobId, leaseId, result: result as JsonValue }
}

function leaseLost(job: ClaimedJob): UnstuckError {
  return new UnstuckError('LEASE_LOST', `job ${job.jobId}: the lease is lost, nothing was written`)
}
