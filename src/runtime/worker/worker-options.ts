import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../../store/job-store.ts'
import type { AttemptDependencies } from '../attempt/attempt-dependencies.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import type { Heartbeat } from '../heartbeat/heartbeat.ts'
import type { WatchedDependency } from '../limits/breaker-watch.ts'

export interface WorkerOptions<Tx = unknown> {
  store: JobStore<Tx>
  tableName: string
  workerId: string
  handlers: RegisteredHandler<Tx>[]
  heartbeat: Heartbeat
  events: RuntimeEventEmitter
  transaction: AttemptDependencies<Tx>['transaction']
  gateway: AttemptDependencies<Tx>['gateway']
  tracing: AttemptDependencies<Tx>['tracing']
  /** Whose breakers are watched and, where they have a probe, probed. */
  dependencies: WatchedDependency[]
  policy: PolicyOverride
  concurrency: number
  sweepIntervalMs: number
  /** After nothing was claimed, the next look comes after a random time between these. */
  pollMs: [least: number, most: number]
  /** How long after `stop` everything has ended or was given back; the last part of it is for handlers that were aborted. */
  graceMs: number
  hangGraceMs: number
  txTimeoutMs: number
  /** How many hung handlers may stay behind before the process has to go. */
  leakBudget: number
  onHang: 'reopen' | 'exit'
}

export interface Worker {
  /** Stop claiming, finish what runs, give back what cannot finish in the grace. Settles when the worker has ended. */
  stop(reason?: string): Promise<void>
  /** No more grace: give everything back and go. */
  leaveNow(): void
  /** Settles when the worker has stopped: 0, or 1 where it had to stop because of a hang or a critical error. */
  ended: Promise<number>
  /** Jobs that run now. */
  running(): number
  /** There may be new work: look now instead of at the end of the pause. */
  wake(): void
  /** What an operator should know; none where all is well. */
  problems(): string[]
}
