// The tables of the engine in memory. Rows are replaced, never changed in place, so a row once read stays as it was.
import type { EventType, JobEvent } from '../../../job/event.ts'
import type { Job, JobErrorRecord, JsonValue } from '../../../job/job.ts'
import type { ReapAction } from '../../../job/outcome.ts'
import { stageOf } from '../../../job/stage.ts'
import type { BreakerFacts } from '../../../policy/dependency/breaker.ts'
import { stageLeaseMs } from '../../../policy/lease/stage-lease.ts'
import type { Policy } from '../../../policy/policy.ts'
import type { Counts } from '../../../policy/retry/budget.ts'
import type { ActorOption, HoldReason } from '../../job-store.ts'
import type { ModeStatus } from '../../ports/mode-store.ts'
import type { Operation, OperationJob } from '../../ports/operation-store.ts'
import type { CauseState } from '../../ports/reading-store.ts'
import type { LastSweep, PastSweep } from '../../ports/reaping-store.ts'
import type { Schedule } from '../../ports/schedule-store.ts'
import type { WorkerStatus } from '../../ports/worker-store.ts'
import { type MemoryDelivery, type MemoryWebhook, recordDeliveries } from '../deliveries.ts'
import type { JobTable } from './job-table.ts'

export { dueMs } from './job-table.ts'

/** A time without a reachable database, in which leases of live workers expired (C9). */
export interface Outage {
  fromMs: number
  toMs: number
  reason: HoldReason
}

export interface MemoryBreaker {
  facts: BreakerFacts
  changedAtMs: number
  changedBy: string | null
  reason: string | null
}

export interface Pause {
  pausedAtMs: number
  /** Null: until somebody resumes it. */
  untilMs: number | null
  actor: string | null
  reason: string | null
}

/** A worker that runs a job alone, or is reserved for one. */
export interface KeptWorker {
  jobId: string
  queue: string
  /** The lease of the job; null while the worker finishes its other jobs. */
  leaseId: string | null
  /** When it last asked for jobs while reserved. */
  seenAtMs: number
}

/** Limits of a queue, without those that it has not. */
export interface MemoryQueueLimit {
  concurrency: number | null
  groupConcurrency: number | null
  groupOrder: 'fifo' | null
}

export interface DedupeWindow {
  jobId: string
  endsAtMs: number
}

export type MemorySchedule = Omit<Schedule, 'dueInMs'>

/** A job to publish to the outside queue. */
export interface MemoryDispatch {
  dispatchId: string
  tries: number
  nextTryAtMs: number
}

/** A lease that expired in mode observe. */
export interface MemoryObservation {
  jobId: string
  verdict: ReapAction
  /** The row at that time; any write replaces it. */
  seen: Job
  seenAtMs: number
  outcome: 'came-back' | 'still-stuck' | 'reaped' | 'gone' | null
}

export interface MemoryWorker extends Omit<WorkerStatus, 'state' | 'leases' | 'seenMs' | 'presence'> {
  reportMs: number
  hintedQueues: string[] | null
}

export interface MemoryOperation extends Omit<Operation, 'phaseMs'> {
  owner: string | null
  phaseAtMs: number | null
  leaseId: string | null
  leaseEndsAtMs: number | null
  jobs: Omit<OperationJob, 'status'>[]
}

export interface MemoryCause {
  state: CauseState
  changedAtMs: number
  changedBy: string | null
  reason: string | null
}

