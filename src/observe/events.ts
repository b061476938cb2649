// Everything a worker or reaper tells, by name and with typed fields. Logs, metrics and traces are made from these.
import type { ClaimedJob } from '../job/lease.ts'

/** How an attempt ended for the worker that made it. */
export type AttemptEnd =
  | 'completed'
  | 'retried'
  | 'dead'
  | 'cancelled'
  | 'released'
  /** The lease was lost: nothing was written but a late result. */
  | 'lost'

export interface RuntimeEvents {
  'worker:started': { workerId: string; types: string[]; concurrency: number }
  'worker:draining': { workerId: string; reason: string; running: number }
  'worker:stopped': { workerId: string; exitCode: number }
  'job:started': { job: ClaimedJob }
  'job:ended': {
    job: ClaimedJob
    end: AttemptEnd
    durationMs: number
    code?: string
    retryInMs?: number | null
  }
  'job:aborted': { job: ClaimedJob; reason: string }
  'job:hung': { job: ClaimedJob; leaked: number; leakBudget: number }
  'claim:failed': { error: unknown }
  'heartbeat:failed': { error: unknown; failingForMs: number }
  'heartbeat:recovered': { failedForMs: number }
  'loop:lagged': { lagMs: number }
  'sweep:done': { table: string; requeued: number; dead: number; held: number; durationMs: number }
  'sweep:failed': { table: string; error: unknown }
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
