// Judges one contender by the writes its database accepted, the ledgers of its handlers and the faults injected.

import { concerns, type Disturbance } from '../faults/disturbances.ts'
import { countByKind } from '../faults/schedule.ts'

/** An accepted write to a job. */
export interface Write {
  job: string
  /** `claimed`, `finished`, `returned` or `dead`. */
  kind: string
  /** The process whose session wrote it. */
  who: string
  /** Attempts used of the job's budget. */
  spent: number
  at: number
}
export type PeerLine = { kind: string; at: number; worker: string; job?: string; pool?: string }
export type Hold = {
  job: string
  holder: string
  spent: number
  from: number
  to: number
  next: Write | undefined
  end: Write | undefined
}
export interface Evidence {
  /** In order for each job. */
  writes: Write[]
  /** Ordered by time. */
  ledger: PeerLine[]
  disturbances: Disturbance[]
  kills: { workerId: string; at: number }[]
  deploys: { workerId: string; at: number }[]
  /** Keys of the acknowledged jobs. */
  acknowledged: string[]
  /** Still unfinished long after all faults were healed. */
  unfinished: { job: string; state: string }[]
}

/** Faults that keep any process from renewing, however it is built. */
const EXCUSES = ['gone', 'pause', 'blackhole', 'terminate']

export function judgeWrites(evidence: Evidence) {
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

function groupByJob(writes: Write[]) {
  const stories: Map<string, Write[]> = new Map()
  for (const write of writes) stories.set(write.job, [...(stories.get(write.job) ?? []), write])
  return stories
}

function toHolds(story: Write[]): Hold[] {
  return story.flatMap((claim, index) => {
    if (claim.kind !== 'claimed') return []
    const { job, who: holder, spent, at: from } = claim
    const end = story[index + 1]
    const next = story.slice(index + 1).find(({ kind }) => kind === 'claimed')
    return [{ job, holder, spent, from, to: end?.at ?? Number.POSITIVE_INFINITY, next, end }]
  })
}

/**
 * Completions by a process that had lost the job to another one.
 */
function countStale(story: Write[]) {
  let [holder, count] = ['', 0]
  for (const { kind, who } of story) {
    if (kind === 'claimed') holder = who
    else if (kind === 'finished' && who !== holder) count++
  }
  return count
}

/** Results produced while another process held the job. Each is an opportunity for a stale write. */
function countLate(stories: Map<string, Write[]>, ledger: PeerLine[]) {
  return ledger.filter(({ kind, at, worker, job = '' }) => {
    if (kind !== 'effect') return false
    const last = stories.get(job)?.findLast((write) => write.at <= at)
    return last?.kind === 'claimed' && last.who !== worker
  }).length
}

/** Jobs reaped from a process that was working on them and could renew. */
function countFalseReaps(holds: Hold[], { ledger, disturbances }: Evidence) {
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

function isAtWork(ledger: PeerLine[], worker: string, job: string, at: number) {
  const last = ledger.findLast(
    (line) =>
      line.worker === worker && line.job === job && line.at <= at && ['started', 'ended'].includes(line.kind),
  )
  return last?.kind === 'started'
}

/** Times from the kill of a process until its jobs are claimed again, without those that an outage delayed. */
function measureRescues(holds: Hold[], { kills, disturbances }: Evidence) {
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

/** Jobs interrupted by a deploy, and the attempts it cost them. */
function measureDeploys(holds: Hold[], { deploys }: Evidence) {
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

function countAgain(ledger: PeerLine[]) {
  const effects = ledger.filter(({ kind }) => kind === 'effect')
  return effects.length - new Set(effects.map(({ job }) => job)).size
}
