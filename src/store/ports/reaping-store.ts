// Sweeps, retention, and the history of rescues.
import type { ReapAction } from '../../job/outcome.ts'
import type { StaleFacts } from '../../policy/explain/explain-stale.ts'
import type { PolicyOption, ShardedAnswer } from './call-options.ts'

export interface ReapingStore {
  /** One bounded step of a sweep: holds, reap, events. Continue with `next` until it is null. */
  sweepJobs(request?: SweepRequest): Promise<SweepStep>
  /** The result of a sweep if it ran now. Changes nothing. */
  previewSweep(options?: PolicyOption & { limit?: number }): Promise<ReapedJob[]>

  /**
   * One bounded step of retention. Continue with `next` until it is null. Deletes only jobs that have ended. Nothing deleted
   * and a `next` means that another process is deleting.
   */
  pruneJobs(request?: PruneRequest): Promise<PruneStep>

  /** Reaped jobs, newest first. With a filter, a page may be short and still have a `next`. */
  listReclaims(request?: ReclaimRequest): Promise<ReclaimPage>
  /** Running jobs past their lease, longest first, and those without any time to judge them by. Takes no locks. */
  listStaleJobs(request?: StaleRequest): Promise<StaleJobs>
  /** Sweeps that found something, newest first, and the last sweep of a reaper whatever it found. */
  listSweeps(request?: PageRequest): Promise<SweepPage>
}

/** The reaper's view of its own past: distinguishes an outage of the database from dead workers (C9). */
export interface ReaperFacts {
  reaperId: string
  /** `sweptAt` of this reaper's last step. */
  lastSweptAt?: string
  /** Monotonic time since then. */
  elapsedMs?: number
  /** How long this reaper's own sweeps have been failing. */
  failingForMs?: number
  /** The sweep is redundant if anybody swept within this time. Without it, never. */
  intervalMs?: number
}

export interface SweepRequest extends PolicyOption {
  /** Without it the sweep counts as manual, and nothing is held back. */
  reaper?: ReaperFacts
  /** Who asked for a manual sweep, and why: recorded with its last step. */
  actor?: string
  reason?: string
  limit?: number
  cursor?: SweepCursor
}

/** Opaque. */
export type SweepCursor = string & { readonly brand?: 'sweep-cursor' }

export interface SweepStep {
  reaped: ReapedJob[]
  /** Leases that expired during an outage of the database and may still be renewed. */
  held: number
  holdReason: HoldReason | null
  sweptAt: string
  next: SweepCursor | null
  /** Another reaper has just swept: this one did nothing. */
  isRedundant?: boolean
  /** False if fewer than two processes watch for workers that are gone (LEASE-10), and there are some to watch. */
  isWatched?: boolean
}

/** Why expired leases were not reaped (C9). */
export type HoldReason =
  | 'server-restarted'
  | 'table-locked'
  | 'sweeps-failed'
  | 'clock-stepped'
  | 'mass-expiry'

export interface ReapedJob {
  jobId: string
  action: ReapAction
  reason: string
  stage: string | null
  attempt: number
  /** The worker that lost it. */
  workerId: string | null
  /** Until it may run again; null if it will not. */
  retryInMs: number | null
}

export interface PruneRequest {
  /** Default: the retention of the policy. */
  retentionDays?: number
  limit?: number
  cursor?: PruneCursor
}

/** Opaque. */
export type PruneCursor = string & { readonly brand?: 'prune-cursor' }

export interface PruneStep {
  deleted: number
  next: PruneCursor | null
}

export interface PageRequest {
  /** 1 to 1000. Default: 100. */
  limit?: number
  /** The `next` of an earlier page. */
  before?: string
}

export interface ReclaimRequest extends PageRequest {
  /** The worker that lost the job. */
  workerId?: string
  stage?: string
}

export interface ReclaimPage extends ShardedAnswer {
  reclaims: Reclaim[]
  next: string | null
}

export interface Reclaim {
  /** The id of its event. */
  reclaimId: string
  jobId: string
  /** Null if the job was deleted since. */
  type: string | null
  stage: string | null
  attempt: number
  /** The worker that lost the job. */
  workerId: string | null
  reapedAt: Date
  action: 'requeued' | 'dead' | 'cancelled'
  /** `lease_expired`, `deadline_exceeded` or `worker_gone`. */
  reason: string
  lastHeartbeatAt: Date | null
  leaseExpiresAt: Date | null
  nextRunAt: Date | null
  /** From the end of the lease to the reap; null if there was no lease, or its worker was gone before that. */
  latenessMs: number | null
  /** From the last heartbeat to the next claim; null until then. */
  darkMs: number | null
  claimedAgainAt: Date | null
  claimedBy: string | null
}

export interface StaleRequest extends PolicyOption {
  /** 1 to 1000. Default: 100. */
  limit?: number
  /** Only jobs past twice their lease: with a working reaper there are none. */
  isPastTwiceLease?: boolean
}

export interface StaleJobs extends ShardedAnswer {
  jobs: StaleJob[]
  /** The total, whatever the limit. */
  count: number
}

export interface StaleJob extends StaleFacts {
  jobId: string
  type: string
  stage: string
  attempt: number
  heartbeatAt: Date | null
  /** End of the lease; null without a lease and any time to judge by. */
  endedAt: Date | null
  /** The lease of its stage. */
  leaseMs: number
  isPastTwiceLease: boolean
}

export interface SweepPage extends ShardedAnswer {
  /** Null before the first sweep of a reaper. */
  last: LastSweep | null
  sweeps: PastSweep[]
  next: string | null
}

export interface SweepCounts {
  durationMs: number
  /** Jobs past their lease when it began. */
  found: number
  requeued: number
  dead: number
  cancelled: number
  /** Skipped because the row was locked. */
  skipped: number
  held: number
}

export interface LastSweep extends SweepCounts {
  reaperId: string | null
  sweptAt: Date
}

export interface PastSweep extends SweepCounts {
  sweepId: string
  beganAt: Date
  /** Null for a manual sweep. */
  reaperId: string | null
  actor: string | null
  reason: string | null
  holdReason: HoldReason | null
}
