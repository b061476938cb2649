// The story of one job as its events tell it: which lease held it when, and what broke the rules of its states.

/** @import { EventRow } from './history.mjs' */
/** @typedef {'none' | 'waiting' | 'running' | 'succeeded' | 'dead' | 'cancelled'} State */
/**
 * @typedef {object} Claim
 * @property {string} lease
 * @property {string} worker
 * @property {number} fence
 * @property {number} at
 * @property {number} notBefore the time that the job had to wait for
 * @property {EventRow | null} end
 */
/**
 * @typedef {object} Story
 * @property {string} jobId
 * @property {State} state
 * @property {number} generation
 * @property {Claim[]} claims
 * @property {{ generation: number, lease: string | undefined, at: number }[]} completions
 * @property {string[]} illegal
 * @property {string[]} stale writes that name another lease than the one that held the job
 * @property {number} releases
 * @property {number} counted failures and requeues, as profiles count that look at these
 */

/** @type {Record<string, { from: State[], to: State }>} */
const transitions = {
  complete: { from: ['running'], to: 'succeeded' },
  retry: { from: ['running'], to: 'waiting' },
  failed: { from: ['running'], to: 'dead' },
  expired: { from: ['running'], to: 'dead' },
  released: { from: ['running'], to: 'waiting' },
  cancelled: { from: ['waiting', 'running'], to: 'cancelled' },
  'reaper:requeued': { from: ['running'], to: 'waiting' },
  'reaper:failed(timeout)': { from: ['running'], to: 'dead' },
  'reaper:cancelled': { from: ['running'], to: 'cancelled' },
}
const REMARKS = new Set(['late_result', 'cancel-requested'])
const COUNTED = new Set(['retry', 'failed', 'reaper:requeued'])

/**
 * @param {string} jobId
 * @param {EventRow[]} events of this job, in order
 * @returns {Story}
 */
export function tellStory(jobId, events) {
  /** @type {Story} */
  const story = {
    jobId,
    state: 'none',
    generation: 1,
    claims: [],
    completions: [],
    illegal: [],
    stale: [],
    releases: 0,
    counted: 0,
  }
  let notBefore = 0
  for (const event of events) {
    if (REMARKS.has(event.type)) continue
    if (event.type === 'queued') queue(story, event)
    else if (event.type === 'processing') claim(story, event, notBefore)
    else settle(story, event)
    notBefore = runTime(event)
  }
  return story
}

/** @param {EventRow} event */
function runTime({ type, at, details }) {
  const nextRunAt = /** @type {string | null | undefined} */ (details['next_run_at'])
  if (nextRunAt != null) return Date.parse(nextRunAt)
  return type === 'released' ? at + Number(details['delay_ms'] ?? 0) : 0
}

/**
 * @param {Story} story
 * @param {EventRow} event
 */
function queue(story, { id, details }) {
  const isRetry = details['cause'] === 'retry'
  const isLegal = isRetry ? ['dead', 'cancelled'].includes(story.state) : story.state === 'none'
  if (!isLegal) story.illegal.push(`event ${id}: queued while ${story.state}`)
  if (isRetry) story.generation++
  story.state = 'waiting'
}

/**
 * @param {Story} story
 * @param {EventRow} event
 * @param {number} notBefore
 */
function claim(story, { id, at, details }, notBefore) {
  if (story.state !== 'waiting') story.illegal.push(`event ${id}: processing while ${story.state}`)
  story.state = 'running'
  const lease = String(details['lease_id'])
  const worker = String(details['worker_id'])
  story.claims.push({ lease, worker, fence: Number(details['fence']), at, notBefore, end: null })
}

/**
 * @param {Story} story
 * @param {EventRow} event
 */
function settle(story, event) {
  const { id, type, at, details } = event
  const rule = transitions[type]
  if (rule === undefined) return void story.illegal.push(`event ${id}: ${type} is no event of this run`)
  // Only what waits without a budget is buried.
  const from = details['code'] === 'exhausted' ? ['waiting'] : rule.from
  if (!from.includes(story.state)) story.illegal.push(`event ${id}: ${type} while ${story.state}`)
  const holder = story.state === 'running' ? story.claims.at(-1) : undefined
  const writer = /** @type {string | null | undefined} */ (details['lease_id'])
  if (writer != null && writer !== holder?.lease)
    story.stale.push(`event ${id}: ${type} by lease ${writer}, held by ${holder?.lease}`)
  if (holder !== undefined) holder.end = event
  if (type === 'complete') story.completions.push({ generation: story.generation, lease: holder?.lease, at })
  if (type === 'released' || (type === 'cancelled' && details['cause'] !== undefined)) story.releases++
  // Whoever fails after a cancel was asked for has made the attempt. Whoever gives the job back has not, and tells no code.
  const isFailure = COUNTED.has(type) || (type === 'cancelled' && details['code'] !== undefined)
  if (isFailure && details['code'] !== 'exhausted') story.counted++
  story.state = rule.to
}
