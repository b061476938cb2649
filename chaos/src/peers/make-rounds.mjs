// Which fault happens when and to whom, by the seed alone: rounds of a minute, the same for every contender. In a round every
// kind of fault happens at least once; outages and deploys happen alone, so that what follows has one cause.
import { between, createRandom } from '../random.mjs'
import { EXPIRY_MS, WORKERS } from './settings.mjs'

/** @import { Fault } from '../faults/schedule.mjs' */

const ROUND_MS = 60_000
/**
 * Longer than the expiry, and over before the outage.
 * @type {[number, number]}
 */
const FROM_MS = [1_000, 7_000]
/** @type {[number, number]} */
const LONG_MS = [1.2 * EXPIRY_MS, 1.5 * EXPIRY_MS]
const OUTAGE_FROM_MS = 26_000
/** @type {[number, number]} */
const OUTAGE_MS = [0.3 * EXPIRY_MS, 1.4 * EXPIRY_MS]
const DEPLOY_FROM_MS = 50_000

/**
 * @param {{ seed: number, durationMs: number }} options
 * @returns {Fault[]}
 */
export function makeRounds({ seed, durationMs }) {
  const random = createRandom(seed)
  /** @type {Fault[]} */
  const faults = []
  for (let roundMs = 0; roundMs < durationMs; roundMs += ROUND_MS) faults.push(...makeRound(random, roundMs))
  return faults.filter(({ atMs }) => atMs < durationMs).toSorted((a, b) => a.atMs - b.atMs)
}

/**
 * @param {() => number} random
 * @param {number} roundMs
 * @returns {Fault[]}
 */
function makeRound(random, roundMs) {
  const [killed = '', paused = '', blocked = '', cutOff = ''] = shuffle(random)
  const draw = (/** @type {[number, number]} */ [least, most]) => between(random, least, most)
  const fault = (
    /** @type {string} */ kind,
    /** @type {string} */ target,
    /** @type {number} */ atMs,
    durationMs = 0,
  ) => ({ kind, target, atMs: roundMs + atMs, durationMs })
  return [
    fault('pause', paused, draw(FROM_MS), draw(LONG_MS)),
    fault('block', blocked, draw(FROM_MS), draw(LONG_MS)),
    fault('blackhole', cutOff, draw(FROM_MS), draw(LONG_MS)),
    fault('kill', killed, draw([1_000, 10_000]), draw([100, 1_500])),
    fault('kill', killed, draw([14_000, 24_000]), draw([100, 1_500])),
    fault('database-stopped', 'database', OUTAGE_FROM_MS + draw([0, 1_000]), draw(OUTAGE_MS)),
    fault('kill', paused, draw([43_000, 47_000]), draw([100, 1_500])),
    fault('deploy', 'all', DEPLOY_FROM_MS + draw([0, 1_000])),
  ]
}

/** @param {() => number} random */
function shuffle(random) {
  return Array.from({ length: WORKERS }, (_, index) => ({ name: `w${index + 1}`, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ name }) => name)
}
