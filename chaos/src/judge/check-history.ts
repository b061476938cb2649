// The judge: invariants I1 to I22 and the rescue bound, over the history of a run. Pure, so that tests can plant violations.

import { checkDeleted, deletedRows } from './deleted-jobs.ts'
import type { EventRow, History, Violation } from './history.ts'
import { replayEvents, type Story } from './job-story.ts'
import { checkLedgers } from './ledgers.ts'
import { checkQueueLimits } from './queue-limits.ts'
import { checkTimes } from './times.ts'
import { checkTransitions } from './transitions.ts'

/** I14 is reported, not judged. */
export const judged = [...Array.from({ length: 22 }, (_, index) => `I${index + 1}`), 'rescue'].filter(
  (name) => name !== 'I14',
)

export interface Judgement {
  violations: Violation[]
  /** Apparent violations by processes that were starved of CPU. */
  unjudged: Violation[]
  stories: Map<string, Story>
}

export function checkHistory(history: History): Judgement {
  const stories = replayAll(history.events)
  const deleted = deletedRows(history, stories)
  const whole = { ...history, jobs: [...history.jobs, ...deleted] }
  const found = [
    ...checkTransitions(whole, stories),
    ...checkLedgers(whole, stories),
    ...checkDeleted(whole, deleted),
    ...checkTimes(whole, stories),
    ...checkQueueLimits(whole),
  ]
  return {
    violations: found.filter(({ isStarved }) => isStarved !== true),
    unjudged: found.filter(({ isStarved }) => isStarved === true),
    stories,
  }
}

function replayAll(events: EventRow[]) {
  const byJob: Map<string, EventRow[]> = new Map()
  for (const event of events) {
    const list = byJob.get(event.jobId)
    if (list === undefined) byJob.set(event.jobId, [event])
    else list.push(event)
  }
  return new Map([...byJob].map(([jobId, list]) => [jobId, replayEvents(jobId, list)]))
}

export function countViolations(violations: Violation[]) {
  return Object.fromEntries(
    judged.map((name) => [name, violations.filter(({ invariant }) => invariant === name).length]),
  )
}
