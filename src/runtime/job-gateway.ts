// The gateway as one attempt sees it: under the job's signal, every call told to the breaker of the handler's dependency.
import { toPublicCode, transientError } from '../errors/index.ts'
import type { ClaimedJob } from '../job/lease.ts'
import type { AttemptEnd, RuntimeEventEmitter } from '../observe/events.ts'
import type { DependencyCalls } from './dependency-calls.ts'
import { createGateway, type Gateway, type GatewayCall, type GatewayOptions } from './gateway.ts'
import type { Settlement } from './settlement.ts'

export interface JobGatewayTools {
  gateway: Omit<GatewayOptions, 'onCall'>
  dependencyCalls: DependencyCalls
  events: RuntimeEventEmitter
}

export class JobGateway {
  readonly #job: ClaimedJob
  readonly #dependency: string | null
  readonly #tools: JobGatewayTools
  #lastCall: GatewayCall | undefined

  constructor(job: ClaimedJob, dependency: string | undefined, tools: JobGatewayTools) {
    this.#job = job
    this.#dependency = dependency ?? null
    this.#tools = tools
  }

  open(signal: AbortSignal, isAtRisk: () => boolean): Gateway {
    const call = createGateway({ ...this.#tools.gateway, onCall: (made) => this.#note(made) })
    return async (pathOrUrl, init) => {
      // Somebody else may run the job by now: no new effects until a beat has got through (C6).
      if (isAtRisk()) throw transientError('no heartbeat got through in time: the lease may be over')
      const both = init?.signal == null ? signal : AbortSignal.any([signal, init.signal])
      return call(pathOrUrl, { ...init, signal: both })
    }
  }

  /** A handler with a client of its own: how its attempt ended is all there is to know. */
  noteEnd({ end, code, limitedMs }: Settlement): void {
    if (this.#dependency === null || this.#lastCall !== undefined) return
    const isFailure = limitedMs === undefined ? endedByDependency(end, code) : false
    if (isFailure !== null) this.#report(this.#dependency, isFailure, limitedMs)
  }

  /** What the line about the end of the attempt says of it (SEE-1). */
  facts(): { gatewayStatus?: number | null; breaker?: string } {
    const breaker =
      this.#dependency === null ? undefined : this.#tools.dependencyCalls.stateOf(this.#dependency)
    return {
      ...(this.#lastCall === undefined ? {} : { gatewayStatus: this.#lastCall.status }),
      ...(breaker === undefined ? {} : { breaker }),
    }
  }

  #note(made: GatewayCall): void {
    this.#lastCall = made
    const { url, status, durationMs, outcome, limitedMs } = made
    const call = { dependency: this.#dependency, url, status, durationMs, outcome }
    this.#tools.events.emit('gateway:called', { job: this.#job, call })
    // A call that the job itself gave up tells nothing about the service.
    if (this.#dependency === null || outcome === 'aborted') return
    this.#report(this.#dependency, isServiceFailure(made), limitedMs)
  }

  #report(dependency: string, isFailure: boolean, limitedMs?: number): void {
    const limit = limitedMs === undefined ? {} : { limitedMs }
    this.#tools.dependencyCalls.report(dependency, { isFailure, jobId: this.#job.jobId, ...limit })
  }
}

/** A 503 that says when to come again is a failure of the service too; a 429 is its answer to us. */
function isServiceFailure({ outcome, status }: GatewayCall): boolean {
  if (outcome === 'limited') return status === 503
  return outcome === 'server-error' || outcome === 'timeout' || outcome === 'unavailable'
}

/** Null where the end tells nothing about the dependency: the deadline of a job is no timeout of a call. */
function endedByDependency(end: AttemptEnd, code = 'UNKNOWN'): boolean | null {
  if (end === 'completed') return false
  if ((end !== 'retried' && end !== 'dead') || code === 'timeout') return null
  const publicCode = toPublicCode(code)
  if (publicCode === 'GW_5XX' || publicCode === 'GW_TIMEOUT') return true
  return publicCode === 'GW_4XX' ? false : null
}
