// One sweep of one table, in steps until nothing is left (C8).

import type { PolicyOverride } from '../../policy/policy.ts'
import type { HoldReason, JobStore, ReapedJob, ReaperFacts, SweepRequest } from '../../store/job-store.ts'
import { timing } from '../timing/timing.ts'

/** The result that document 001 prescribes. */
export interface ReaperResult {
  requeuedIds: string[]
  failedIds: string[]
}

export interface SweepReport extends ReaperResult {
  /** Every job reaped or reported, with its evidence. */
  reaped: ReapedJob[]
  held: number
  holdReason: HoldReason | null
  sweptAt: string
  durationMs: number
  /** See `SweepStep`. */
  isRedundant: boolean
  isWatched: boolean
}

export interface RunSweepOptions {
  /** Absent for a manual sweep, which is never held. */
  reaper?: ReaperFacts
  policy?: PolicyOverride
  batchSize?: number
  /** Who requested a manual sweep, and why. */
  actor?: string
  reason?: string
}

export async function runSweep(store: JobStore, options: RunSweepOptions = {}): Promise<SweepReport> {
  const startedAt = timing.nowMs()
  const { reaper, policy, batchSize, actor, reason } = options
  const request: SweepRequest = {}
  if (reaper !== undefined) request.reaper = reaper
  if (policy !== undefined) request.policy = policy
  if (batchSize !== undefined) request.limit = batchSize
  if (actor !== undefined) request.actor = actor
  if (reason !== undefined) request.reason = reason
  let step = await store.sweepJobs(request)
  const { held, holdReason, sweptAt, isRedundant = false, isWatched = true } = step
  const reaped = [...step.reaped]
  while (step.next !== null) {
    step = await store.sweepJobs({ cursor: step.next, ...request })
    reaped.push(...step.reaped)
  }
  return {
    requeuedIds: idsOf(reaped, 'requeued'),
    failedIds: idsOf(reaped, 'dead'),
    reaped,
    held,
    holdReason,
    sweptAt,
    isRedundant,
    isWatched,
    durationMs: Math.round(timing.nowMs() - startedAt),
  }
}

function idsOf(reaped: ReapedJob[], action: ReapedJob['action']): string[] {
  return reaped.filter((job) => job.action === action).map(({ jobId }) => jobId)
}
