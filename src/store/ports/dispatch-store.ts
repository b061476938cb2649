// The part of the store port for teams whose workers are woken by another queue: every job that goes back to waiting is
// noted in the same transaction, and the note stays until it was published there (REAP-12). At least once, never lost.

export interface DispatchStore {
  /**
   * Takes jobs that are to be published, for `leaseMs`: nobody else gets them meanwhile. Only jobs that still wait;
   * empty where nothing is due.
   */
  takeDispatches(request?: TakeDispatchesRequest): Promise<TakenDispatch[]>
  /** They were published. What was put back anew meanwhile stays to be published again. Answers how many went. */
  finishDispatches(taken: TakenDispatch[]): Promise<number>
  /** They were not: they come again after 1 s, doubled with each try up to 5 minutes. Answers how many. */
  failDispatches(taken: TakenDispatch[], error: string): Promise<number>
  /** How many jobs are still to be published. */
  countDispatches(): Promise<number>
}

export interface TakeDispatchesRequest {
  /** At most so many; 100 where absent. */
  limit?: number
  /** 30 s where absent. What is neither finished nor failed by then is taken again. */
  leaseMs?: number
}

/** What an outside queue is told of a job that waits again. */
export interface DispatchedJob {
  /** A UUID: the same however often this is published, another one when the job goes back to waiting once more. */
  dispatchId: string
  jobId: string
  type: string
  queue: string
  /** Until the job is due; it cannot be claimed before. */
  runInMs: number
  /** How many attempts the job has behind it. */
  attempt: number
}

export interface TakenDispatch extends DispatchedJob {
  /** With this one. */
  tries: number
}
