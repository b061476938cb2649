// I19 for the simulator, which knows to the millisecond when each fault began and ended: a fault excuses the reap of a job that its
// worker ran only if it left that worker no time for a heartbeat.
import { concerns } from '../../../../chaos/src/faults/disturbances.ts'
import type { History, Violation } from '../../../../chaos/src/judge/history.ts'
import { LATE_PACKETS, type Run, type Span } from '../circumstances.ts'
import { type LeaseReap, readAttemptTimes, readLeaseReaps } from './lease-reaps.ts'

/** A packet that TCP sends again, or the pause after a failed heartbeat, and the way of the next one. */
const AGAIN_MS = 750
/**
 * Heartbeats get through all the same: the thread has a connection of its own, and uses no wall clock. Each heartbeat of a lossy
 * network that failed, and each worker that is cut off, is logged by itself.
 */
const HARMLESS = new Set([
  'block',
  'clock-stepped',
  'hints-lost',
  'lossy',
  'presence-ended',
  'reaper-keeps-locks',
  'slots-full',
  'workers-cut-off',
])

export function* checkRenewals({ plan, departures, evidence }: Run, history: History): Iterable<Violation> {
  const reaps = readLeaseReaps(history.events)
  if (reaps.length === 0) return
  const attempts = readAttemptTimes(history.ledger)
  const leastMs = plan.settings.policy.heartbeatMs + AGAIN_MS
  for (const reap of reaps) {
    const attempt = attempts.get(reap.key)
    const { jobId, worker, beatAt, leaseEnd, reapedAt } = reap
    if (attempt === undefined || attempt.startedAt > leaseEnd || attempt.endedAt < reapedAt) continue
    // No heartbeat is sent during a transaction, nor at the very end of a worker.
    if (evidence.typeOf(jobId) === 'tx' || departures.hasLeft(worker, reapedAt)) continue
    const free = longestFree(reap, Math.max(beatAt, attempt.startedAt), history)
    if (free.to - free.from > leastMs)
      yield {
        invariant: 'renewal',
        message: `job ${jobId}: reaped from ${worker} at ${reapedAt}, although nothing kept it from renewing from ${free.from} to ${free.to}`,
      }
  }
}

/** The longest time before the end of the lease in which nothing hindered the heartbeats of its worker. */
function longestFree(
  { worker, leaseEnd }: LeaseReap,
  from: number,
  { disturbances, delays = [] }: History,
): Span {
  const hindrances: Span[] = [
    ...disturbances.filter((each) => !HARMLESS.has(each.kind) && concerns(each, worker)),
    ...delays.map((delay) => ({ from: delay.from, to: delay.to + LATE_PACKETS * delay.packetMs })),
  ].toSorted((a, b) => a.from - b.from)
  let free: Span = { from, to: from }
  let freeFrom = from
  for (const hindrance of [...hindrances, { from: leaseEnd, to: leaseEnd }]) {
    const to = Math.min(hindrance.from, leaseEnd)
    if (to - freeFrom > free.to - free.from) free = { from: freeFrom, to }
    freeFrom = Math.max(freeFrom, hindrance.to)
  }
  return free
}
