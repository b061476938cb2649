// Judges one contender by what its database accepted, what its handlers noted, and what the run itself did to whom.
import { concerns } from '../faults/disturbances.mjs'
import { countByKind } from '../faults/schedule.mjs'

/** @import { Disturbance } from '../faults/disturbances.mjs' */
/**
 * @typedef {object} Write a write to a job that the database accepted
 * @property {string} job
 * @property {string} kind claimed, finished, returned or dead
 * @property {string} who the process whose session wrote it
 * @property {number} spent of the budget that ends the job
 * @property {number} at
 */
/** @typedef {{ kind: string, at: number, worker: string, job?: string, pool?: string }} PeerLine */
/** @typedef {{ job: string, holder: string, spent: number, from: number, to: number, next: Write | undefined, end: Write | undefined }} Hold */
/**
 * @typedef {object} Evidence
 * @property {Write[]} writes in the order of each job
 * @property {PeerLine[]} ledger by time
 * @property {Disturbance[]} disturbances
 * @property {{ workerId: string, at: number }[]} kills
 * @property {{ workerId: string, at: number }[]} deploys
 * @property {string[]} acknowledged keys of the jobs that the producer was told of
 * @property {{ job: string, state: string }[]} unfinished long after everything was healed
 */

/** What keeps a process from renewing, whatever it is built like. */
const EXCUSES = ['gone', 'pause', 'blackhole', 'terminate']

/** @param {Evidence} evidence */
export function judgeWrites(evidence) {
  const stories = groupByJob(evidence.writes)
  const holds = [...stories.values()].flatMap(toHolds)
  const finishes = [...stories.values()].map(
    (story) => story.filter(({ kind }) => kind === 'finished').length,
  )
  const dead = [...stories.values()].filter((story) => story.at(-1)?.kind === 'dead')
  const unfinished = new Set(evidence.unfinished.map(({ job }) => job))
  return {
    jobs: new Set([...stories.keys(), ...unfinished, ...evidence.acknowledged]).size,
    finishedOnce: finishes.filter((count) => count === 1).length,
    finishedTwice: finishes.filter((count) => count > 1).length,
    staleWrites: [...stories.values()].reduce((sum, story) => sum + countStale(story), 0),
    lateResults: countLate(stories, evidence.ledger),
    ...countFalseReaps(holds, evidence),
    dead: dead.length,
    stuck: unfinished.size,
    stuckStates: countByKind(evidence.unfinished.map(({ state }) => ({ kind: state }))),
    lost: evidence.acknowledged.filter((job) => !stories.has(job) && !unfinished.has(job)).length,
    rescues: measureRescues(holds, evidence),
    deploys: measureDeploys(holds, evidence),
    workDoneAgain: countAgain(evidence.ledger),
  }
}

/** @param {Write[]} writes */
function groupByJob(writes) {
  /** @type {Map<string, Write[]>} */
  const stories = new Map()
  for (const write of writes) stories.set(write.job, [...(stories.get(write.job) ?? []), write])
  return stories
}

/**
 * @param {Write[]} story of one job
 * @returns {Hold[]}
 */
function toHolds(story) {
  return story.flatMap((claim, index) => {
    if (claim.kind !== 'claimed') return []
    const { job, who: holder, spent, at: from } = claim
    const end = story[index + 1]
    const next = story.slice(index + 1).find(({ kind }) => kind === 'claimed')
    return [{ job, holder, spent, from, to: end?.at ?? Number.POSITIVE_INFINITY, next, end }]
  })
}

/**
 * Completions by a process that had lost the job: another one had started it since.
 * @param {Write[]} story of one job
 */
function countStale(story) {
  let [holder, count] = ['', 0]
  for (const { kind, who } of story) {
    if (kind === 'claimed') holder = who
    else if (kind === 'finished' && who !== holder) count++
  }
  return count
}

/**
 * Results that a process had ready while another one held the job: each is a chance for a stale write.
 * @param {Map<string, Write[]>} stories
 * @param {PeerLine[]} ledger
 */
function countLate(stories, ledger) {
  return ledger.filter(({ kind, at, worker, job = '' }) => {
    if (kind !== 'effect') return false
    const last = stories.get(job)?.findLast((write) => write.at <= at)
    return last?.kind === 'claimed' && last.who !== worker
  }).length
}

/**
 * A job that was taken while its process was at work on it, and nothing kept that process from renewing.
 * @param {Hold[]} holds
 * @param {Evidence} evidence
 */
function countFalseReaps(holds, { ledger, disturbances }) {
  const counts = { falseReaps: 0, afterOutages: 0, fromBlocked: 0 }
  for (const { job, holder, from, to, end } of holds) {
    if (end === undefined || end.kind === 'finished' || !isAtWork(ledger, holder, job, to)) continue
    const kinds = disturbances
      .filter((each) => concerns(each, holder) && each.from <= to && each.to >= from)
      .map(({ kind }) => kind)
    if (kinds.some((kind) => EXCUSES.includes(kind))) continue
    if (kinds.includes('block')) counts.fromBlocked++
    else {
      counts.falseReaps++
      if (kinds.includes('database-stopped')) counts.afterOutages++
    }
  }
  return counts
}

/**
 * @param {PeerLine[]} ledger
 * @param {string} worker
 * @param {string} job
 * @param {number} at
 */
function isAtWork(ledger, worker, job, at) {
  const last = ledger.findLast(
    (line) =>
      line.worker === worker && line.job === job && line.at <= at && ['started', 'ended'].includes(line.kind),
  )
  return last?.kind === 'started'
}

/**
 * From the kill of a process until its jobs are claimed again. What an outage delays is left out.
 * @param {Hold[]} holds
 * @param {Evidence} evidence
 */
function measureRescues(holds, { kills, disturbances }) {
  const outages = disturbances.filter(({ kind }) => kind === 'database-stopped')
  let never = 0
  const times = kills.flatMap(({ workerId, at }) =>
    holds.flatMap(({ holder, from, to, next }) => {
      if (holder !== workerId || from > at || to < at) return []
      if (next === undefined) {
        never++
        return []
      }
      return outages.some((outage) => outage.from <= next.at && outage.to >= at) ? [] : [next.at - at]
    }),
  )
  const sorted = times.toSorted((a, b) => a - b).map(Math.round)
  return {
    count: sorted.length,
    medianMs: sorted[Math.floor((sorted.length - 1) / 2)] ?? null,
    slowestMs: sorted.at(-1) ?? null,
    never,
  }
}

/**
 * Jobs that ran when everybody was told to leave and were not finished by that process, and what that cost of their budgets.
 * @param {Hold[]} holds
 * @param {Evidence} evidence
 */
function measureDeploys(holds, { deploys }) {
  const interrupted = deploys.flatMap(({ workerId, at }) =>
    holds.filter(
      ({ holder, from, to, end }) =>
        holder === workerId && from <= at && to >= at && (end?.kind !== 'finished' || end.who !== workerId),
    ),
  )
  return {
    interrupted: interrupted.length,
    attemptsBurnt: interrupted.reduce((sum, { spent, next }) => sum + ((next?.spent ?? spent) - spent), 0),
  }
}

/** @param {PeerLine[]} ledger */
function countAgain(ledger) {
  const effects = ledger.filter(({ kind }) => kind === 'effect')
  return effects.length - new Set(effects.map(({ job }) => job)).size
}
