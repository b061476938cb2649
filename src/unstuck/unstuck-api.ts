// The interface of an application.
import type { SqlClient } from '../compose/index.ts'
import type { NewJob } from '../job/job.ts'
import type { EventListener, EventName } from '../observe/events.ts'
import type { Metrics } from '../observe/metrics/metrics.ts'
import type { Handler, HandlerOptions } from '../runtime/attempt/handler.ts'
import type { FileHandlerOptions } from '../runtime/child/child-handler.ts'
import type { RecurringJob } from '../runtime/services/scheduler.ts'
import type { EnqueuedJob, JobStore } from '../store/job-store.ts'

export interface Unstuck {
  /** A function, or a module whose default export runs in a child process that can be killed. */
  handle(type: string, handler: Handler<SqlClient> | FileHandler, options?: HandlerOptions): Unstuck
  /** Enqueues the job at every time of the cron expression, once for all workers together. */
  recurring(
    name: string,
    cron: string,
    job: RecurringJob['job'],
    options?: Pick<RecurringJob, 'timezone' | 'overlap'>,
  ): Unstuck
  /** Sweeps, claims and runs jobs until `stop`, or until it has to leave. Resolves when it has started. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Resolves with the worker's exit code: 1 if hung handlers or a critical error stopped it, else 0. */
  ended: Promise<number>
  enqueue(job: NewJob, options?: { tx?: SqlClient }): Promise<EnqueuedJob>
  enqueueMany(jobs: NewJob[], options?: { tx?: SqlClient }): Promise<EnqueuedJob[]>
  /** The shard of a key, for a transaction there: its jobs have this dedupe key, or none. A single database is shard 0. */
  shard(key: string): ShardHandle
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void
  /** Prometheus metrics in their own registry, counted from the first call on. */
  metrics(): Promise<Metrics>
  /** Problems that an operator should know of; healthy if there are none. */
  health(): { isHealthy: boolean; problems: string[] }
  store: JobStore<SqlClient>
}

export interface ShardHandle {
  /** Its number, as in the ids of its jobs and in the configuration. */
  number: number
  store: JobStore<SqlClient>
  /** In this shard; `tx` is a transaction of its server. */
  enqueue(job: NewJob, options?: { tx?: SqlClient }): Promise<EnqueuedJob>
}

export interface FileHandler extends Omit<FileHandlerOptions, 'entryUrl'> {
  file: string | URL
}
