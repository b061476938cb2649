// The judge: I1 to I20 and the bound of a rescue, over all that a run left behind. Pure, so that planted violations can be shown to it.
import { tellStory } from './job-story.mjs'
import { checkLedgers } from './ledgers.mjs'
import { checkTimes } from './times.mjs'
import { checkTransitions } from './transitions.mjs'

/** @import { EventRow, History, Violation } from './history.mjs' */
/** @import { Story } from './job-story.mjs' */

/** I14 is reported, not judged. */
export const judged = [...Array.from({ length: 20 }, (_, index) => `I${index + 1}`), 'rescue'].filter(
  (name) => name !== 'I14',
)

/**
 * @typedef {object} Judgement
 * @property {Violation[]} violations
 * @property {Violation[]} unjudged what looks like one, of processes that waited for a processor
 * @property {Map<string, Story>} stories
 */

/**
 * @param {History} history
 * @returns {Judgement}
 */
export function checkHistory(history) {
  const stories = tellStories(history.events)
  const found = [
    ...checkTransitions(history, stories),
    ...checkLedgers(history, stories),
    ...checkTimes(history, stories),
  ]
  return {
    violations: found.filter(({ isStarved }) => isStarved !== true),
    unjudged: found.filter(({ isStarved }) => isStarved === true),
    stories,
  }
}

/** @param {EventRow[]} events */
function tellStories(events) {
  /** @type {Map<string, EventRow[]>} */
  const byJob = new Map()
  for (const event of events) {
    const list = byJob.get(event.jobId)
    if (list === undefined) byJob.set(event.jobId, [event])
    else list.push(event)
  }
  return new Map([...byJob].map(([jobId, list]) => [jobId, tellStory(jobId, list)]))
}

/** @param {Violation[]} violations */
export function countViolations(violations) {
  return Object.fromEntries(
    judged.map((name) => [name, violations.filter(({ invariant }) => invariant === name).length]),
  )
}