export interface MemoryState {
  readonly table: string
  /** Waiting jobs without budget are not claimed, and sweeps end them. */
  readonly judgesWaiting: boolean
  readonly jobs: JobTable
  readonly events: Map<string, JobEvent[]>
  readonly nowMs: () => number
  readonly random: () => number
  readonly createJobId: (nowMs: number) => string
  readonly createUuid: () => string
  /** Workers that are gone, with when each vanished. */
  readonly goneWorkers: () => ReadonlyMap<string, number>
  policy: Policy
  eventCount: number
  /** Last sweep by a reaper. */
  sweptAtMs: number | null
  /** Last sweep by a reaper that connects over the network. */
  reachedAtMs: number | null
  /** Sorted and disjoint; waited out as one. */
  outages: readonly Outage[]
  readonly breakers: Map<string, MemoryBreaker>
  /** Breaker names by queue. */
  readonly dependencies: Map<string, string>
  readonly pauses: Map<string, Pause>
  /** By queue. */
  readonly queueLimits: Map<string, MemoryQueueLimit>
  /** By queue and priority: the group that the last claim took a job of. */
  readonly reachedGroups: Map<string, string>
  /** Dedupe keys that stay taken after their job has ended, by type and key. */
  readonly dedupeWindows: Map<string, DedupeWindow>
  /** By worker. */
  readonly keptWorkers: Map<string, KeptWorker>
  /** When each token bucket will be full again. */
  readonly fullAtMs: Map<string, number>
  /** The last used settings of each bucket. */
  readonly limitUses: Map<string, { ratePerS: number; burst: number; usedAtMs: number }>
  /** Sweeps that found something, oldest first. */
  readonly sweeps: PastSweep[]
  lastSweep: LastSweep | null
  sweepCount: number
  readonly attachedAtMs: number
  readonly schedules: Map<string, MemorySchedule>
  /** By job. */
  readonly dispatches: Map<string, MemoryDispatch>
  readonly workers: Map<string, MemoryWorker>
  readonly webhooks: Map<string, MemoryWebhook>
  readonly deliveries: Map<string, MemoryDelivery>
  readonly operations: Map<string, MemoryOperation>
  /** By cause. */
  readonly causes: Map<string, MemoryCause>
  mode: ModeStatus
  /** By job and lease. */
  readonly observations: Map<string, MemoryObservation>
}

export function changeJob(state: MemoryState, job: Job, change: Partial<Job>): Job {
  // Half the time of a spread of both.
  const changed = Object.assign({ ...job }, change)
  state.jobs.set(job.id, changed)
  return changed
}

export interface NewEvent {
  jobId: string
  type: EventType
  details: { [key: string]: JsonValue }
}

export function recordEvent(state: MemoryState, nowMs: number, event: NewEvent): void {
  const { jobId, type, details } = event
  state.eventCount += 1
  const at = new Date(nowMs)
  const data = { type, table: state.table, details, at: at.toISOString() }
  const story = state.events.get(jobId) ?? []
  state.events.set(jobId, [...story, { id: String(state.eventCount), jobId, type, at, data }])
  recordDeliveries(state, nowMs, event)
}

/** Event details that name the sender of a worker's call, if known. */
export function actedBy({ actor }: ActorOption): { [key: string]: JsonValue } {
  return actor === undefined ? {} : { actor }
}

export function jobsInIdOrder(state: MemoryState): Job[] {
  return [...state.jobs.values()].toSorted(compareIds)
}

export function runningInIdOrder(state: MemoryState): Job[] {
  return [...state.jobs.running()].sort(compareIds)
}

const compareIds = (a: Job, b: Job) => (a.id < b.id ? -1 : 1)

export function countsOf(policy: Policy, job: Job): Counts {
  const { attempt, failures, crashes, timeouts } = job
  return { attempt, failures, crashes, timeouts, maxAttempts: job.maxAttempts ?? policy.maxAttempts }
}

export function leaseMsOf(policy: Policy, job: Job): number {
  return stageLeaseMs(policy, stageOf(job, policy.defaultStage), job.expectedDurationMs)
}

/** Every end of a lease clears these; the last heartbeat stays as evidence. */
export const withoutLease = { workerId: null, leaseId: null, leaseExpiresAt: null, deadlineAt: null } as const

/** The error record of a cancelled job; an earlier failure stays as evidence. */
export function cancelledError({ error }: Job): JobErrorRecord {
  return { ...(error ?? noError), code: 'cancelled' }
}

const noError: JobErrorRecord = { code: null, reason: null, category: null, stack: null, attempt: null }

export function isoOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString()
}
