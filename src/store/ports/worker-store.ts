// Worker reports, and requests to drain.
import type { ActorOptions } from './call-options.ts'

export interface WorkerStore {
  /** Records a worker's report. */
  reportWorker(report: WorkerReport): Promise<ReportAnswer>
  /** Every worker that reported within the retention, the one seen last first. */
  listWorkers(): Promise<WorkerStatus[]>
  /** Requests a worker to stop claiming, finish its jobs and exit. It learns of it from its next report. */
  drainWorker(workerId: string, options?: ActorOptions): Promise<DrainOutcome>
}

export interface ReportAnswer {
  /** Somebody requested the worker to drain. */
  isDrainRequested: boolean
  /** Nobody has swept for longer than `sweepIntervalMs`: the one who did may be gone. */
  isSweepDue: boolean
  /** See `SweepStep`. */
  isWatched: boolean
  /** By the clock of the store. */
  reportedAt: string
  /** Workers with a free slot that hints reach, by the queues they claim from. */
  hintedWorkers: { queues: string[]; workerIds: string[] }[]
  /** The table has webhooks, or deliveries that wait. */
  hasWebhooks: boolean
}

export type DrainOutcome = 'asked' | 'already-asked' | 'stopped' | 'not-found'

export interface WorkerReport {
  workerId: string
  /** First report of a process: replaces everything known of an earlier process with this id. */
  isStart?: boolean
  phase: 'running' | 'draining' | 'stopped'
  host?: string
  pid?: number
  /** Version of this library. */
  version?: string
  /** Version of the application, 1 to 200 characters. */
  appVersion?: string
  /** Types with a handler. */
  types: string[]
  concurrency: number
  running: number
  /** Queues it claims from, while hints reach it. */
  hintedQueues?: string[]
  loopLagMs?: number
  /** Until its next report. */
  reportMs: number
  exitCode?: number
  /** Interval of the sweeps, for a worker that takes part in them. */
  sweepIntervalMs?: number
}

/**
 * - `live`: seen within 3 of its report intervals
 * - `late`: within 6
 * - `silent`: not seen, and jobs run under its name
 * - `gone`: not seen, and none does; or its process has ended, by its presence
 * - `draining`: it stops, or was asked to
 * - `zombie`: seen, but a job of its own is past its deadline
 */
export type WorkerState = 'live' | 'late' | 'silent' | 'gone' | 'draining' | 'stopped' | 'zombie'

/**
 * - `present`: its session holds its lock
 * - `absent`: it does not, and its grace is not over
 * - `gone`: its process has ended
 * - `pooled`: a connection pooler is in between, so its leases alone decide
 * - `off`: it holds no lock: turned off, not possible in this store, or it has left
 */
export type WorkerPresence = 'present' | 'absent' | 'gone' | 'pooled' | 'off'

export interface WorkerStatus {
  workerId: string
  state: WorkerState
  host: string | null
  pid: number | null
  /** Version of this library. */
  version: string | null
  /** Version of the application. */
  appVersion: string | null
  types: string[]
  concurrency: number
  /** Jobs in its slots, by its leases in the job table; further leases are claimed ahead. */
  running: number
  leases: number
  loopLagMs: number | null
  /** Since its last report. */
  seenMs: number
  startedAt: Date
  seenAt: Date
  drainingAt: Date | null
  stoppedAt: Date | null
  exitCode: number | null
  drainRequestedAt: Date | null
  drainRequestedBy: string | null
  drainReason: string | null
  presence: WorkerPresence
  /** Its last reports, oldest first: at most 60, at least 5 s apart. */
  reportTimes: Date[]
}
