// Limits of how many jobs of a queue and of a group run at once, and turns between groups (RATE-7). The SQL functions of
// sql/functions/jobs/claim/groups do the same.
import type { Job } from '../../../job/job.ts'
import type { LimitFacts } from '../../../policy/explain/job-facts.ts'
import { isExpired } from '../reaping/reap-plan.ts'
import { dueMs, type MemoryState } from '../state/memory-state.ts'
import { reservedJobs } from './last-chance.ts'

/** Whether a claim has to look at limits or groups at all. */
export const hasLimits = (state: MemoryState): boolean => state.queueLimits.size > 0 || state.jobs.hasGroups

/**
 * Those of the due jobs that limits let start, in turns: in each priority, the first job of every group comes before the second of
 * any. Spent jobs take no place: a claim ends them.
 */
export function inTurns(state: MemoryState, due: Job[], isSpent: (job: Job) => boolean): Job[] {
  const places = new Places(state)
  const heads = headsOf(state, isSpent)
  const isFirst = (job: Job) => !isOrdered(state, job) || isSpent(job) || heads.get(groupOf(job)) === job.id
  return inRounds(state, due.filter(isFirst)).filter((job) => isSpent(job) || places.take(job))
}

/** Whether limits let this one job start now. */
export function hasPlace(state: MemoryState, job: Job): boolean {
  if (isOrdered(state, job) && headsOf(state, () => false).get(groupOf(job)) !== job.id) return false
  return !hasLimits(state) || new Places(state).take(job)
}

/** Queues of these jobs of which one waits for a place, of the queue or of its group. */
export function heldBackQueues(state: MemoryState, waiting: Job[]): string[] {
  const places = new Places(state)
  return [...new Set(waiting.filter((job) => !places.has(job)).map(({ queue }) => queue))]
}

/** Limits of a waiting job, for `why`. */
export function limitFacts(state: MemoryState, job: Job): LimitFacts | null {
  const limit = state.queueLimits.get(job.queue)
  if (limit === undefined) return null
  const { queue, group } = job
  const running = [...state.jobs.values()].filter(
    (other) => other.status === 'running' && other.queue === queue,
  )
  const isLimited = group !== null && limit.groupConcurrency !== null
  return {
    concurrency: limit.concurrency,
    running: limit.concurrency === null ? null : Math.min(running.length, limit.concurrency),
    group,
    groupConcurrency: isLimited ? limit.groupConcurrency : null,
    groupRunning: isLimited
      ? Math.min(running.filter((other) => other.group === group).length, limit.groupConcurrency ?? 0)
      : null,
    headId: isOrdered(state, job) ? (headsOf(state, () => false).get(groupOf(job)) ?? null) : null,
  }
}

/** The next claim begins after the group that the last one reached, in each priority of a queue. */
export function noteTurns(state: MemoryState, taken: Job[]): void {
  for (const job of taken) if (job.group !== null) state.reachedGroups.set(turnsOf(job), job.group)
}

const turnsOf = ({ queue, priority }: Job) => JSON.stringify([queue, priority])

/** Whether the claim of these jobs passed this one, which comes first in the order of its group. */
export function precedesInGroup(state: MemoryState, job: Job, taken: Job[]): boolean {
  return isOrdered(state, job) && taken.some((other) => groupOf(other) === groupOf(job) && job.id < other.id)
}

const groupOf = ({ queue, group }: Job) => JSON.stringify([queue, group])

function isOrdered(state: MemoryState, { queue, group }: Job): boolean {
  return group !== null && state.queueLimits.get(queue)?.groupOrder === 'fifo'
}

/** The first waiting job of each group in order, due or not. One that expired before it was due never runs, and is none. */
function headsOf(state: MemoryState, isSpent: (job: Job) => boolean): Map<string, string> {
  const heads = new Map<string, string>()
  for (const job of state.jobs.values()) {
    if (job.status !== 'waiting' || !isOrdered(state, job)) continue
    const isDue = dueMs(job) <= state.nowMs()
    if (isDue ? isSpent(job) : isExpired(job, state.nowMs())) continue
    const head = heads.get(groupOf(job))
    if (head === undefined || job.id < head) heads.set(groupOf(job), job.id)
  }
  return heads
}

/**
 * Places that running jobs leave. A job for which a worker is reserved holds one, too: others would take each one that becomes
 * free until that worker is idle.
 */
class Places {
  readonly #state: MemoryState
  readonly #used = new Map<string, number>()
  readonly #reserved = new Set<string>()

  constructor(state: MemoryState) {
    this.#state = state
    for (const job of state.jobs.running()) this.#use(job)
    for (const job of reservedJobs(state)) {
      this.#reserved.add(job.id)
      this.#use(job)
    }
  }

  has(job: Job): boolean {
    const own = this.#reserved.has(job.id) ? 1 : 0
    const limit = this.#state.queueLimits.get(job.queue)
    if (this.#usedBy(job.queue) - own >= (limit?.concurrency ?? Number.POSITIVE_INFINITY)) return false
    const most = job.group === null ? null : limit?.groupConcurrency
    return this.#usedBy(groupOf(job)) - own < (most ?? Number.POSITIVE_INFINITY)
  }

  take(job: Job): boolean {
    const isFree = this.has(job)
    if (isFree && !this.#reserved.delete(job.id)) this.#use(job)
    return isFree
  }

  #usedBy(key: string): number {
    return this.#used.get(key) ?? 0
  }

  #use(job: Job): void {
    for (const key of [job.queue, groupOf(job)]) this.#used.set(key, this.#usedBy(key) + 1)
  }
}

/**
 * By priority, then the first job of each group, then the second, and so on, from the group after the last one on. Jobs without a
 * group come before or after the others at random, so that neither wait for long.
 */
function inRounds(state: MemoryState, due: Job[]): Job[] {
  const seen = new Map<string, number>()
  const groupedFirst = state.random() < 0.5
  const placed = due.map((job, order) => {
    const { queue, group, priority } = job
    if (group === null) return { job, place: [priority, groupedFirst ? 1 : 0, 0, 0], name: '', order }
    const key = JSON.stringify([queue, group, priority])
    const round = seen.get(key) ?? 0
    seen.set(key, round + 1)
    const lap = group <= (state.reachedGroups.get(turnsOf(job)) ?? '') ? 1 : 0
    return { job, place: [priority, groupedFirst ? 0 : 1, round, lap], name: group, order }
  })
  return placed.toSorted(comparePlaced).map(({ job }) => job)
}

interface Placed {
  place: number[]
  name: string
  order: number
}

function comparePlaced(a: Placed, b: Placed): number {
  for (const [n, number] of a.place.entries()) {
    const difference = number - (b.place[n] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.order - b.order
}
