// For teams whose workers are woken by another queue: every job that returns to waiting is recorded in the same transaction,
// until it was published there (REAP-12). At least once, never lost.

export interface DispatchStore {
  /** Takes waiting jobs to publish. For `leaseMs` nobody else gets them. */
  takeDispatches(request?: TakeDispatchesRequest): Promise<TakenDispatch[]>
  /** Removes published dispatches, except those of jobs that were requeued meanwhile. Returns how many were removed. */
  finishDispatches(taken: TakenDispatch[]): Promise<number>
  /** Retries them after 1 s, doubled with each try up to 5 minutes. Returns how many are retried. */
  failDispatches(taken: TakenDispatch[], error: string): Promise<number>
  /** Number of jobs still to be published. */
  countDispatches(): Promise<number>
}

export interface TakeDispatchesRequest {
  /** Default: 100. */
  limit?: number
  /** Dispatches that are neither finished nor failed by then are taken again. Default: 30 s. */
  leaseMs?: number
}

/** The message for the outside queue. */
export interface DispatchedJob {
  /** A UUID: the same for every try, a new one each time the job returns to waiting. */
  dispatchId: string
  jobId: string
  type: string
  queue: string
  /** Until the job is due; it cannot be claimed earlier. */
  runInMs: number
  /** Number of past attempts. */
  attempt: number
}

export interface TakenDispatch extends DispatchedJob {
  /** Including this one. */
  tries: number
}
