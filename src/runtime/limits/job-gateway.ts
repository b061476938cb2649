// The gateway of one attempt: calls run under the job's signal and are reported to the breaker of the handler's dependency.
import { toPublicCode, transientError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { DependencyCall } from '../../store/job-store.ts'
import type { AttemptOutcome } from '../attempt/outcome.ts'
import type { DependencyCalls } from './dependency-calls.ts'
import { createGateway, type Gateway, type GatewayCall, type GatewayOptions } from './gateway.ts'

export interface JobGatewayDependencies {
  gateway: Omit<GatewayOptions, 'onCall'>
  dependencyCalls: DependencyCalls
  events: RuntimeEventEmitter
}

export class JobGateway {
  readonly #job: ClaimedJob
  readonly #dependency: string | null
  readonly #deps: JobGatewayDependencies
  #lastCall: GatewayCall | undefined
  /** Resolves when all calls so far are reported. */
  #reported: Promise<void> = Promise.resolve()
  #hasReported = false

  constructor(job: ClaimedJob, dependency: string | undefined, deps: JobGatewayDependencies) {
    this.#job = job
    this.#dependency = dependency ?? null
    this.#deps = deps
  }

  open(signal: AbortSignal, isAtRisk: () => boolean): Gateway {
    const call = createGateway({ ...this.#deps.gateway, onCall: (made) => this.#note(made) })
    return async (pathOrUrl, init) => {
      // Another worker may run the job by now: no new effects until a heartbeat is answered (C6).
      if (isAtRisk()) throw transientError('no heartbeat was answered in time: the lease may have expired')
      const both = init?.signal == null ? signal : AbortSignal.any([signal, init.signal])
      return call(pathOrUrl, { ...init, signal: both })
    }
  }

  /**
   * Reported before a failure is written: a half-open breaker that let the job through has to know of it, or the job would lose
   * an attempt. For a handler with its own client the code is the only evidence.
   */
  async noteFailure(code: string | undefined): Promise<void> {
    if (this.#dependency === null) return
    if (this.#lastCall === undefined) {
      const isFailure = failedByDependency(code)
      if (isFailure !== null) this.#report({ isFailure })
      if (code !== 'timeout')
        this.#deps.dependencyCalls.noteFailure(this.#job.type, this.#dependency, isTelling(code))
    }
    await this.#reported
  }

  /** A handler with its own client that returned has called the service; one that uses `gateway` may not have. */
  noteEnd({ end, limitedMs }: AttemptOutcome): void {
    if (this.#hasReported || this.#dependency === null) return
    const { dependencyCalls } = this.#deps
    if (limitedMs !== undefined) this.#report({ isFailure: false, limitedMs })
    else if (end === 'completed' && !dependencyCalls.isCaller(this.#job.type))
      this.#report({ isFailure: false })
    // Only a half-open breaker granted it a slot to return.
    else if ((dependencyCalls.stateOf(this.#dependency) ?? 'closed') !== 'closed') this.#report({})
  }

  /** Fields of the log line about the end of the attempt (SEE-1). */
  facts(): { gatewayStatus?: number | null; breaker?: string } {
    const breaker =
      this.#dependency === null ? undefined : this.#deps.dependencyCalls.stateOf(this.#dependency)
    return {
      ...(this.#lastCall === undefined ? {} : { gatewayStatus: this.#lastCall.status }),
      ...(breaker === undefined ? {} : { breaker }),
    }
  }

  #note(made: GatewayCall): void {
    this.#lastCall = made
    this.#deps.dependencyCalls.noteCaller(this.#job.type)
    const { url, status, durationMs, outcome, limitedMs } = made
    const call = { dependency: this.#dependency, url, status, durationMs, outcome }
    this.#deps.events.emit('gateway:called', { job: this.#job, call })
    // A call that the job itself aborted says nothing about the service.
    if (outcome === 'aborted') return
    this.#report({ isFailure: isServiceFailure(made), ...(limitedMs === undefined ? {} : { limitedMs }) })
  }

  #report(call: Omit<DependencyCall, 'jobId'>): void {
    if (this.#dependency === null) return
    const { jobId } = this.#job
    const reported = this.#deps.dependencyCalls.report(this.#dependency, { ...call, jobId })
    this.#reported = Promise.all([this.#reported, reported]).then(() => {})
    this.#hasReported = true
  }
}

/** A 503 with Retry-After is a failure of the service too; a 429 is not. */
function isServiceFailure({ outcome, status }: GatewayCall): boolean {
  if (outcome === 'limited') return status === 503
  return outcome === 'server-error' || outcome === 'timeout' || outcome === 'unavailable'
}

/** An unmapped code does not say whether the dependency is at fault. */
function isTelling(code = 'UNKNOWN'): boolean {
  return toPublicCode(code) !== 'UNKNOWN'
}

/** Null if the code says nothing about the dependency: a job's deadline is not the timeout of a call. */
function failedByDependency(code = 'UNKNOWN'): boolean | null {
  if (code === 'timeout') return null
  const publicCode = toPublicCode(code)
  if (publicCode === 'GW_5XX' || publicCode === 'GW_TIMEOUT') return true
  return publicCode === 'GW_4XX' ? false : null
}
