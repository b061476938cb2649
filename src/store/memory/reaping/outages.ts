// After an outage of the database, leases that ended inside it are held back for one lease: their workers may live, and
// could not renew (C9). A reaper that merely was not running is no reason.
import type { Job } from '../../../job/job.ts'
import type { ReaperFacts } from '../../job-store.ts'
import { leaseMsOf, type MemoryState, type Outage } from '../state/memory-state.ts'
import { isOverdue, type Moment, overdueFromMs } from './reap-plan.ts'

const MAX_CLOCK_DRIFT_MS = 5_000

/** Called by the first step of a sweep. */
export function noteOutage(state: MemoryState, moment: Moment, facts: ReaperFacts): void {
  const found = detectOutage(state, moment, facts)
  if (found === null) return
  const longestMs = Math.max(...runningLeasesMs(state, moment))
  state.outages = joinOutages([...recentOutages(state.outages, found.fromMs, longestMs), found])
}

/** In order, and those that meet as one: two reapers see one outage from different ticks. */
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
 * Those since which the database had been there, at this time, for less than a lease in all: whoever could not renew in an
 * earlier one has had a whole lease to do it, however often it was interrupted.
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

/** What is waited out: from where the first began to where the last ended. */
export function asOne(outages: readonly Outage[]): Outage | null {
  const [first] = outages
  const last = outages.at(-1)
  return first === undefined || last === undefined ? null : { ...last, fromMs: first.fromMs }
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
  const expectedMs = sweptAtMs + (facts.elapsedMs ?? Number.NaN)
  // Who got through by a clock that had stepped already has judged it.
  const isJudged = reachedMs(state) - expectedMs > MAX_CLOCK_DRIFT_MS
  if (nowMs - expectedMs > MAX_CLOCK_DRIFT_MS && !isJudged)
    return { fromMs: expectedMs, toMs: nowMs, reason: 'clock-stepped' }
  // What ended before an outage did that is known was judged with it: no lease is part of two masses.
  const fromMs = Math.max(sweptAtMs, state.outages.at(-1)?.toMs ?? sweptAtMs)
  return isMass(state, moment, fromMs) ? { fromMs, toMs: nowMs, reason: 'mass-expiry' } : null
}

/** Whoever got through has judged all before. */
function reachedMs(state: MemoryState): number {
  return state.reachedAtMs ?? Number.NEGATIVE_INFINITY
}

/**
 * If another got through at most half a lease ago, no lease that is renewed in time can have ended since, and this
 * reaper's own network was the trouble.
 */
function detectFailedSweeps(state: MemoryState, moment: Moment, failingForMs: number): Outage | null {
  if (failingForMs <= 0) return null
  const { nowMs } = moment
  const reachedAtMs = reachedMs(state)
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

/**
 * Leases of at least two workers have ended, and by the time the last of those workers should have beaten nobody did: two
 * beats are made in every lease. A job past its deadline is renewed no more and says nothing about its worker; rows without
 * a worker are those of one.
 */
function isMass(state: MemoryState, moment: Moment, fromMs: number): boolean {
  const running = runningJobs(state)
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

/** The last sign of life of a job's worker: its beat or claim, and without a lease the newest time of the row. */
function signMs(moment: Moment, job: Job): number {
  if (job.leaseExpiresAt !== null) return job.heartbeatAt?.getTime() ?? Number.NEGATIVE_INFINITY
  return endMs(moment, job) - leaseMsOf(moment.policy, job)
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
