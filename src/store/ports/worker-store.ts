// The part of the store port that knows the workers: what they tell of themselves, and who was asked to leave.

export interface WorkerStore {
  /** What a worker tells of itself. Answers whether somebody asked it to drain. */
  reportWorker(report: WorkerReport): Promise<{ isDrainAsked: boolean }>
  /** Every worker that has told of itself and is not past the retention, the one that was seen last first. */
  listWorkers(): Promise<WorkerStatus[]>
  /** Asks a worker to claim no more, finish what it runs and leave. It hears of it with its next report. */
  drainWorker(workerId: string, options?: { actor?: string; reason?: string }): Promise<DrainOutcome>
}

export type DrainOutcome = 'asked' | 'already-asked' | 'stopped' | 'not-found'

export interface WorkerReport {
  workerId: string
  /** The first report of a process: what was known of an earlier one under the same id is forgotten. */
  isStart?: boolean
  phase: 'running' | 'draining' | 'stopped'
  host?: string
  pid?: number
  version?: string
  /** The types it handles. */
  types: string[]
  concurrency: number
  running: number
  loopLagMs?: number
  /** Until its next report. */
  reportMs: number
  exitCode?: number
}

/**
 * - `live`: seen within 3 of its report intervals
 * - `late`: within 6
 * - `silent`: not seen, and jobs run under its name
 * - `gone`: not seen, and none does
 * - `zombie`: seen, but a job of its own is past its deadline
 */
export type WorkerState = 'live' | 'late' | 'silent' | 'gone' | 'draining' | 'stopped' | 'zombie'

export interface WorkerStatus {
  workerId: string
  state: WorkerState
  host: string | null
  pid: number | null
  version: string | null
  types: string[]
  concurrency: number
  /** As it told it; `leases` is what the job table says. */
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
}
