import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobHint } from '../../policy/wake/wake-turn.ts'
import type { JobStore } from '../../store/job-store.ts'
import type { AttemptDependencies } from '../attempt/attempt-dependencies.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import type { Heartbeat } from '../heartbeat/heartbeat.ts'
import type { WatchedDependency } from '../limits/breaker-watch.ts'
import type { GoneWorkers } from '../services/reaper.ts'
import type { ReportNews } from './worker-report.ts'

export interface WorkerOptions<Tx = unknown> {
  store: JobStore<Tx>
  tableName: string
  workerId: string
  handlers: RegisteredHandler<Tx>[]
  heartbeat: Heartbeat
  /** Presence in each shard, if there are several. */
  presenceOf?: ((shard: number) => GoneWorkers) | undefined
  events: RuntimeEventEmitter
  transaction: AttemptDependencies<Tx>['transaction']
  gateway: AttemptDependencies<Tx>['gateway']
  tracing: AttemptDependencies<Tx>['tracing']
  /** Services whose breakers are watched and, if they have a probe, probed. */
  dependencies: WatchedDependency[]
  policy: PolicyOverride
  concurrency: number
  sweepIntervalMs: number
  /** After nothing was claimed, the next claim follows after a random time between these. */
  pollMs: [least: number, most: number]
  /** Replaces `pollMs` while hints arrive. Default: `pollMs`. */
  hintedPollMs?: [least: number, most: number] | undefined
  /** Time from `stop` until every job has ended or is released; the last part of it is for aborted handlers. */
  graceMs: number
  hangGraceMs: number
  txTimeoutMs: number
  /** How many hung handlers the process tolerates before it exits. */
  leakBudget: number
  onHang: 'reopen' | 'exit'
}

export interface Worker {
  /** Stops claiming, finishes running jobs, and releases those that do not finish in time. Resolves when the worker has ended. */
  stop(reason?: string): Promise<void>
  /** Ends the grace period: releases all jobs and leaves. */
  leaveNow(): void
  /** Resolves with the exit code when the worker has stopped: 1 if hung handlers or a critical error stopped it, else 0. */
  ended: Promise<number>
  /** Jobs that run now. */
  running(): number
  /** There are or will be jobs: claim them when it is this worker's turn, before the end of the pause. Default: claim now. */
  wake(hint?: JobHint): void
  /** Jobs under leases with these numbers are asked to stop. */
  hearCancels(leaseNumbers: number[]): void
  /** Whether hints arrive: polls may be rare then. */
  trustHints(isTrusted: boolean): void
  /** Passes on what the worker's report says: the sweeps of its table, and the workers with which it takes turns. */
  noteReport(news: ReportNews | undefined, shard?: number): void
  /** Problems that an operator should know of. */
  problems(): string[]
}
