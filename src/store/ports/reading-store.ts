// Jobs, dead letters, health and policy as they are now. Changes nothing.
import type { JobEvent } from '../../job/event.ts'
import type { Job, JobErrorRecord, JobStatus, JsonValue } from '../../job/job.ts'
import type { JobFacts } from '../../policy/explain/job-facts.ts'
import type { Policy } from '../../policy/policy.ts'
import type { CountOption, PolicyOption, ShardedAnswer, TxOption } from './call-options.ts'
import type { QueueStatus } from './dependency-store.ts'
import type { HoldReason } from './reaping-store.ts'

export interface ReadingStore<Tx = never> {
  getJob(jobId: string, options?: TxOption<Tx>): Promise<Job | null>
  /** The events of a job, oldest first. */
  listEvents(jobId: string): Promise<JobEvent[]>
  /** A page of jobs, newest first. It may hold fewer than `limit` jobs, even none, and still have a `next`. */
  listJobs(filter?: JobFilter, options?: ListOptions): Promise<JobPage>
  /** Ids with this prefix, at most `limit` (5). */
  findJobIds(prefix: string, limit?: number): Promise<string[]>
  /** Every fact that decides whether and when a job runs; `explainJob` of src/policy puts them into words. */
  readJobFacts(jobId: string, options?: PolicyOption): Promise<JobFacts | null>

  /** Dead jobs by cause, largest group first. */
  groupDeadJobs(options?: GroupOptions): Promise<DeadJobGroups>

  readHealth(options?: PolicyOption & CountOption): Promise<Health>
  /** The `hidden` of `readHealth` alone, without counting jobs. */
  readHidden(): Promise<HiddenJobs | null>
  /** How well lost jobs were rescued recently. */
  readSlo(request?: SloRequest): Promise<Slo>
  readPolicy(): Promise<Policy>
}

/** Computed from the rows, never from a reaper's report. */
export interface Health extends ShardedAnswer {
  waiting: number
  due: number
  running: number
  /** Running and past the lease: the next sweep reaps them. */
  overdue: number
  oldestOverdueMs: number | null
  oldestDueMs: number | null
  /** Running rows with no lease and no time to judge them by. */
  unjudged: number
  reaperAgeMs: number | null
  holdReason: HoldReason | null
  /** Waiting jobs that were released 20 times, or over a day. */
  releasedOften: number
  /** Set if row security may hide jobs from the role of this connection: the counts are then too low. */
  hidden: HiddenJobs | null
  /** Values that may be larger: the count stopped at its limit. */
  atLeast: HealthValue[]
  /** As `listQueues` returns them. Whoever needs both counts the jobs once. */
  queues: QueueStatus[]
}

export type HealthValue =
  | 'waiting'
  | 'due'
  | 'releasedOften'
  | 'oldestDueMs'
  | 'running'
  | 'overdue'
  | 'oldestOverdueMs'
  | 'unjudged'

export interface HiddenJobs {
  role: string
  /** With its schema. */
  table: string
  /** The role sees no job at all; otherwise policies with a condition decide. */
  isAll: boolean
  /** The statement that lets the role see them. */
  fix: string
}

export interface SloRequest extends PolicyOption {
  /** Default: one day. */
  windowMs?: number
  /** Polling interval of a worker with a free slot. Default: 2 s. */
  pollMs?: number
}

/** A rescue lasts from the lost worker's last sign of life to the next claim, excluding the backoff. */
export interface Slo extends ShardedAnswer {
  rescued: number
  /** Rescues within their own lease, a sweep interval and a poll. */
  inTime: number
  /** `inTime` of `rescued`; null, like the times, if nothing was rescued. */
  share: number | null
  p50Ms: number | null
  p95Ms: number | null
  worstMs: number | null
  /** For a job with the default lease. */
  promiseMs: number
  /** The longest of the running jobs past their lease now. */
  oldestStuckMs: number | null
  staleLeases: number
  /** `rescued`, by what ended the attempt. */
  byCause: Record<RescueCause, number>
}

/** Its lease expired, its deadline passed, or its worker's process ended. */
export type RescueCause = 'crash' | 'timeout' | 'worker-gone'

/** A job must match all given fields. */
export interface JobFilter {
  status?: JobStatus
  type?: string
  queue?: string
  owner?: string
  workerId?: string
  stage?: string
  errorCode?: string
  /** A group of dead letters. */
  causeId?: string
  /** Running and past its lease. */
  isOverdue?: boolean
  /** Created longer ago than this. */
  olderThanMs?: number
  /** Created within this time. */
  youngerThanMs?: number
}

export interface ListOptions {
  /** 1 to 1000. Default: 100. */
  limit?: number
  cursor?: JobCursor
  /** Includes payload and result. */
  withPayload?: boolean
}

/** Opaque. */
export type JobCursor = string & { readonly brand?: 'job-cursor' }

export interface JobPage extends ShardedAnswer {
  jobs: JobSummary[]
  next: JobCursor | null
  /** Creation time of the job where `next` continues: everything newer was searched. Null without a `next`. */
  searchedTo: Date | null
}

/** A job in a list: no stack, and no payload or result unless requested. */
export interface JobSummary extends Omit<Job, 'payload' | 'result' | 'error'> {
  error: Omit<JobErrorRecord, 'stack'> | null
  /** The group of dead letters of a dead job. */
  causeId: string | null
  /** Negative once the lease has expired; null without a lease. */
  leaseLeftMs: number | null
  payload?: JsonValue
  result?: JsonValue
}

export interface GroupOptions {
  /** 1 to 1000. Default: 100. */
  limit?: number
  owner?: string
}

export interface DeadJobGroups extends ShardedAnswer {
  groups: DeadJobGroup[]
  /** False if there are more than 10,000 dead letters: only the newest 10,000 are grouped. */
  isComplete: boolean
}

export interface DeadJobGroup {
  /** Hash of the code and of the reason without addresses, ids, quoted text and numbers. */
  causeId: string
  code: string | null
  category: string | null
  jobs: number
  firstAt: Date
  lastAt: Date
  /** From the newest job. */
  exampleReason: string | null
  exampleJobId: string
  /** Highest crash count of the group: reveals a job that kills its workers. */
  maxCrashes: number
  state: CauseState
  changedAt: Date | null
  changedBy: string | null
  stateReason: string | null
  /** For a resolved cause: when a job first died of it again. */
  backSince: Date | null
}

export type CauseState = 'new' | 'investigating' | 'resolved' | 'ignored'
