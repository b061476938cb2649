// The context a handler gets. Everything here is for the work itself; the attempt takes care of leases and retries.
import type { JsonValue, RetryBackoff } from '../../job/job.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { ChildResult, SpawnOptions } from '../child/spawn-child.ts'
import type { Gateway } from '../limits/gateway.ts'
import type { HandlerLimit } from '../limits/token-limiter.ts'

export interface ReleaseRequest {
  /** The job is not claimed again before this time has passed. Default: 1000; at most a year. */
  afterMs?: number | undefined
  /** One line for operators, kept as an event of the job. */
  reason?: string | undefined
  /** The handler's `dependency` asked for the pause: no job that depends on it starts earlier, on any worker. */
  isLimited?: boolean | undefined
}

/** Plain functions, so that a handler may destructure it. */
export interface JobContext<Tx = unknown, Result = unknown> {
  /** Aborted when the lease is lost, the deadline or progress limit passes, the job is cancelled, or the worker leaves. */
  signal: AbortSignal
  /** Grows with every claim of the job, for external systems that can compare it. */
  fence: number
  /** True while no heartbeat was answered in time: another worker may run the job, so hold back irreversible effects. */
  isAtRisk: () => boolean
  /**
   * Reports progress, which restarts the handler's progress limit. A value from 0 to 1, and a text of up to 200 characters, are
   * kept in the job's row, at most once a second; the last one is always kept.
   */
  progress: (value?: number, text?: string) => void
  /** Moves the job to another stage, with that stage's lease and deadline. Throws if the lease is lost. */
  stage: (name: string) => Promise<void>
  /** Runs a child program that ends with the worker and on abort. */
  spawn: (command: string, args: string[], options?: Omit<SpawnOptions, 'signal'>) => Promise<ChildResult>
  /**
   * Calls the service of GATEWAY_URL, or any address, with the timeout of GATEWAY_TIMEOUT_MS and the job's signal. Failures are
   * errors that say whether to retry, and each call is reported to the breaker of the handler's dependency. If the service asks
   * for a pause (429, or 503 with Retry-After), the job is released without spending an attempt.
   */
  gateway: Gateway
  /** Releases the job without spending an attempt. Ends the attempt by throwing an error that must not be caught. */
  release: (request?: ReleaseRequest) => never
  /**
   * Runs the caller's writes and the completion in one transaction: both happen, or neither. The return value of `work` is the
   * job's result; the handler should return right after it.
   */
  tx: <T extends Result>(work: (client: Tx) => Promise<T>) => Promise<T>
  /**
   * The same in a transaction of your own client, which `work` opens. `complete(tx, result)` is its last statement, and throws if
   * the lease is lost. The lease is extended by `txTimeoutMs` first, and heartbeats of the job pause.
   */
  ownTx: <T>(work: (complete: CompleteInTx<Result>) => Promise<T>) => Promise<T>
}

/** `tx` is an open transaction of a client that `enqueue` takes too. Resolves with the result of the job. */
export type CompleteInTx<Result = unknown> = <R extends Result>(tx: unknown, result?: R) => Promise<R>

/** Its return value, or what its promise resolves with, is the result of the job. */
export type Handler<Tx = unknown, Payload = JsonValue, Result = unknown, Type extends string = string> = (
  job: ClaimedJob<Payload, Type>,
  context: JobContext<Tx, Result>,
) => Result | Promise<Result>

export interface HandlerOptions {
  /** Queue that the type is claimed from. Default: the type. */
  queue?: string | undefined
  /** Aborts a handler that has not called `progress()` for this long. */
  progressLimitMs?: number | undefined
  /** The service that jobs of this type call: none of them is claimed while its breaker is open. */
  dependency?: string | undefined
  /** How many jobs of this type run at once in this process. Default: as many as the worker has slots. */
  concurrency?: number | undefined
  /** Rate limits on starting jobs. */
  limits?: HandlerLimit[] | undefined
  /** Attempts and waits of jobs that were enqueued without their own. */
  retry?: HandlerRetry | undefined
}

export interface HandlerRetry {
  /** Failures until a job is dead. A job that was enqueued with another maximum than the policy's keeps it. */
  attempts?: number | undefined
  /** As for a job, or a function that returns the wait in milliseconds. It runs in the worker. */
  backoff?: RetryBackoff | BackoffFunction | undefined
}

/** `failures` counts this one; 1 is the first. If it throws or returns no duration, the policy decides. */
export type BackoffFunction = (failure: { failures: number; error: unknown; job: ClaimedJob }) => number

export interface RegisteredHandler<Tx = unknown> extends HandlerOptions {
  type: string
  handler: Handler<Tx>
  /** Batches of a handler of many jobs: `handler` adds a job to one and waits for its outcome. */
  batches?: HandlerBatches | undefined
}

export interface HandlerBatches {
  /** Most jobs of a batch. */
  readonly size: number
  /** Begins with the jobs that are gathered, without waiting for more. */
  begin(): void
  /** The jobs whose attempts `start` starts are a batch, or several, of their own, which wait for no others. */
  gatherOnly(start: () => void): void
  /** The attempt of this job was given up. Returns the call that it leaves behind, if no other attempt waits for it. */
  leave(job: ClaimedJob): Promise<unknown> | null
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
