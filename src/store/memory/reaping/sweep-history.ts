// Sweeps that found something, updated with each step, and the last sweep of a reaper.

import type { HoldReason, ReapedJob, SweepRequest } from '../../job-store.ts'
import type { LastSweep, PageRequest, PastSweep, SweepCounts, SweepPage } from '../../ports/reaping-store.ts'
import { checkPage } from '../state/checks.ts'
import type { MemoryState } from '../state/memory-state.ts'

const KEPT_SWEEPS = 1_000
const noCounts = { durationMs: 0, found: 0, requeued: 0, dead: 0, cancelled: 0, skipped: 0, held: 0 }

export interface SweepPart {
  sweepId: string
  beganAtMs: number
  /** From the first step: the same for the whole sweep. */
  held: number
  holdReason: HoldReason | null
  reaped: readonly ReapedJob[]
}

/** Returns the counts of all steps so far. No row is ever locked here, so none is skipped. */
export function noteSweep(state: MemoryState, request: SweepRequest, part: SweepPart): SweepCounts {
  const { sweepId, beganAtMs, held, holdReason, reaped } = part
  const number = (action: ReapedJob['action']) => reaped.filter((job) => job.action === action).length
  // Rows that no rule can judge are reported by every sweep, and do not count as found.
  const found = reaped.filter(({ reason }) => reason !== 'no_lease_to_judge_by').length + held
  const index = state.sweeps.findIndex((sweep) => sweep.sweepId === sweepId)
  const known = state.sweeps[index] ?? noCounts
  const counts = {
    durationMs: state.nowMs() - beganAtMs,
    found: known.found + found,
    requeued: known.requeued + number('requeued'),
    dead: known.dead + number('dead'),
    cancelled: known.cancelled + number('cancelled'),
    skipped: 0,
    held: known.held + held,
  }
  if (found > 0) {
    const sweep: PastSweep = {
      sweepId,
      beganAt: new Date(beganAtMs),
      reaperId: request.reaper?.reaperId ?? null,
      actor: request.actor ?? null,
      reason: request.reason ?? null,
      ...counts,
      holdReason,
    }
    if (index < 0) state.sweeps.push(sweep)
    else state.sweeps[index] = sweep
  }
  return counts
}

export function leaveLastSweep(
  state: MemoryState,
  { reaper }: SweepRequest,
  sweptAtMs: number,
  counts: SweepCounts,
): void {
  if (reaper === undefined) return
  const last: LastSweep = { reaperId: reaper.reaperId, sweptAt: new Date(sweptAtMs), ...counts }
  state.lastSweep = last
}

export function listSweeps(state: MemoryState, request: PageRequest): SweepPage {
  const { limit, before } = checkPage(request)
  const earlier = state.sweeps.filter(({ sweepId }) => before === null || Number(sweepId) < before)
  const sweeps = earlier.toReversed().slice(0, limit)
  return structuredClone({
    last: state.lastSweep,
    sweeps,
    next: sweeps.length < limit ? null : (sweeps.at(-1)?.sweepId ?? null),
  })
}

export function pruneSweeps(state: MemoryState): void {
  state.sweeps.splice(0, Math.max(0, state.sweeps.length - KEPT_SWEEPS))
}

/** As in SQL: a sweep is redundant after another within this share of the interval, and due after that one. */
export const REDUNDANT_SHARE = 0.9
export const DUE_SHARE = 1.1

/** Did anybody sweep within this time? A sweep in the future was made before the clock was set back. */
export function isSwept(state: MemoryState, withinMs: number): boolean {
  const { sweptAtMs } = state
  const nowMs = state.nowMs()
  return sweptAtMs !== null && sweptAtMs + withinMs > nowMs && sweptAtMs <= nowMs
}
