// The part of the store port for people: looking for jobs, dead letters by cause, why a job does not run, and what an
// operator does about it beside retry and cancel.
import type { Job, JobErrorRecord, JobStatus, JsonValue } from '../../job/job.ts'
import type { DiscardOutcome, RunNowOutcome } from '../../job/outcome.ts'
import type { JobFacts } from '../../policy/explain-job.ts'
import type { ManualOptions, PolicyOption, Settled } from './call-options.ts'

export interface OperatorStore<Tx = never> {
  /** A page of jobs, the newest first. It may hold fewer than `limit`, or none, and have a `next` all the same. */
  listJobs(filter?: JobFilter, options?: ListOptions): Promise<JobPage>
  /** Ids that begin with this text, at most `limit` (5). */
  findJobIds(prefix: string, limit?: number): Promise<string[]>

  /** The dead letters by cause, the largest group first. */
  groupDeadJobs(options?: GroupOptions): Promise<DeadJobGroups>
  /** What people think of a cause; as `new` it is forgotten that anybody thought otherwise. */
  markCause(causeId: string, mark: CauseMark): Promise<void>

  /** Every fact that decides whether and when a job runs; `explainJob` of src/policy puts them into words. */
  readJobFacts(jobId: string, options?: PolicyOption): Promise<JobFacts | null>

  /** How well lost jobs were rescued lately. */
  readSlo(request?: SloRequest): Promise<Slo>

  /** Ends the wait of jobs in backoff or with a later start. Pauses and breakers still hold them back. */
  runJobsNow(jobIds: string[], options?: ManualOptions<Tx>): Promise<Settled<RunNowOutcome>[]>
  /** Deletes jobs that wait or have ended, and never a running one. One event tells who did it and why. */
  discardJobs(jobIds: string[], options?: ManualOptions<Tx>): Promise<Settled<DiscardOutcome>[]>
}

export interface SloRequest extends PolicyOption {
  /** The last day where absent. */
  windowMs?: number
  /** How long a worker with a free slot takes to look for work; 2 s where absent. */
  pollMs?: number
}

/** A rescue lasts from the last sign of life of the lost worker to the next claim, without the backoff in between. */
export interface Slo {
  rescued: number
  /** Within their own lease, a sweep interval and a poll. */
  inTime: number
  /** `inTime` of `rescued`; null where there was nothing to rescue, as are the times. */
  share: number | null
  p50Ms: number | null
  p95Ms: number | null
  worstMs: number | null
  /** For a job with the default lease. */
  promiseMs: number
  /** Of the running jobs past their lease now. */
  oldestStuckMs: number | null
  staleLeases: number
}

/** All of it has to fit. */
export interface JobFilter {
  status?: JobStatus
  type?: string
  queue?: string
  owner?: string
  workerId?: string
  stage?: string
  errorCode?: string
  /** Of a group of dead letters. */
  causeId?: string
  /** Running and past its lease. */
  isOverdue?: boolean
  /** Created longer ago than this. */
  olderThanMs?: number
  /** Created not longer ago than this. */
  youngerThanMs?: number
}

export interface ListOptions {
  /** 1 to 1000; 100 where absent. */
  limit?: number
  cursor?: JobCursor
  /** With payload and result. */
  withPayload?: boolean
}

/** Opaque: pass it on. */
export type JobCursor = string & { readonly brand?: 'job-cursor' }

export interface JobPage {
  jobs: JobSummary[]
  next: JobCursor | null
}

/** A job as a list shows it: no stack, and no payload or result unless asked for. */
export interface JobSummary extends Omit<Job, 'payload' | 'result' | 'error'> {
  error: Omit<JobErrorRecord, 'stack'> | null
  /** Of a dead job: the group of dead letters it belongs to. */
  causeId: string | null
  /** Negative where the lease is over; null where there is none. */
  leaseLeftMs: number | null
  payload?: JsonValue
  result?: JsonValue
}

export interface GroupOptions {
  /** 1 to 1000; 100 where absent. */
  limit?: number
  /** Jobs of this owner only. */
  owner?: string
}

export interface DeadJobGroups {
  groups: DeadJobGroup[]
  /** False where there are more dead letters than were looked at: only the newest 10,000 are. */
  isComplete: boolean
}

export interface DeadJobGroup {
  /** Of the code, and of the reason without addresses, ids, quoted text and numbers. */
  causeId: string
  code: string | null
  category: string | null
  jobs: number
  firstAt: Date
  lastAt: Date
  /** Of the newest job. */
  exampleReason: string | null
  exampleJobId: string
  /** How often one of them lost its worker: a job that kills its workers shows here. */
  maxCrashes: number
  state: CauseState
  changedAt: Date | null
  changedBy: string | null
  stateReason: string | null
  /** Of a resolved cause: when a job first died of it after that. */
  backSince: Date | null
}

export type CauseState = 'new' | 'investigating' | 'resolved' | 'ignored'

export interface CauseMark {
  state: CauseState
  actor?: string
  reason?: string
}
