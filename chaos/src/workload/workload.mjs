// What is enqueued when, by the seed: first many short jobs, then a nearly empty queue of handlers about as long as a lease.
// The second is what notices a missing fence: a worker that was paused comes back while its job runs elsewhere.
import { between, createRandom } from '../random.mjs'
import { POISON_MAX_ATTEMPTS } from '../settings.mjs'

/** @typedef {'both' | 'throughput' | 'sparse' | 'tx' | 'long'} WorkloadName */
/** @typedef {{ type: string, payload: { workMs: number, fault?: string }, owner: string, maxAttempts?: number }} PlannedJob */
/** @typedef {{ atMs: number, jobs: PlannedJob[] }} Batch */

const OWNERS = ['anna', 'ben', 'cleo']
/** Faults at a place in the handler, which no random time would meet. */
const DIRECTED = ['kill-after-start', 'kill-after-effect', 'lose-complete-answer', 'lose-tx-answer']

/**
 * @param {{ seed: number, durationMs: number, workload: WorkloadName }} options
 * @returns {Batch[]}
 */
export function makeWorkload({ seed, durationMs, workload }) {
  const random = createRandom(seed ^ 0x5eed)
  const sparseFromMs = { both: durationMs / 2, throughput: durationMs, tx: durationMs, sparse: 0, long: 0 }[
    workload
  ]
  /** @type {Batch[]} */
  const batches = []
  for (let atMs = 0; atMs < durationMs; ) {
    const isSparse = atMs >= sparseFromMs
    const count = isSparse ? 1 : between(random, 4, 16)
    const make = { long: longJob, tx: txJob }[/** @type {string} */ (workload)]
    const jobs = Array.from({ length: count }, () => (make ?? (isSparse ? sparseJob : quickJob))(random))
    batches.push({ atMs, jobs })
    atMs += isSparse ? between(random, 300, 900) : between(random, 200, 600)
  }
  return [...batches, ...poisonBatches(random, durationMs)].toSorted((a, b) => a.atMs - b.atMs)
}

/**
 * @param {() => number} random
 * @returns {PlannedJob}
 */
function quickJob(random) {
  const owner = pickOwner(random)
  const drawn = random()
  if (drawn < 0.006) return directedJob(random, owner)
  const type = drawn < 0.22 ? 'tx' : drawn < 0.3 ? 'limited' : drawn < 0.36 ? 'flaky' : 'quick'
  return { type, payload: { workMs: between(random, 0, 60) }, owner }
}

/**
 * @param {() => number} random
 * @returns {PlannedJob}
 */
function sparseJob(random) {
  const owner = pickOwner(random)
  const drawn = random()
  if (drawn < 0.06) return directedJob(random, owner)
  return { type: drawn < 0.3 ? 'tx' : 'slow', payload: { workMs: between(random, 1_200, 2_700) }, owner }
}

/**
 * @param {() => number} random
 * @returns {PlannedJob}
 */
function txJob(random) {
  return { type: 'tx', payload: { workMs: between(random, 0, 60) }, owner: pickOwner(random) }
}

/**
 * Several leases long, so that some of them run whenever the database goes.
 * @param {() => number} random
 * @returns {PlannedJob}
 */
function longJob(random) {
  return { type: 'slow', payload: { workMs: between(random, 3_000, 9_000) }, owner: pickOwner(random) }
}

/**
 * @param {() => number} random
 * @param {string} owner
 * @returns {PlannedJob}
 */
function directedJob(random, owner) {
  const fault = DIRECTED[between(random, 0, DIRECTED.length - 1)] ?? 'kill-after-start'
  const type = fault === 'lose-tx-answer' ? 'tx' : 'quick'
  return { type, payload: { workMs: between(random, 0, 200), fault }, owner }
}

/**
 * @param {() => number} random
 * @param {number} durationMs
 * @returns {Batch[]}
 */
function poisonBatches(random, durationMs) {
  const count = Math.max(2, Math.round(durationMs / 15_000))
  return Array.from({ length: count }, (_, index) => ({
    atMs: between(random, 0, durationMs * 0.8),
    jobs: [
      {
        type: index % 2 === 0 ? 'poison' : 'hang',
        payload: { workMs: between(random, 0, 100) },
        owner: pickOwner(random),
        maxAttempts: POISON_MAX_ATTEMPTS,
      },
    ],
  }))
}

/** @param {() => number} random */
function pickOwner(random) {
  return OWNERS[between(random, 0, OWNERS.length - 1)] ?? 'anna'
}
