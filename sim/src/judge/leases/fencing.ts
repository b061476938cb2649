// A worker and a lease that was taken from it. Its countdown begins before its calls are sent, so it is the first to know
// that the lease may have ended (C5, C6). It starts no handler under such a lease, and puts a running one at risk.
import { concerns } from '../../../../chaos/src/faults/disturbances.ts'
import { type History, isWithin, type Violation } from '../../../../chaos/src/judge/history.ts'
import { leaseKey } from '../../../../src/job/lease.ts'
import type { Circumstances, Run } from '../circumstances.ts'
import { type LeaseReap, readAttemptTimes, readLeaseReaps } from './lease-reaps.ts'

/** A look at the clocks, another one a tenth of a second later, and timers that are late. */
const LOOK_MS = 500
/** Its code does not run. */
const STALLS = new Set(['pause', 'block', 'gone'])

export function* checkFencing(
  { evidence }: Run,
  { events, ledger, disturbances }: History,
  circumstances: Circumstances,
): Iterable<Violation> {
  // A failover may have undone what the worker had heard.
  const reaps = readLeaseReaps(events).filter(
    ({ beatAt, reapedAt }) => !evidence.isAnyLostWithin(beatAt, reapedAt),
  )
  if (reaps.length === 0) return
  const attempts = readAttemptTimes(ledger)
  const aborts = new Map(evidence.aborts.map((abort) => [leaseKey(abort), abort.at]))
  const say = (message: string): Violation => ({ invariant: 'fence', message })
  for (const { key, jobId, worker, leaseEnd } of reaps) {
    const attempt = attempts.get(key)
    if (attempt === undefined) continue
    const { startedAt, endedAt, riskyAt } = attempt
    if (startedAt > leaseEnd)
      yield say(`job ${jobId}: started by ${worker} ${startedAt - leaseEnd} ms after its lease had ended`)
    const isTold =
      Math.min(endedAt, riskyAt, aborts.get(key) ?? Number.POSITIVE_INFINITY) <= leaseEnd + LOOK_MS
    if (!isTold && startedAt <= leaseEnd && !isStalled(worker, leaseEnd))
      yield say(`job ${jobId}: its lease ended at ${leaseEnd}, and ${worker} did not put it at risk`)
  }

  function isStalled(worker: LeaseReap['worker'], at: number): boolean {
    const [from, to] = [at - LOOK_MS, at + LOOK_MS]
    return (
      circumstances.isBlocked(worker, from, to) ||
      disturbances.some((each) => STALLS.has(each.kind) && concerns(each, worker) && isWithin(each, from, to))
    )
  }
}
