// Leases that expired during an outage of the database are held back for one lease: their workers may live, and could not
// renew (C9). A reaper that was not running is no outage.
import type { Job } from '../../../job/job.ts'
import type { ReaperFacts } from '../../job-store.ts'
import { leaseMsOf, type MemoryState, type Outage, runningInIdOrder } from '../state/memory-state.ts'
import { isOverdue, type Moment, overdueFromMs } from './reap-plan.ts'

const MAX_CLOCK_DRIFT_MS = 5_000

/** Called by the first step of a sweep. */
export function noteOutage(state: MemoryState, moment: Moment, facts: ReaperFacts): void {
  state.outages = pastOutages(state.outages, moment.nowMs)
  const found = detectOutage(state, moment, facts)
  if (found === null) return
  const longestMs = Math.max(...runningLeasesMs(state, moment))
  state.outages = joinOutages([...recentOutages(state.outages, found.fromMs, longestMs), found])
}

/** Later times are from before the clock was set back, and would hold every lease until then. */
export function pastOutages(outages: readonly Outage[], nowMs: number): readonly Outage[] {
  if (outages.every(({ toMs }) => toMs <= nowMs)) return outages
  return outages.flatMap((outage) =>
    outage.fromMs > nowMs ? [] : [{ ...outage, toMs: Math.min(outage.toMs, nowMs) }],
  )
}

/** Sorted, and merged where they overlap: two reapers see one outage from different ticks. */
export function joinOutages(outages: readonly Outage[]): Outage[] {
  const joined: Outage[] = []
  for (const outage of outages.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last === undefined || last.toMs < outage.fromMs) joined.push({ ...outage })
    else if (outage.toMs > last.toMs) Object.assign(last, { toMs: outage.toMs, reason: outage.reason })
  }
  return joined
}

/**
 * Outages after which the database was reachable for less than one lease in all. After an earlier one, every worker had a
 * whole lease to renew, however often it was interrupted.
 */
function recentOutages(outages: readonly Outage[], atMs: number, leaseMs: number): Outage[] {
  let awayMs = 0
  return outages
    .toReversed()
    .filter(({ fromMs, toMs }) => {
      const thereMs = atMs - toMs - awayMs
      awayMs += toMs - fromMs
      return thereMs < leaseMs
    })
    .toReversed()
}

/** From the start of the first outage to the end of the last. */
export function asOne(outages: readonly Outage[]): Outage | null {
  const [first] = outages
  const last = outages.at(-1)
  if (first === undefined || last === undefined) return null
  return { fromMs: first.fromMs, toMs: last.toMs, reason: last.reason }
}

/** Called by the last step of a sweep. A reaper without a past of its own may run inside the server. */
export function noteReached(state: MemoryState, { nowMs }: Moment, facts: ReaperFacts): void {
  if (facts.elapsedMs !== undefined || facts.failingForMs !== undefined) state.reachedAtMs = nowMs
}

function detectOutage(state: MemoryState, moment: Moment, facts: ReaperFacts): Outage | null {
  const { nowMs } = moment
  const failed = detectFailedSweeps(state, moment, facts)
  if (failed !== null || facts.lastSweptAt === undefined) return failed
  const sweptAtMs = Date.parse(facts.lastSweptAt)
  const expectedMs = sweptAtMs + (facts.elapsedMs ?? Number.NaN)
  const leastMs = leastStepMs(state, moment)
  // A reaper that got through with a stepped clock has already judged it.
  const isStepped = nowMs - expectedMs > leastMs && reachedMs(state, moment) - expectedMs <= leastMs
  // Leases that expired before the end of a known outage were judged with it: no lease counts in two mass expiries.
  // A reaper that left sweeps to others has judged nothing since the last one.
  const judgedMs = Math.min(sweptAtMs, state.sweptAtMs ?? sweptAtMs)
  const fromMs = Math.max(judgedMs, state.outages.at(-1)?.toMs ?? judgedMs)
  const isMassExpiry = isMass(state, moment, fromMs)
  // A sweep that was long on its way looks like a step, and may meet a mass that fell silent before it was sent.
  if (isStepped) return { fromMs: isMassExpiry ? fromMs : expectedMs, toMs: nowMs, reason: 'clock-stepped' }
  return isMassExpiry ? { fromMs, toMs: nowMs, reason: 'mass-expiry' } : null
}

