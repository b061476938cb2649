// Everything a worker or reaper tells, by name and with typed fields. Logs, metrics and traces are made from these.
import type { ClaimedJob } from '../job/lease.ts'
import type { ReapAction } from '../job/outcome.ts'

/** How an attempt ended for the worker that made it. */
export type AttemptEnd =
  | 'completed'
  | 'retried'
  | 'dead'
  | 'cancelled'
  | 'released'
  /** The lease was lost: nothing was written but a late result. */
  | 'lost'

/** What one call of an outside service came to. */
export interface OutsideCall {
  /** The breaker that hears of it; null where the handler names no dependency. */
  dependency: string | null
  /** Without user, password, query and fragment. */
  url: string
  /** Null where no answer came. */
  status: number | null
  durationMs: number
  outcome: string
}

/** What waits while a table is in mode observe. */
export type StandingService = 'claims' | 'schedules' | 'dispatch' | 'retention'

export interface RuntimeEvents {
  'worker:started': { workerId: string; types: string[]; concurrency: number }
  'worker:draining': { workerId: string; reason: string; running: number }
  'worker:stopped': { workerId: string; exitCode: number }
  /** The store could not be told of the worker. */
  'worker:unreported': { workerId: string; error: unknown }
  'jobs:enqueued': { table: string; type: string; queue: string; created: number; duplicates: number }
  'job:started': { job: ClaimedJob }
  'job:ended': {
    job: ClaimedJob
    end: AttemptEnd
    durationMs: number
    code?: string
    /** Where the attempt is lost because nothing could be written: why. Where the handler or a service gave it back: why. */
    reason?: string
    retryInMs?: number | null
    /** Of the last call that went through `gateway`; null where no answer came. */
    gatewayStatus?: number | null
    /** How the breaker of the job's dependency was when this worker last heard of it. */
    breaker?: string
  }
  'job:aborted': { job: ClaimedJob; reason: string }
  /** No heartbeat got through for a whole lease: somebody else may have the job, and nobody here knows yet. */
  'job:at-risk': { job: ClaimedJob }
  'job:hung': { job: ClaimedJob; leaked: number; leakBudget: number }
  'claim:failed': { error: unknown }
  /** The tokens ran out: so many jobs went back unstarted, and come again after the wait. */
  'limit:reached': { key: string; released: number; waitMs: number }
  'gateway:called': { job: ClaimedJob; call: OutsideCall }
  'breaker:changed': { name: string; from: string; to: string; reason: string | null }
  'breaker:failed': { name: string; error: unknown }
  'heartbeat:sent': { leases: number }
  'heartbeat:failed': { error: unknown; failingForMs: number }
  'heartbeat:recovered': { failedForMs: number }
  'loop:lagged': { lagMs: number }
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
    /** Why leases were held; `table-locked` with none held where the sweep could not look. */
    holdReason: string | null
    durationMs: number
  }
  'sweep:failed': { table: string; error: unknown }
  'prune:done': { table: string; deleted: number; durationMs: number }
  'prune:failed': { table: string; error: unknown }
  'dispatch:done': { table: string; published: number }
  'dispatch:failed': { table: string; error: unknown; waiting: number }
  'delivery:done': {
    table: string
    webhookId: string
    deliveryId: string
    tries: number
    durationMs: number
  }
  /** The ids are null where the store could not be asked. `failed` is given up, `retried` comes again. */
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
  /** Hints of new work arrive, or do not: the worker polls either way. */
  'listen:started': { channel: string }
  'listen:failed': { reason: string }
  /** The table is in mode observe: the service waits until the mode is another. Told once. */
  'service:standing-by': { service: StandingService; error: unknown }
  /** Something an operator should change; nothing is broken yet. */
  'config:warned': { warning: string }
}

export type EventName = keyof RuntimeEvents
export type EventListener<Name extends EventName> = (fields: RuntimeEvents[Name]) => void

/** A listener that throws is its own problem: no event may break a job. */
export class RuntimeEventEmitter {
  readonly #listeners = new Map<EventName, Set<EventListener<never>>>()

  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(name, listeners)
    return () => listeners.delete(listener)
  }

  /** For those that would cost something to say. */
  hasListeners(name: EventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends EventName>(name: Name, fields: RuntimeEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as EventListener<Name>)(fields)
      } catch {
        // See above.
      }
    }
  }
}
