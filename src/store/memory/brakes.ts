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
  // Two reapers see one outage from different ticks, and a second outage may begin while the first is waited out: what
  // is held is not let go.
  const longestMs = Math.max(...runningLeasesMs(state, moment))
  const isSame = known !== null && found.fromMs <= known.toMs + longestMs && known.fromMs <= found.toMs
  state.outage = isSame
    ? { ...found, fromMs: Math.min(found.fromMs, known.fromMs), toMs: Math.max(found.toMs, known.toMs) }
    : found
}

/** Called by the last step of a sweep. A reaper without a past of its own may run inside the server. */
export function noteReached(state: MemoryState, { nowMs }: Moment, facts: ReaperFacts): void {
  if (facts.elapsedMs !== undefined || facts.failingForMs !== undefined) state.reachedAtMs = nowMs
}

function detectOutage(state: MemoryState, moment: Moment, facts: ReaperFacts): Outage | null {
  const { nowMs } = moment
  const failed = detectFailedSweeps(state, moment, facts.failingForMs ?? 0)
  if (failed !== null || facts.lastSweptAt === undefined) return failed
  const sweptAtMs = Date.parse(facts.lastSweptAt)
  if (facts.elapsedMs !== undefined && nowMs - sweptAtMs - facts.elapsedMs > MAX_CLOCK_DRIFT_MS)
    return { fromMs: sweptAtMs + facts.elapsedMs, toMs: nowMs, reason: 'clock-stepped' }
  if (isMassExpiry(state, moment, sweptAtMs)) return { fromMs: sweptAtMs, toMs: nowMs, reason: 'mass-expiry' }
  return null
}

/**
 * Whoever got through since judged all before. If that is at most half a lease ago, no lease that is renewed in time can
 * have ended since, and this reaper's own network was the trouble.
 */
function detectFailedSweeps(state: MemoryState, moment: Moment, failingForMs: number): Outage | null {
  if (failingForMs <= 0) return null
  const { nowMs } = moment
  const reachedAtMs = state.reachedAtMs ?? Number.NEGATIVE_INFINITY
  const failingSinceMs = nowMs - failingForMs
  const isOwnTrouble =
    reachedAtMs > failingSinceMs && nowMs - reachedAtMs <= Math.min(...runningLeasesMs(state, moment)) / 2
  return isOwnTrouble
    ? null
    : { fromMs: Math.max(failingSinceMs, reachedAtMs), toMs: nowMs, reason: 'sweeps-failed' }
}

function runningJobs(state: MemoryState): Job[] {
  return [...state.jobs.values()].filter(({ status }) => status === 'running')
}

function runningLeasesMs(state: MemoryState, { policy }: Moment): number[] {
  return runningJobs(state).map((job) => leaseMsOf(policy, job))
}

/** Ends by itself: what is held still runs, so each further mass must be larger than all before it together. */
function isMassExpiry(state: MemoryState, moment: Moment, sweptAtMs: number): boolean {
  const running = runningJobs(state)
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
