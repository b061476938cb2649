// After an outage of the database, leases that ended inside it are held back for one lease: their workers may live, and
// could not renew (C9). A reaper that merely was not running is no reason.
import type { Job } from '../../job/job.ts'
import type { ReaperFacts } from '../job-store.ts'
import { leaseMsOf, type MemoryState, type Outage } from './memory-state.ts'
import { isOverdue, type Moment, overdueFromMs } from './reap-plan.ts'

const MAX_CLOCK_DRIFT_MS = 5_000
const MIN_LEASES_OF_A_MASS = 10

/** Called by the first step of a sweep. */
export function noteOutage(state: MemoryState, moment: Moment, facts: ReaperFacts): void {
  const found = detectOutage(state, moment, facts)
  if (found === null) return
  const known = state.outage
  // Two reapers see one outage from different ticks: what the first held, the second must not let go.
  const isSame = known !== null && found.fromMs <= known.toMs && known.fromMs <= found.toMs
  state.outage = isSame
    ? { ...found, fromMs: Math.min(found.fromMs, known.fromMs), toMs: Math.max(found.toMs, known.toMs) }
    : found
}

function detectOutage(state: MemoryState, moment: Moment, facts: ReaperFacts): Outage | null {
  const { nowMs } = moment
  if (facts.failingForMs !== undefined && facts.failingForMs > 0)
    return { fromMs: nowMs - facts.failingForMs, toMs: nowMs, reason: 'sweeps-failed' }
  if (facts.lastSweptAt === undefined) return null
  const sweptAtMs = Date.parse(facts.lastSweptAt)
  if (facts.elapsedMs !== undefined && nowMs - sweptAtMs - facts.elapsedMs > MAX_CLOCK_DRIFT_MS)
    return { fromMs: sweptAtMs + facts.elapsedMs, toMs: nowMs, reason: 'clock-stepped' }
  if (isMassExpiry(state, moment, sweptAtMs)) return { fromMs: sweptAtMs, toMs: nowMs, reason: 'mass-expiry' }
  return null
}

function isMassExpiry(state: MemoryState, moment: Moment, sweptAtMs: number): boolean {
  const running = [...state.jobs.values()].filter(({ status }) => status === 'running')
  const endedSince = running.filter(
    (job) => isOverdue(moment, job) && (overdueFromMs(moment, job) ?? 0) >= sweptAtMs,
  )
  return running.length >= MIN_LEASES_OF_A_MASS && endedSince.length * 2 > running.length
}

/** Did the lease run out in the outage, with no sign of life since, and is one lease not over since its end? */
export function isHeld(outage: Outage | null, moment: Moment, job: Job): boolean {
  const endedMs = overdueFromMs(moment, job)
  if (outage === null || endedMs === null || job.heartbeatAt === null) return false
  return (
    endedMs >= outage.fromMs &&
    job.heartbeatAt.getTime() <= outage.toMs &&
    moment.nowMs < outage.toMs + leaseMsOf(moment.policy, job)
  )
}
