// The judge: I1 to I20 and the bound of a rescue, over all that a run left behind. Pure, so that planted violations can be shown to it.

import type { EventRow, History, Violation } from './history.ts'
import { type Story, tellStory } from './job-story.ts'
import { checkLedgers } from './ledgers.ts'
import { checkTimes } from './times.ts'
import { checkTransitions } from './transitions.ts'

/** I14 is reported, not judged. */
export const judged = [...Array.from({ length: 20 }, (_, index) => `I${index + 1}`), 'rescue'].filter(
  (name) => name !== 'I14',
)

export interface Judgement {
  violations: Violation[]
  /** what looks like one, of processes that waited for a processor */
  unjudged: Violation[]
  stories: Map<string, Story>
}

export function checkHistory(history: History): Judgement {
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

function tellStories(events: EventRow[]) {
  const byJob: Map<string, EventRow[]> = new Map()
  for (const event of events) {
    const list = byJob.get(event.jobId)
    if (list === undefined) byJob.set(event.jobId, [event])
    else list.push(event)
  }
  return new Map([...byJob].map(([jobId, list]) => [jobId, tellStory(jobId, list)]))
}

export function countViolations(violations: Violation[]) {
  return Object.fromEntries(
    judged.map((name) => [name, violations.filter(({ invariant }) => invariant === name).length]),
  )
}
