// The methods of an application, typed by its declared jobs.
import type { SqlClient } from '../compose/index.ts'
import type { JobDeclarations, JobToEnqueue } from '../job/declared-jobs.ts'
import type { EventName } from '../observe/events.ts'
import type { Metrics } from '../observe/metrics/metrics.ts'
import type { RecurringJob } from '../runtime/services/scheduler.ts'
import type { EnqueuedJob, JobStore } from '../store/job-store.ts'
import type {
  EnqueueAndWaitMethod,
  EventFields,
  HandleMethod,
  JobToSchedule,
  WaitForMethod,
} from './typed-methods.ts'

export interface Unstuck<Jobs extends JobDeclarations = JobDeclarations> {
  /**
   * Registers a function, or a module whose default export runs in a child process that can be killed. Before `start`. Payload and
   * result have the types of the declared job; without `jobs` give them yourself: `handle<Payload, Result>(…)`.
   */
  handle: HandleMethod<Jobs, Unstuck<Jobs>>
  /** Enqueues the job at every time of the cron expression, once for all workers together. Before `start`. */
  recurring(name: string, cron: string, job: JobToSchedule<Jobs>, options?: RecurringOptions): Unstuck<Jobs>
  /** Sweeps, claims and runs jobs until `stop`, or until it has to leave. Resolves when it has started. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Resolves with the worker's exit code: 1 if hung handlers or a critical error stopped it, else 0. */
  ended: Promise<number>
  enqueue(job: JobToEnqueue<Jobs>, options?: EnqueueOptions): Promise<EnqueuedJob>
  enqueueMany(jobs: JobToEnqueue<Jobs>[], options?: EnqueueOptions): Promise<EnqueuedJob[]>
  /** The result of a job, once it has ended. Rejects with JOB_DEAD, JOB_CANCELLED, JOB_NOT_FOUND or WAIT_TIMEOUT. */
  waitFor: WaitForMethod<Jobs>
  enqueueAndWait: EnqueueAndWaitMethod<Jobs>
  on<Name extends EventName>(name: Name, listener: (fields: EventFields<Jobs, Name>) => void): () => void
  /** Prometheus metrics in their own registry, counted from the first call on. */
  metrics(): Promise<Metrics>
  /** Problems that an operator should know of; healthy if there are none. */
  health(): { isHealthy: boolean; problems: string[] }
  store: JobStore<SqlClient>
}

export interface EnqueueOptions {
  /** Enqueues inside this open transaction. */
  tx?: SqlClient | undefined
}

export type RecurringOptions = { [Name in 'timezone' | 'overlap']?: RecurringJob[Name] | undefined }
