// The clocks of an attempt: it is aborted at the deadline of its stage, neither earlier nor later, and a handler that ignores its
// signal loses its slot after a grace.
import type { History, Violation } from '../../../../chaos/src/judge/history.ts'
import { type Lease, leaseKey } from '../../../../src/job/lease.ts'
import type { Circumstances, Run } from '../circumstances.ts'

/** The worker counts from before its claim was sent, the database from when it arrived. */
const CLAIM_MS = 250
/** Timers are late by a moment. */
const LATE_MS = 500
/** The result of a handler that was given up takes a round trip. */
const CALLS_MS = 1_000

/** By job and lease: when its handler started, was aborted first, and when the attempt was over. */
interface Times {
  startedAt: Map<string, number>
  abortedAt: Map<string, number>
  endedAt: Map<string, number>
}

type Check = (run: Run, times: Times, circumstances: Circumstances) => Iterable<Violation>

export function* checkAttemptClocks(
  run: Run,
  { ledger }: History,
  circumstances: Circumstances,
): Iterable<Violation> {
  const { aborts, deadlines } = run.evidence
  if (aborts.length === 0 && deadlines.size === 0) return
  const times: Times = { startedAt: new Map(), abortedAt: new Map(), endedAt: new Map() }
  for (const { kind, job = '', lease = '', at } of ledger) {
    if (kind === 'started') times.startedAt.set(keyOf(job, lease), at)
    if (kind === 'ended') times.endedAt.set(keyOf(job, lease), at)
  }
  for (const abort of aborts) times.abortedAt.set(leaseKey(abort), abort.at)
  const checks: Check[] = [checkEarly, checkLate, checkGrace]
  for (const check of checks) yield* check(run, times, circumstances)
}

const keyOf = (jobId: string, leaseId: string) => leaseKey({ jobId, leaseId } satisfies Lease)

function* checkEarly({ evidence }: Run, _: Times, circumstances: Circumstances): Iterable<Violation> {
  for (const abort of evidence.aborts) {
    const deadline = evidence.deadlines.get(leaseKey(abort))
    if (abort.reason !== 'deadline' || deadline === undefined || abort.at >= deadline.at - CLAIM_MS) continue
    // The claim, or one before it that found nothing, was long on its way.
    if (circumstances.isUnhindered(deadline.worker, deadline.claimedAt, deadline.claimedAt))
      yield {
        invariant: 'deadline',
        message: `job ${abort.jobId}: aborted by ${abort.worker} ${deadline.at - abort.at} ms before its deadline`,
      }
  }
}

function* checkLate({ evidence }: Run, times: Times, circumstances: Circumstances): Iterable<Violation> {
  const { startedAt, abortedAt, endedAt } = times
  for (const [key, { worker, at }] of evidence.deadlines) {
    const overAt = Math.min(abortedAt.get(key) ?? Infinity, endedAt.get(key) ?? Number.POSITIVE_INFINITY)
    if ((startedAt.get(key) ?? Number.POSITIVE_INFINITY) > at || overAt <= at + LATE_MS) continue
    if (circumstances.isUnhindered(worker, at, at + LATE_MS))
      yield { invariant: 'deadline', message: `${key}: not aborted by ${worker} at its deadline` }
  }
}

function* checkGrace(
  { evidence, plan }: Run,
  { endedAt }: Times,
  circumstances: Circumstances,
): Iterable<Violation> {
  const mostMs = plan.settings.hangGraceMs + CALLS_MS
  for (const { worker, at, reason, ...lease } of evidence.aborts) {
    if ((endedAt.get(leaseKey(lease)) ?? Number.POSITIVE_INFINITY) <= at + mostMs) continue
    if (circumstances.isUnhindered(worker, at, at + mostMs))
      yield {
        invariant: 'abort',
        message: `job ${lease.jobId}: ${worker} did not end it within ${mostMs} ms after its abort (${reason})`,
      }
  }
}
