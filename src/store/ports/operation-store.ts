// The part of the store port for changes of many jobs at once. An operation lives in the store, its jobs are chosen once,
// and a lease says who runs it: another process goes on where one died.
import type { JobFilter } from './operator-store.ts'

export interface OperationStore {
  /** Chooses the jobs and writes the operation down; changes no job. Takes its lease where `leaseMs` is given. */
  beginOperation(request: NewOperation): Promise<BegunOperation>
  /** An operation that nobody runs: just begun, or its process died. Null where there is none. */
  takeOperation(options?: { leaseMs?: number }): Promise<HeldOperation | null>
  /** The next jobs, their outcomes and the counts, all or nothing. Renews the lease; with a limit of 0 it does only that. */
  stepOperation(lease: OperationLease, step: OperationStep): Promise<OperationProgress | 'lease-lost'>
  /** Leaves it to whoever comes next. False where it was lost before. */
  giveBackOperation(lease: OperationLease): Promise<boolean>
  endOperation(lease: OperationLease, end: OperationEnd): Promise<Operation | 'lease-lost'>
  /** Stops it at once, whoever runs it: the next step is refused. What was changed stays so. */
  abortOperation(operationId: string, options?: AbortOptions): Promise<AbortedOperation>

  readOperation(operationId: string, options?: { owner?: string }): Promise<Operation | null>
  /** The newest first. */
  listOperations(options?: ListOperationsOptions): Promise<OperationPage>
  /** What became of its jobs, in the order of their turns. */
  listOperationJobs(operationId: string, options?: ListOperationJobsOptions): Promise<OperationJobPage>
}

export type OperationAction = 'retry' | 'run-now' | 'cancel' | 'discard' | 'redrive'
export type OperationState = 'running' | 'done' | 'stopped' | 'failed'
export type OperationPhase = 'canary' | 'rest'

/** More than this are refused, for their ids are kept. */
export const MAX_OPERATION_JOBS = 100_000

export interface NewOperation {
  action: OperationAction
  filter: JobFilter
  /** The filter as it was typed. */
  q: string
  /** What was created, or died, later is left alone; now where absent. */
  asOf?: Date
  /** As many at most, the oldest of those that match. */
  limit?: number
  /** Nothing begins where another number of jobs matches. */
  expect?: number
  actor?: string
  /** Whoever asks sees and changes jobs of this owner only. */
  owner?: string
  reason?: string
  /** Of a redrive: this many go first and have to succeed. */
  canary?: number
  /** Jobs a second; as fast as it goes where absent. */
  ratePerS?: number
  keepAttempts?: boolean
  leaseMs?: number
  /** Only counts. */
  isPlan?: boolean
}

/** `unexpected` and `too-many` change nothing, nor does `planned`. */
export type BegunOperation =
  | { outcome: 'planned'; total: number; asOf: Date }
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
  /** As it was where absent. */
  phase?: OperationPhase
  /** 30 s where absent. */
  leaseMs?: number
}

export interface OperationProgress {
  operation: Operation
  /** Of a redrive: how many jobs are watched for how they fare. */
  sample: number
}

export interface OperationEnd {
  state: Exclude<OperationState, 'running'>
  /** Why, where it ended early. */
  stopped?: string
}

export interface AbortOptions {
  /** Only what this owner asked for exists. */
  owner?: string
  /** Who stops it. */
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
  /** Where it concerns one cause of dead letters. */
  causeId: string | null
  asOf: Date
  actor: string | null
  reason: string | null
  canary: number
  ratePerS: number | null
  keepAttempts: boolean
  /** Those of its jobs when they were chosen. */
  queues: string[]
  state: OperationState
  phase: OperationPhase | null
  /** How long it has been in this phase. */
  phaseMs: number | null
  total: number
  changed: number
  /** Its state stood in the way, or it was gone. */
  refused: number
  /** Of the jobs that are watched. */
  succeeded: number
  failed: number
  stopped: string | null
  beganAt: Date
  endedAt: Date | null
}

export interface ListOperationsOptions {
  owner?: string
  /** 1 to 1000; 100 where absent. */
  limit?: number
  /** The id of the last one that was listed. */
  cursor?: string
}

export interface OperationPage {
  operations: Operation[]
  next: string | null
}

export interface ListOperationJobsOptions {
  /** 1 to 1000; 100 where absent. */
  limit?: number
  /** The last position that was listed. */
  cursor?: number
}

export interface OperationJob {
  jobId: string
  /** From 1, the oldest job first. */
  position: number
  /** As the verb for one job answers, or `changed-since`; null where its turn has not come. */
  outcome: string | null
}

export interface OperationJobPage {
  jobs: OperationJob[]
  next: number | null
}
