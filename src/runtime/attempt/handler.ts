// What a handler is given. Everything here is for the work itself; leases and retries are the runner's.
import type { JsonValue } from '../../job/job.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { ChildResult, SpawnOptions } from '../child/spawn-child.ts'
import type { Gateway } from '../limits/gateway.ts'
import type { HandlerLimit } from '../limits/token-limiter.ts'

export interface ReleaseRequest {
  /** The job is not claimed again before; 1000 where absent, and a year at most. */
  afterMs?: number
  /** One line for operators: kept as an event of the job. */
  reason?: string
  /** The service behind the handler's `dependency` asked for it: no job of any worker that calls it starts before. */
  isLimited?: boolean
}

/** Plain functions, so that a handler may take them apart. */
export interface JobContext<Tx = unknown> {
  /** Aborted when the lease is lost, the deadline or progress limit passes, the job is cancelled, or the worker leaves. */
  signal: AbortSignal
  /** Grows with every claim of the job: for outside systems that can compare it. */
  fence: number
  /** True while no heartbeat got through in time: somebody else may run the job, so hold back effects that cannot be undone. */
  isAtRisk: () => boolean
  /** The work moves: holds off the progress limit of the handler. */
  progress: () => void
  /** Moves the job into another stage, with that stage's lease and deadline. Throws where the lease is lost. */
  stage: (name: string) => Promise<void>
  /** Runs a child program that dies with the worker and on abort. */
  spawn: (command: string, args: string[], options?: Omit<SpawnOptions, 'signal'>) => Promise<ChildResult>
  /**
   * Calls the outside service of GATEWAY_URL, or any address: with the timeout of GATEWAY_TIMEOUT_MS, under the job's signal,
   * failures as errors that say whether to try again, and each call told to the breaker of the handler's dependency. A service
   * that asks for a pause (429, or 503 with Retry-After) gets it: the job goes back without an attempt spent.
   */
  gateway: Gateway
  /** Ends the attempt and gives the job back without an attempt spent, by throwing: let that through. */
  release: (request?: ReleaseRequest) => never
  /**
   * Runs the caller's writes and the completion in one transaction: both happen, or neither. What `work` returns is the
   * job's result; the handler should return right after it.
   */
  tx: <T extends JsonValue | undefined>(work: (client: Tx) => Promise<T>) => Promise<T>
}

export type Handler<Tx = unknown> = (job: ClaimedJob, context: JobContext<Tx>) => Promise<unknown>

export interface HandlerOptions {
  /** What the type is claimed from; the type itself where absent. */
  queue?: string
  /** Abort a handler that has not called `progress()` for so long. */
  progressLimitMs?: number
  /** The outside service that jobs of this type call: while its breaker is open, none of them is claimed. */
  dependency?: string
  /** How many jobs may start in a time. */
  limits?: HandlerLimit[]
}

export interface RegisteredHandler<Tx = unknown> extends HandlerOptions {
  type: string
  handler: Handler<Tx>
}

export type AbortCause = 'lease-lost' | 'deadline' | 'no-progress' | 'cancelled' | 'shutdown'

/** The reason of an aborted `signal`. */
export class JobAborted extends Error {
  readonly abortCause: AbortCause

  constructor(abortCause: AbortCause) {
    super(`the job was aborted: ${abortCause}`)
    this.name = 'AbortError'
    this.abortCause = abortCause
  }
}
