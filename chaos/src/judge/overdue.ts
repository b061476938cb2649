// I16 judges how long a lease may be expired, and I15 what a sample of the table shows beside it.

import type { Disturbance } from '../faults/disturbances.ts'
import { type History, isWithin, overlapMs, type Violation } from './history.ts'
import { areAllStarved } from './starvation.ts'

/** Nobody can reap during these, so they do not count as lateness. */
const NO_SWEEPS = new Set([
  'database-stopped',
  'backend-killed',
  'disk-full',
  'connections-used-up',
  'reaper-keeps-locks',
  'table-locked',
  'vacuum-full',
  'slots-full',
])
/** Sweeps hold after it as after an outage of the database, although a reaper may sweep meanwhile. */
const CUT_OFF = 'workers-cut-off'
/**
 * An outage lasts from the last sweep before it to the first after it. So much of the time between two of them, in intervals, no
 * sweep has seen: one until a sweep fails or finds the outage, and half of one until it is tried again.
 */
const UNSEEN_INTERVALS = 1.5

export function outagesOf({ disturbances }: History): Disturbance[] {
  return disturbances.filter(({ kind }) => NO_SWEEPS.has(kind))
}

export function overdueBound({ times, stalls }: History) {
  return 3 * times.sweepMs + times.leaseMs + longestStallMs(stalls)
}

export function longestStallMs(stalls: History['stalls']) {
  return stalls.reduce((most, { from, to, by }) => (by === 'processor' ? most : Math.max(most, to - from)), 0)
}

export function* checkOverdue(history: History): Iterable<Violation> {
  const { samples } = history
  // A hold begins when its outage ends, and so does the time that counts.
  const outages = history.disturbances.filter(({ kind }) => NO_SWEEPS.has(kind) || kind === CUT_OFF)
  const boundMs = overdueBound(history)
  if (samples.length === 0) yield { invariant: 'I16', message: 'the table was never sampled' }
  for (const { at, mismatched, overdueMs } of samples) {
    if (mismatched > 0)
      yield {
        invariant: 'I15',
        message: `${mismatched} rows at ${iso(at)} whose lease fields contradict their status`,
      }
    // Without a look at the outages, which could only excuse it: a run has thousands of samples.
    if (overdueMs <= boundMs) continue
    const lateMs = overdueMs - overlapMs(outages, at - overdueMs, at)
    if (lateMs > boundMs + heldAgainMs(history, at - overdueMs, at))
      yield {
        invariant: 'I16',
        message: `a lease was overdue by ${Math.round(lateMs)} ms at ${iso(at)}`,
        isStarved: areAllStarved(history, at - overdueMs, at),
      }
  }
}

/** Time that further outages add to the hold of the first, for a lease that ended at `from`. */
function heldAgainMs({ times, disturbances }: History, from: number, to: number): number {
  // The hold of an outage covers leases that end up to a lease later: their last heartbeat was before its end.
  const holding = disturbances.filter(
    (outage) => isHeld(outage) && isWithin({ from: outage.from, to: outage.to + times.leaseMs }, from, to),
  )
  // One that began before the lease ended restarts nothing.
  const isRestarted = holding.length > 1 && holding.some((outage) => outage.from > from)
  // A later outage restarts the hold until the database was seen up for a lease in all.
  return isRestarted ? times.leaseMs + (holding.length - 2) * UNSEEN_INTERVALS * times.sweepMs : 0
}

/** Sweeps hold after these. */
function isHeld({ kind }: Disturbance): boolean {
  return (
    kind === CUT_OFF ||
    kind === 'server-clock-stepped' ||
    (NO_SWEEPS.has(kind) && kind !== 'reaper-keeps-locks')
  )
}

function iso(ms: number) {
  return new Date(ms).toISOString()
}
