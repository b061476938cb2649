// One line for a run, from its history and its judgement.
import { countViolations } from './check-history.mjs'
import { worstWaitMs } from './starvation.mjs'
import { measureLateEffects, measureRescues, overdueBound } from './times.mjs'

/** @import { Judgement } from './check-history.mjs' */
/** @import { History, LedgerLine } from './history.mjs' */

const REFUSED = ['lease-lost', 'not-found']

/**
 * @param {History} history
 * @param {Judgement} judgement
 */
export function summarise(history, { violations, unjudged, stories }) {
  const { jobs, events, ledger, samples, stalls } = history
  const count = (/** @type {string} */ type) => events.filter((event) => event.type === type).length
  const rescues = measureRescues(history, stories)
  return {
    jobs: countBy(jobs.map(({ status }) => status)),
    claims: count('processing'),
    reaps: events.filter(({ type }) => type.startsWith('reaper:')).length,
    releases: count('released'),
    refusedWrites: ledger.filter(
      ({ kind, outcome }) => kind === 'answered' && REFUSED.includes(outcome ?? ''),
    ).length,
    unknownOutcomes: resolveUnknown(ledger),
    falseReaps: violations.filter(({ invariant }) => invariant === 'I19').length,
    rescues,
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

/**
 * A run in which nothing happened has no violations either, and one whose processes could not run shows none.
 * @param {{ enqueued: number, faultCount: number, unjudged: Record<string, number> }} summary
 */
export function problemOf({ enqueued, faultCount, unjudged }) {
  if (enqueued === 0) return 'no job was enqueued: the run shows nothing'
  if (faultCount === 0) return 'no fault hit anything: the run shows nothing'
  const names = Object.entries(unjudged).map(([name, count]) => `${count} × ${name}`)
  return names.length === 0
    ? null
    : `the machine was too slow to judge: ${names.join(', ')} of processes that waited for a processor for half a lease`
}

/**
 * @param {History['stalls']} stalls
 * @param {'timer' | 'query'} by
 */
function longest(stalls, by) {
  return Math.max(0, ...stalls.filter((stall) => stall.by === by).map(({ from, to }) => to - from))
}

/** @param {string[]} words */
function countBy(words) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/**
 * A write without an answer is made again until it is known: what did the next answer say?
 * @param {LedgerLine[]} ledger by time
 */
function resolveUnknown(ledger) {
  /** @type {Set<string>} */
  const open = new Set()
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
  // Its process died, or its lease was lost for certain before it asked again.
  resolved.neverAsked = open.size
  return resolved
}
