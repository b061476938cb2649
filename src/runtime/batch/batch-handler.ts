// A handler of many jobs at once, and what it gets.
import type { JsonValue } from '../../job/job.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { HandlerOptions, JobContext, ReleaseRequest } from '../attempt/handler.ts'

/** A job of a batch. Only its first outcome counts. Plain functions, so that a handler may destructure it. */
export interface BatchedJob<Tx = unknown, Payload = JsonValue, Result = unknown, Type extends string = string>
  extends ClaimedJob<Payload, Type> {
  /** The context of this job alone: its signal, its transaction, its progress. */
  context: Omit<JobContext<Tx, Result>, 'release'>
  /** The job succeeded, with this result. */
  complete: (...result: undefined extends Result ? [result?: Result] : [result: Result]) => void
  /** The job failed with this error, which decides about its retry as if a handler had thrown it. */
  fail: (error: unknown) => void
  /** Releases the job without spending an attempt. */
  release: (request?: ReleaseRequest) => void
}

export interface BatchContext {
  /** Aborted when the signals of all jobs that have no outcome yet are aborted. */
  signal: AbortSignal
}

/**
 * When it returns, jobs without an outcome have succeeded, without a result, except those that were aborted. What it
 * throws is the failure of each of them.
 */
export type BatchHandler<
  Tx = unknown,
  Payload = JsonValue,
  Result = unknown,
  Type extends string = string,
> = (jobs: BatchedJob<Tx, Payload, Result, Type>[], batch: BatchContext) => void | Promise<void>

export interface BatchOptions extends HandlerOptions {
  /** Most jobs of a batch: at most the concurrency of the worker, since each of them takes a slot. */
  size: number
  /** How long a batch that is not full waits for more jobs. Default: 0, those that were claimed together. */
  waitMs?: number | undefined
}
