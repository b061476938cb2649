// The events of workers and reapers, by name and with typed fields. Logs, metrics and traces are built on them.
import { invalidArgument } from '../errors/index.ts'
import type { ClaimedJob } from '../job/lease.ts'
import type { ReapAction } from '../job/outcome.ts'

/** How an attempt ended for its worker. */
export type AttemptEnd =
  | 'completed'
  | 'retried'
  | 'dead'
  | 'cancelled'
  | 'released'
  /** The lease was lost: nothing was written except a late result. */
  | 'lost'
  /** The answer to a completion was lost and the row is gone: completed and not kept, or deleted by someone else. */
  | 'unknown'

/** The result of one call to an external service. */
export interface OutsideCall {
  /** The breaker it is reported to; null if the handler names no dependency. */
  dependency: string | null
  /** Without user, password, query and fragment. */
  url: string
  /** Null if there was no answer. */
  status: number | null
  durationMs: number
  outcome: string
}

/** Services that stand by while a table is in observe mode. */
export type StandingService = 'claims' | 'schedules' | 'dispatch' | 'retention'

/** A failure, as the process that ran the job sees it. */
export interface AttemptFailure {
  /** The value that was thrown. */
  error: unknown
  /** Its message in one line, without stack, absolute path or password. */
  message: string
  /** With its causes, without passwords; absent for a thrown value without a stack. */
  stack?: string
}

export interface RuntimeEvents {
  'worker:started': { workerId: string; types: string[]; concurrency: number }
  'worker:draining': { workerId: string; reason: string; running: number }
  'worker:stopped': { workerId: string; exitCode: number }
  /** The worker could not be reported to the store. */
  'worker:unreported': { workerId: string; error: unknown }
  'jobs:enqueued': { table: string; type: string; queue: string; created: number; duplicates: number }
  'job:started': { job: ClaimedJob }
  'job:ended': {
    job: ClaimedJob
    end: AttemptEnd
    durationMs: number
    code?: string
    /** Why nothing could be written, or why the handler or a service released the job. */
    reason?: string
    retryInMs?: number | null
    /** Status of the last call through `gateway`; null if there was no answer. */
    gatewayStatus?: number | null
    /** Last known state of the breaker of the job's dependency. */
    breaker?: string
    /** The value that the handler threw, or the reason why nothing could be written. */
    error?: unknown
    failure?: AttemptFailure
  }
  /** An attempt failed: emitted right before its `job:ended`. */
  'job:failed': {
    job: ClaimedJob
    /** `lost`: nothing could be written, or the lease was lost before the handler threw. */
    end: 'retried' | 'dead' | 'lost'
    durationMs: number
    code?: string
    retryInMs?: number | null
    error: unknown
    failure: AttemptFailure
  }
  'job:aborted': { job: ClaimedJob; reason: string }
  /** No heartbeat was answered for a whole lease: another worker may hold the job. */
  'job:at-risk': { job: ClaimedJob }
  'job:hung': { job: ClaimedJob; leaked: number; leakBudget: number }
  'claim:failed': { error: unknown }
  /** The tokens ran out: `released` jobs were released unstarted, until after `waitMs`. */
  'limit:reached': { key: string; released: number; waitMs: number }
  'gateway:called': { job: ClaimedJob; call: OutsideCall }
  'breaker:changed': { name: string; from: string; to: string; reason: string | null }
  'breaker:failed': { name: string; error: unknown }
  'heartbeat:sent': { leases: number }
  'heartbeat:failed': { error: unknown; failingForMs: number }
  'heartbeat:recovered': { failedForMs: number }
  /** A shard does not answer: it is left out until it does. */
  'shard:silent': { shard: string; error: unknown }
  'shard:answered': { shard: string }
  'loop:lagged': { lagMs: number }
  /** The end of this process will be noticed by its leases alone, not within seconds. */
  'presence:off': { workerId: string; reason: string }
  'job:reaped': {
    table: string
    jobId: string
    action: ReapAction
    reason: string
    stage: string | null
    attempt: number
    workerId: string | null
    retryInMs: number | null
  }
  'sweep:done': {
    table: string
    requeued: number
    dead: number
    held: number
    /** Why leases were held; `table-locked`, with none held, if the sweep could not read the table. */
    holdReason: string | null
    durationMs: number
  }
  'sweep:failed': { table: string; error: unknown }
  'prune:done': { table: string; deleted: number; durationMs: number }
  'prune:failed': { table: string; error: unknown }
  /** The last minute could not be counted. What this process did is added to the next one, if it may write it. */
  'trends:failed': { table: string; error: unknown }
  'dispatch:done': { table: string; published: number }
  'dispatch:failed': { table: string; error: unknown; waiting: number }
  'delivery:done': {
    table: string
    webhookId: string
    deliveryId: string
    tries: number
    durationMs: number
  }
  /** The ids are null if the store was unreachable. `failed` is final, `retried` is sent again. */
  'delivery:failed': {
    table: string
    webhookId: string | null
    deliveryId: string | null
    tries: number
    outcome: string
    error: unknown
  }
  'schedule:enqueued': { name: string; jobId: string; dueAt: Date }
  'schedule:failed': { name: string; error: unknown }
  /** Jobs of a type wait that no worker has ever handled. Emitted once, by each worker. */
  'type:unhandled': { table: string; type: string; queue: string; waiting: number; reason: string }
  /** Data of the application that the profile does not explain. `jobId` is null if it is about several jobs. */
  'jobs:not-understood': { table: string; jobId: string | null; reason: string }
  /** Notifications of new jobs arrive, or do not: the worker polls either way. */
  'listen:started': { channel: string }
  'listen:failed': { reason: string }
  /** The table is in observe mode: the service waits until the mode changes. Emitted once. */
  'service:standing-by': { service: StandingService; error: unknown }
  /** A setting that an operator should change. */
  'config:warned': { warning: string }
}

export type EventName = keyof RuntimeEvents
export type EventListener<Name extends EventName> = (fields: RuntimeEvents[Name]) => void

/** Errors of listeners are ignored: no event may break a job. */
export class RuntimeEventEmitter {
  /** Lists, replaced as a whole: iterating over a set allocates 300 bytes for each event. */
  readonly #listeners = new Map<EventName, readonly EventListener<never>[]>()

  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    if (typeof listener !== 'function') throw invalidArgument('listener', listener, 'a function')
    const others = () => (this.#listeners.get(name) ?? []).filter((each) => each !== listener)
    this.#listeners.set(name, [...others(), listener])
    return () => this.#listeners.set(name, others())
  }

  /** For events that are expensive to build. */
  hasListeners(name: EventName): boolean {
    return (this.#listeners.get(name)?.length ?? 0) > 0
  }

  emit<Name extends EventName>(name: Name, fields: RuntimeEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as EventListener<Name>)(fields)
      } catch {
        // Ignored: see the class comment.
      }
    }
  }
}
