// Changes of many jobs at once. An operation selects its jobs once and is kept in the store; a lease says which process runs
// it, so another one can continue after a crash.
import type { JobStatus } from '../../job/job.ts'
import type { ActorOptions, CountOption } from './call-options.ts'
import type { JobFilter } from './reading-store.ts'

export interface OperationStore {
  /** Selects the jobs and records the operation; changes no job. With `leaseMs` it takes the lease too. */
  beginOperation(request: NewOperation): Promise<BegunOperation>
  /** Takes an operation that nobody runs: just begun, or its process died. */
  takeOperation(options?: { leaseMs?: number }): Promise<HeldOperation | null>
  /** Changes the next jobs, all or nothing, and renews the lease. A limit of 0 only renews. */
  stepOperation(lease: OperationLease, step: OperationStep): Promise<OperationProgress | 'lease-lost'>
  /** Gives up the lease. False if it was lost before. */
  giveBackOperation(lease: OperationLease): Promise<boolean>
  endOperation(lease: OperationLease, end: OperationEnd): Promise<Operation | 'lease-lost'>
  /** Stops it at once, whoever runs it: the next step is refused. Jobs already changed stay changed. */
  abortOperation(operationId: string, options?: AbortOptions): Promise<AbortedOperation>

  readOperation(operationId: string, options?: { owner?: string }): Promise<Operation | null>
  /** Newest first. */
  listOperations(options?: ListOperationsOptions): Promise<OperationPage>
  /** Where the jobs that it changed are now. */
  countOperationEnds(operationId: string): Promise<OperationEnds>
  /** Its jobs and their outcomes, in processing order. */
  listOperationJobs(operationId: string, options?: ListOperationJobsOptions): Promise<OperationJobPage>
}

export type OperationAction = 'retry' | 'run-now' | 'cancel' | 'discard' | 'redrive'
export type OperationState = 'running' | 'done' | 'stopped' | 'failed'
export type OperationPhase = 'canary' | 'rest'

/** Upper bound of the ids that an operation keeps. */
export const MAX_OPERATION_JOBS = 100_000

export interface NewOperation extends ActorOptions, CountOption {
  action: OperationAction
  filter: JobFilter
  /** The filter as typed. */
  q: string
  /** Jobs that were created, or died, later are excluded. Default: now. */
  asOf?: Date
  /** Limits the selection to the oldest matching jobs. */
  limit?: number
  /** Refuses to begin if another number of jobs matches. */
  expect?: number
  /** Limits the selection to jobs of this owner. */
  owner?: string
  /** Redrive only: this many jobs go first and have to succeed. */
  canary?: number
  /** Jobs per second. Default: unlimited. */
  ratePerS?: number
  keepAttempts?: boolean
  leaseMs?: number
  /** Only counts, in at most `countLimit` jobs that the action might change, newest first. */
  isPlan?: boolean
}

export interface PlannedTotal {
  total: number
  /** Names `total` if more jobs may match: the count stopped at its limit. */
  atLeast: 'total'[]
}

/** Only `begun` changes anything. */
export type BegunOperation =
  | ({ outcome: 'planned'; asOf: Date } & PlannedTotal)
  | { outcome: 'unexpected' | 'too-many'; total: number }
  | { outcome: 'begun'; total: number; operation: Operation; leaseId: string | null }

export interface OperationLease {
  operationId: string
  leaseId: string
}

export interface HeldOperation {
  operation: Operation
  leaseId: string
}

export interface OperationStep {
  /** 0 to 1000. */
  limit: number
  /** Default: unchanged. */
  phase?: OperationPhase
  /** Default: 30 s. */
  leaseMs?: number
  /** Jobs whose source no longer exists: refused as `source-gone`. */
  sourceGone?: string[]
}

export interface OperationProgress {
  operation: Operation
  /** Redrive only: number of jobs whose outcomes are watched. */
  sample: number
}

export interface OperationEnd {
  state: Exclude<OperationState, 'running'>
  /** Reason of an early end. */
  stopped?: string
}

export interface AbortOptions {
  /** Limits the call to operations of this owner. */
  owner?: string
  actor?: string
}

export interface AbortedOperation {
  outcome: 'stopped' | 'already-ended' | 'not-found'
  operation: Operation | null
}

export interface Operation {
  id: string
  action: OperationAction
  q: string
  /** Set if it concerns one cause of dead letters. */
  causeId: string | null
  asOf: Date
  actor: string | null
  reason: string | null
  canary: number
  ratePerS: number | null
  keepAttempts: boolean
  /** The queues of its jobs at selection. */
  queues: string[]
  state: OperationState
  phase: OperationPhase | null
  /** Time in this phase. */
  phaseMs: number | null
  total: number
  changed: number
  /** Jobs in a wrong state, or deleted since. */
  refused: number
  /** Outcomes of the watched jobs: the canary, or the first 20. */
  succeeded: number
  failed: number
  stopped: string | null
  beganAt: Date
  endedAt: Date | null
}

export interface ListOperationsOptions {
  owner?: string
  /** 1 to 1000. Default: 100. */
  limit?: number
  /** The id of the last one listed. */
  cursor?: string
}

export interface OperationPage {
  operations: Operation[]
  next: string | null
}

export interface ListOperationJobsOptions {
  /** 1 to 1000. Default: 100. */
  limit?: number
  /** The last position listed. */
  cursor?: number
}

export interface OperationJob {
  jobId: string
  /** From 1, oldest job first. */
  position: number
  /** Outcome of the verb for one job, or `changed-since`; null if it is still to be processed. */
  outcome: string | null
  /** Where the job is now. */
  status: JobStatus | 'deleted'
}

/** Jobs that an operation changed, by their status now. */
export interface OperationEnds extends Record<JobStatus | 'deleted', number> {
  /** False: only its first 10,000 jobs were counted. */
  isComplete: boolean
}

export interface OperationJobPage {
  jobs: OperationJob[]
  next: number | null
}
