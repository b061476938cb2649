// The part of the store port that looks back at rescues: what was taken back, what should have been by now, and the sweeps.
import type { StaleFacts } from '../../policy/explain-stale.ts'
import type { PolicyOption } from './call-options.ts'

export interface RescueStore {
  /** Jobs that were taken back, the newest first. With a filter a page may be short and have a `next` all the same. */
  listReclaims(request?: ReclaimRequest): Promise<ReclaimPage>
  /** Running jobs past their lease, the longest first, and those that nobody can judge. Locks nothing. */
  listStaleJobs(request?: StaleRequest): Promise<StaleJobs>
  /** Sweeps that found something, the newest first, and the last one of a reaper whatever it found. */
  listSweeps(request?: PageRequest): Promise<SweepPage>
}

/** What kept leases that were over from being taken (C9). */
export type HoldReason =
  | 'server-restarted'
  | 'table-locked'
  | 'sweeps-failed'
  | 'clock-stepped'
  | 'mass-expiry'

export interface PageRequest {
  /** 1 to 1000; 100 where absent. */
  limit?: number
  /** The `next` of an earlier page. */
  before?: string
}

export interface ReclaimRequest extends PageRequest {
  /** The worker that had it. */
  workerId?: string
  stage?: string
}

export interface ReclaimPage {
  reclaims: Reclaim[]
  next: string | null
}

export interface Reclaim {
  /** Of its event. */
  reclaimId: string
  jobId: string
  /** Null where the job is gone by now. */
  type: string | null
  stage: string | null
  attempt: number
  /** The worker that had it. */
  workerId: string | null
  reapedAt: Date
  action: 'requeued' | 'dead' | 'cancelled'
  reason: string
  lastHeartbeatAt: Date | null
  leaseExpiresAt: Date | null
  nextRunAt: Date | null
  /** From the end of the lease to the reap; null where there was no lease. */
  latenessMs: number | null
  /** From the last heartbeat to the next claim; null until then. */
  darkMs: number | null
  claimedAgainAt: Date | null
  claimedBy: string | null
}

export interface StaleRequest extends PolicyOption {
  /** 1 to 1000; 100 where absent. */
  limit?: number
  /** Only those past twice their lease: there is none, or nobody takes jobs back. */
  isPastTwiceLease?: boolean
}

export interface StaleJobs {
  jobs: StaleJob[]
  /** All there are. */
  count: number
}

export interface StaleJob extends StaleFacts {
  jobId: string
  type: string
  stage: string
  attempt: number
  heartbeatAt: Date | null
  /** When the lease ended; null where there is none and no time to judge it by. */
  endedAt: Date | null
  /** Of its stage. */
  leaseMs: number
  isPastTwiceLease: boolean
}

export interface SweepPage {
  /** Null where no reaper has swept yet. */
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
  /** Somebody had the row locked. */
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
  /** Null of a sweep by hand. */
  reaperId: string | null
  actor: string | null
  reason: string | null
  holdReason: HoldReason | null
}
