// One line for a run, from its history and its judgement.
import { countViolations } from './check-history.mjs'
import { measureLateEffects, measureRescues, overdueBound } from './invariants/times.mjs'

/** @import { History, LedgerLine, Violation } from './history.mjs' */
/** @import { Story } from './invariants/job-story.mjs' */

const REFUSED = ['lease-lost', 'not-found']

/**
 * @param {History} history
 * @param {{ violations: Violation[], stories: Map<string, Story> }} judgement
 */
export function summarise(history, { violations, stories }) {
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
    stalls: { count: stalls.length, timerMs: longest(stalls, 'timer'), queryMs: longest(stalls, 'query') },
    invariants: countViolations(violations),
    violations: violations.length,
  }
}

/**
 * A run in which nothing happened has no violations either.
 * @param {{ enqueued: number, faultCount: number }} summary
 */
export function problemOf({ enqueued, faultCount }) {
  if (enqueued === 0) return 'no job was enqueued: the run shows nothing'
  return faultCount === 0 ? 'no fault hit anything: the run shows nothing' : null
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
