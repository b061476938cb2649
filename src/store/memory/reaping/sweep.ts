// A sweep in bounded steps: running jobs by id, and in the last step rows that no rule can judge.

import type { Job } from '../../../job/job.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import type { HoldReason, ReapedJob, SweepRequest, SweepStep } from '../../job-store.ts'
import { forgetKeptWorkers } from '../lifecycle/last-chance.ts'
import { checkWhole, requireActing } from '../state/checks.ts'
import { type MemoryState, type Outage, runningInIdOrder } from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'
import { observe } from './modes.ts'
import { asOne, type Held, isHeld, noteOutage, noteReached } from './outages.ts'
import {
  isOverdue,
  isTimeout,
  isUnjudged,
  type Moment,
  planReap,
  planReported,
  type ReapPlan,
} from './reap-plan.ts'
import { isSwept, leaveLastSweep, noteSweep, REDUNDANT_SHARE } from './sweep-history.ts'
import { writePlan } from './write-plan.ts'

const DEFAULT_LIMIT = 1000
const MAX_LIMIT = 10_000

/** Where a sweep continues. The counts are those of its first step, since the spread covers the whole sweep. */
interface Position {
  sweepId: string
  beganAtMs: number
  afterId: string
  expired: number
  held: number
  holdReason: HoldReason | null
}

export function sweepJobs(state: MemoryState, request: SweepRequest): SweepStep {
  const limit = readLimit(request.limit)
  const moment = { nowMs: state.nowMs(), policy: policyOf(state.policy, request.policy) }
  if (request.reaper === undefined) requireActing(state)
  if (request.cursor === undefined && isSwept(state, REDUNDANT_SHARE * (request.reaper?.intervalMs ?? 0)))
    return redundantStep(moment.nowMs)
  if (request.reaper !== undefined && request.cursor === undefined) noteOutage(state, moment, request.reaper)
  const known = request.reaper === undefined ? null : asOne(state.outages)

  // Jobs that a reaper takes back are committed before the sweep is closed, by the next step.
  const isReaping = request.reaper !== undefined && state.mode.mode !== 'observe'
  const start = request.cursor === undefined ? begin(state, moment, known) : parseCursor(request.cursor)
  const outage = known ?? sinceFirstStep(request, moment, start)
  const batch = findReapable(state, moment, outage)
    .filter(({ id }) => id > start.afterId)
    .slice(0, limit)
  const isLast = batch.length < (isReaping ? 1 : limit)
  const plans = planBatch(state, moment, batch, start.expired)
  if (isLast) plans.push(...planUnjudged(state, moment, limit))
  const reaped =
    state.mode.mode === 'observe'
      ? observe(state, moment, plans)
      : plans.map((plan) => writePlan(state, moment, plan))
  const held = request.cursor === undefined ? start.held : 0
  const counts = noteSweep(state, request, { reaped, ...start, held })
  if (isLast && request.reaper !== undefined) {
    state.sweptAtMs = moment.nowMs
    noteReached(state, moment, request.reaper)
    forgetKeptWorkers(state, moment.nowMs)
    leaveLastSweep(state, request, moment.nowMs, counts)
  }
  return {
    reaped,
    held: start.held,
    holdReason: start.holdReason,
    sweptAt: new Date(moment.nowMs).toISOString(),
    next: isLast ? null : JSON.stringify({ ...start, afterId: batch.at(-1)?.id }),
  }
}

function redundantStep(nowMs: number): SweepStep {
  const sweptAt = new Date(nowMs).toISOString()
  return { reaped: [], held: 0, holdReason: null, sweptAt, next: null, isRedundant: true }
}

export function previewSweep(
  state: MemoryState,
  options: { policy?: PolicyOverride; limit?: number },
): ReapedJob[] {
  const limit = readLimit(options.limit)
  const moment = { nowMs: state.nowMs(), policy: policyOf(state.policy, options.policy) }
  const batch = findReapable(state, moment, null).slice(0, limit)
  const plans = [...batch.map((job) => planReap(moment, job, 0)), ...planUnjudged(state, moment, limit)]
  return plans.map(({ report }) => report)
}

function readLimit(limit: number | undefined): number {
  checkWhole(limit, 'limit', 1, MAX_LIMIT)
  return limit ?? DEFAULT_LIMIT
}

function begin(state: MemoryState, moment: Moment, outage: Outage | null): Position {
  const expired = findReapable(state, moment, outage).length
  const held = findReapable(state, moment, null).length - expired
  state.sweepCount += 1
  return {
    sweepId: String(state.sweepCount),
    beganAtMs: moment.nowMs,
    afterId: '',
    expired,
    held,
    holdReason: held > 0 && outage !== null ? outage.reason : null,
  }
}

/** The first step alone looks for an outage, and a later one may come long after it: it leaves what has ended since. */
function sinceFirstStep(
  { reaper, cursor }: SweepRequest,
  { nowMs }: Moment,
  { beganAtMs }: Position,
): Held | null {
  if (reaper === undefined || cursor === undefined) return null
  return { fromMs: beganAtMs, toMs: Math.max(beganAtMs, nowMs) }
}

function parseCursor(cursor: string): Position {
  return JSON.parse(cursor) as Position
}

function findReapable(state: MemoryState, moment: Moment, outage: Held | null): Job[] {
  const gone = moment.policy.presence === 'off' ? new Map<string, number>() : state.goneWorkers()
  return runningInIdOrder(state).filter(
    (job) => (isOverdue(moment, job) && !isHeld(outage, moment, job)) || isOfGone(gone, job),
  )
}

/** A worker that is gone loses what it held when it vanished: a later claim or heartbeat proves life (LEASE-10). */
function isOfGone(
  gone: ReadonlyMap<string, number>,
  { status, workerId, heartbeatAt, startedAt }: Job,
): boolean {
  const vanishedMs = gone.get(workerId ?? '')
  if (status !== 'running' || vanishedMs === undefined) return false
  return Math.max(heartbeatAt?.getTime() ?? 0, startedAt?.getTime() ?? 0) < vanishedMs
}

/**
 * The spread covers the whole sweep (REAP-14). Jobs that crashed together return over a whole backoff, so that one that
 * kills its process does not meet the same jobs again (REAP-15).
 */
function planBatch(state: MemoryState, moment: Moment, batch: Job[], expired: number): ReapPlan[] {
  const { requeueRatePerS } = moment.policy
  if (requeueRatePerS === 0) return batch.map((job) => planReap(moment, job, 0))
  const spreadMs = (expired * 1000) / requeueRatePerS
  const crashed = batch.filter((job) => !isTimeout(moment, job))
  return batch.map((job) => {
    const isCohort = crashed.some(({ id, workerId }) => id !== job.id && workerId === job.workerId)
    const cohortMs = isCohort && crashed.includes(job) ? (planReap(moment, job, 0).report.retryInMs ?? 0) : 0
    return planReap(moment, job, state.random() * Math.max(spreadMs, cohortMs))
  })
}

function planUnjudged(state: MemoryState, moment: Moment, limit: number): ReapPlan[] {
  const unjudged = runningInIdOrder(state).filter((job) => isUnjudged(moment, job))
  return unjudged.slice(0, limit).map((job) => planReported(moment, job))
}