/** A shorter step ends no lease that is renewed in time. */
function leastStepMs(state: MemoryState, moment: Moment): number {
  return Math.min(MAX_CLOCK_DRIFT_MS, Math.min(...runningLeasesMs(state, moment)) / 2)
}

/** A reaper that got through has judged everything before; one in the future did so before the clock was set back. */
function reachedMs({ reachedAtMs }: MemoryState, { nowMs }: Moment): number {
  return reachedAtMs === null || reachedAtMs > nowMs ? Number.NEGATIVE_INFINITY : reachedAtMs
}

/**
 * If another reaper got through at most half a lease ago, no lease renewed in time can have expired since: the network of
 * this reaper was the problem.
 */
function detectFailedSweeps(
  state: MemoryState,
  moment: Moment,
  { failingForMs = 0, lastSweptAt }: ReaperFacts,
): Outage | null {
  if (failingForMs <= 0) return null
  const { nowMs } = moment
  const reachedAtMs = reachedMs(state, moment)
  // If the clock has stepped meanwhile, they fail since an earlier time than it seems.
  const sweptAtMs = lastSweptAt === undefined ? nowMs : Date.parse(lastSweptAt)
  const failingSinceMs = Math.min(nowMs - failingForMs, sweptAtMs)
  const isOwnTrouble =
    reachedAtMs > failingSinceMs && nowMs - reachedAtMs <= Math.min(...runningLeasesMs(state, moment)) / 2
  return isOwnTrouble
    ? null
    : { fromMs: Math.max(failingSinceMs, reachedAtMs), toMs: nowMs, reason: 'sweeps-failed' }
}

function runningLeasesMs(state: MemoryState, { policy }: Moment): number[] {
  return runningInIdOrder(state).map((job) => leaseMsOf(policy, job))
}

/**
 * Leases of at least two workers have expired, and no worker sent a heartbeat by the time the last of those was due to: two
 * heartbeats fall into every lease. A job past its deadline is no longer renewed and says nothing about its worker; rows
 * without a worker count as those of one.
 */
function isMass(state: MemoryState, moment: Moment, fromMs: number): boolean {
  const running = runningInIdOrder(state)
  const silent = running.filter((job) => {
    const isPast = job.deadlineAt !== null && job.deadlineAt.getTime() <= moment.nowMs
    return !isPast && isOverdue(moment, job) && endMs(moment, job) >= fromMs
  })
  const missedMs = Math.max(...silent.map((job) => (signMs(moment, job) + endMs(moment, job)) / 2))
  const heardMs = Math.max(...running.map((job) => signMs(moment, job)))
  return new Set(silent.map(({ workerId }) => workerId)).size > 1 && heardMs < missedMs
}

function endMs(moment: Moment, job: Job): number {
  return overdueFromMs(moment, job) ?? Number.NEGATIVE_INFINITY
}

/** Last sign of life of a job's worker: heartbeat or claim, and without a lease the newest time of the row. */
function signMs(moment: Moment, job: Job): number {
  if (job.leaseExpiresAt !== null) return job.heartbeatAt?.getTime() ?? Number.NEGATIVE_INFINITY
  return endMs(moment, job) - leaseMsOf(moment.policy, job)
}

export type Held = Pick<Outage, 'fromMs' | 'toMs'>

/** Whether the lease expired in the outage, without a sign of life since, and less than one lease after its end. */
export function isHeld(outage: Held | null, moment: Moment, job: Job): boolean {
  const endedMs = overdueFromMs(moment, job)
  if (outage === null || endedMs === null || job.heartbeatAt === null) return false
  return (
    endedMs >= outage.fromMs &&
    job.heartbeatAt.getTime() <= outage.toMs &&
    moment.nowMs < outage.toMs + leaseMsOf(moment.policy, job)
  )
}
