// The summary line of a run, from its history and judgement.

import { countViolations, type Judgement } from './check-history.ts'
import type { History, LedgerLine } from './history.ts'
import { overdueBound } from './overdue.ts'
import { countLimitedClaims } from './queue-limits.ts'
import { worstWaitMs } from './starvation.ts'
import { measureLateEffects, measureRescues } from './times.ts'

const REFUSED = ['lease-lost', 'not-found']

export function summarise(history: History, { violations, unjudged, stories }: Judgement) {
  const { jobs, events, ledger, samples, stalls } = history
  const count = (type: string) => events.filter((event) => event.type === type).length
  const reaps = events.filter(({ type }) => type.startsWith('reaper:'))
  const rescues = measureRescues(history, stories)
  return {
    jobs: countBy(jobs.map(({ status }) => status)),
    claims: count('processing'),
    reaps: reaps.length,
    reapsByCause: countBy(reaps.map(({ details }) => String(details['cause']))),
    releases: count('released'),
    refusedWrites: ledger.filter(
      ({ kind, outcome }) => kind === 'answered' && REFUSED.includes(outcome ?? ''),
    ).length,
    unknownOutcomes: resolveUnknown(ledger),
    falseReaps: violations.filter(({ invariant }) => invariant === 'I19').length,
    rescues,
    limitedClaims: countLimitedClaims(history),
    holds: countBy(history.holds.map(({ reason }) => reason ?? 'none')),
    lateEffects: measureLateEffects(history, stories),
    samples: samples.length,
    longestOverdueMs: Math.round(Math.max(0, ...samples.map(({ overdueMs }) => overdueMs))),
    overdueBoundMs: overdueBound(history),
    stalls: {
      count: stalls.filter(({ by }) => by !== 'processor').length,
      timerMs: longest(stalls, 'timer'),
      queryMs: longest(stalls, 'query'),
      processorMs: worstWaitMs(history),
    },
    invariants: countViolations(violations),
    violations: violations.length,
    unjudged: countBy(unjudged.map(({ invariant }) => invariant)),
  }
}

/** Why a run without violations still proves nothing: no load, no faults, or starved processes. Null if it does. */
export function problemOf({
  enqueued,
  faultCount,
  unjudged,
}: {
  enqueued: number
  faultCount: number
  unjudged: Record<string, number>
}) {
  if (enqueued === 0) return 'no job was enqueued: the run shows nothing'
  if (faultCount === 0) return 'no fault hit anything: the run shows nothing'
  const names = Object.entries(unjudged).map(([name, count]) => `${count} × ${name}`)
  return names.length === 0
    ? null
    : `the machine was too slow to judge: ${names.join(', ')} of processes that waited for a processor for half a lease`
}

function longest(stalls: History['stalls'], by: 'timer' | 'query') {
  return Math.max(0, ...stalls.filter((stall) => stall.by === by).map(({ from, to }) => to - from))
}

function countBy(words: string[]) {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/**
 * A write without a response is retried until it is known. Counts what the next response said. Expects the ledger ordered by
 * time.
 */
function resolveUnknown(ledger: LedgerLine[]) {
  const open: Set<string> = new Set()
  const resolved = { total: 0, hadGoneThrough: 0, writtenNow: 0, refused: 0, neverAsked: 0 }
  for (const { kind, verb, job, lease, outcome } of ledger) {
    const key = `${verb} ${job} ${lease}`
    if (kind === 'unknown' && !open.has(key)) {
      open.add(key)
      resolved.total++
    }
    if (kind !== 'answered' || !open.delete(key)) continue
    if (outcome === 'already-done') resolved.hadGoneThrough++
    else if (REFUSED.includes(outcome ?? '')) resolved.refused++
    else resolved.writtenNow++
  }
  // The process died, or lost its lease for certain before it retried.
  resolved.neverAsked = open.size
  return resolved
}
