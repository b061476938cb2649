// The interface of an application.
import type { SqlClient } from '../compose/index.ts'
import type { JobDeclarations, JobToEnqueue } from '../job/declared-jobs.ts'
import type { EventName } from '../observe/events.ts'
import type { Metrics } from '../observe/metrics/metrics.ts'
import type { DrainOptions, DrainReport } from '../runtime/in-place/drain.ts'
import type { EnqueuedJob, JobStore } from '../store/job-store.ts'
import type {
  EnqueueAndWaitMethod,
  EventFields,
  HandleManyMethod,
  HandleMethod,
  JobToSchedule,
  RunOnceMethod,
  WaitForMethod,
} from './typed-methods.ts'

export interface Unstuck<Jobs extends JobDeclarations = JobDeclarations> {
  /**
   * Registers a function, or a module whose default export runs in a child process that can be killed. Before `start`. Payload and
   * result have the types of the declared job; without `jobs` give them yourself: `handle<Payload, Result>(…)`.
   */
  handle: HandleMethod<Jobs, Unstuck<Jobs>>
  /**
   * Registers a function that gets up to `size` jobs of the type at once. Each of them keeps its own lease, signal, deadline and
   * outcome. Before `start`.
   */
  handleMany: HandleManyMethod<Jobs, Unstuck<Jobs>>
  /** Enqueues the job at every time of the cron expression, once for all workers together. Before `start`. */
  recurring(name: string, cron: string, job: JobToSchedule<Jobs>, options?: RecurringOptions): Unstuck<Jobs>
  /** Sweeps, claims and runs jobs until `stop`, or until it has to leave. Resolves when it has started. */
  start(): Promise<void>
  /** Stops claiming, lets running jobs end for `graceMs`, releases the rest, and closes all connections. */
  stop(): Promise<void>
  /** Resolves with the worker's exit code: 1 if hung handlers or a critical error stopped it, else 0. */
  ended: Promise<number>
  /**
   * Resolves when the job is stored. With `tx`, your open transaction, it is stored if that commits. If an unfinished job of the
   * type has the `dedupeKey`, returns that one, with the outcome `duplicate`.
   */
  enqueue(job: JobToEnqueue<Jobs>, options?: EnqueueOptions): Promise<EnqueuedJob>
  /** Stores all jobs or none, with one statement. */
  enqueueMany(jobs: JobToEnqueue<Jobs>[], options?: EnqueueOptions): Promise<EnqueuedJob[]>
  /**
   * The result of a job, once it has ended. Rejects with JOB_DEAD, JOB_CANCELLED, JOB_NOT_FOUND or WAIT_TIMEOUT. With `jobs`, name
   * the type for the type of its result: `waitFor(jobId, { type: 'invoice' })`.
   */
  waitFor: WaitForMethod<Jobs>
  /** Enqueues a job and waits for its end, as `waitFor` does. */
  enqueueAndWait: EnqueueAndWaitMethod<Jobs>
  /** The shard of a key, for a transaction there: its jobs have this dedupe key, or none. A single database is shard 0. */
  shard(key: string): ShardHandle<Jobs>
  /**
   * For tests, instead of `start`: sweeps, enqueues recurring jobs that are due, and runs due jobs in this process, one after
   * the other, until none is left. Returns how many attempts ended in each way.
   */
  drain(options?: DrainOptions): Promise<DrainReport>
  /** For tests: runs one handler in place, without a job in the store. Returns its result or throws its failure. */
  runOnce: RunOnceMethod<Jobs>
  /** Listens to an event of this process. Returns a function that stops listening. */
  on<Name extends EventName>(name: Name, listener: (fields: EventFields<Jobs, Name>) => void): () => void
  /** Prometheus metrics in their own registry, counted from the first call on. */
  metrics(): Promise<Metrics>
  /** Problems that an operator should know of; healthy if there are none. */
  health(): { isHealthy: boolean; problems: string[] }
  /** All verbs of the table, for operators and scripts: read, retry, cancel, pause, sweep. */
  store: JobStore<SqlClient>
}

export interface EnqueueOptions {
  /** Enqueues inside this open transaction. */
  tx?: SqlClient | undefined
}

export interface RecurringOptions {
  /** Time zone of the cron expression, such as `Europe/Zurich`. Default: UTC. */
  timezone?: string | undefined
  /** `skip` enqueues no job while that of an earlier occurrence is unfinished. Default: `skip`. */
  overlap?: 'skip' | 'allow' | undefined
}

export interface ShardHandle<Jobs extends JobDeclarations = JobDeclarations> {
  /** Its number, as in the ids of its jobs and in the configuration. */
  number: number
  store: JobStore<SqlClient>
  /** In this shard; `tx` is a transaction of its server. */
  enqueue(job: JobToEnqueue<Jobs>, options?: EnqueueOptions): Promise<EnqueuedJob>
}
