// Counts of waiting jobs by queue, as in waiting_counts.sql: all queues share one limit.
import type { Job } from '../../../job/job.ts'
import { isReleasedOften } from '../../../policy/retry/release-delay.ts'
import { dueMs, type MemoryState } from '../state/memory-state.ts'

export interface WaitingCount {
  waiting: number
  due: number
  releasedOften: number
  /** When the longest due of them became due. */
  oldestDueAtMs: number | null
}

export interface QueueCount extends WaitingCount {
  /** The queue has as many jobs, or more. */
  isCut: boolean
}

/** As many queues are counted and listed. */
export const MAX_QUEUES = 1_000
const FIRST_SHARE = 1_000
const MAX_ROUNDS = 3

/** Each round counts the queues that the one before cut, while their share of the limit grows. */
export class CountRounds {
  readonly counts = new Map<string, QueueCount>()
  /** Queues of the next round; empty at the end. */
  queues: string[]
  /** Jobs to count in each of them. */
  share: number
  #left: number
  #rounds = 0

  constructor(queues: string[], limit: number) {
    this.queues = queues
    this.share = Math.max(1, Math.min(FIRST_SHARE, Math.floor(limit / Math.max(1, queues.length))))
    this.#left = limit
  }

  /** Counts of the round, by queue. */
  take(found: ReadonlyMap<string, WaitingCount>): void {
    for (const [queue, count] of found) {
      const isCut = count.waiting === this.share
      this.counts.set(queue, { ...count, isCut })
      if (!isCut) this.#left -= count.waiting
    }
    const cut = this.queues.filter((queue) => this.counts.get(queue)?.isCut)
    const next = Math.floor(this.#left / cut.length)
    const isOver = next <= this.share || ++this.#rounds === MAX_ROUNDS
    this.queues = isOver ? [] : cut
    this.share = next
  }
}

export function countWaiting(state: MemoryState, queues: string[], limit: number): Map<string, QueueCount> {
  const rounds = new CountRounds(queues, limit)
  while (rounds.queues.length > 0)
    rounds.take(new Map(rounds.queues.map((queue) => [queue, countQueue(state, queue, rounds.share)])))
  return rounds.counts
}

function countQueue(state: MemoryState, queue: string, share: number): WaitingCount {
  const nowMs = state.nowMs()
  const seen = [...state.jobs.values()]
    .filter((job) => job.status === 'waiting' && job.queue === queue)
    .toSorted((a, b) => a.priority - b.priority || dueMs(a) - dueMs(b) || (a.id < b.id ? -1 : 1))
    .slice(0, share)
  const due = seen.map(dueMs).filter((at) => at <= nowMs)
  return {
    waiting: seen.length,
    due: due.length,
    releasedOften: seen.filter((job) => isOften(job, nowMs)).length,
    oldestDueAtMs: due.length === 0 ? null : due.reduce((oldest, at) => Math.min(oldest, at)),
  }
}

export function isOften({ releases, startedAt }: Job, nowMs: number): boolean {
  return isReleasedOften(releases, startedAt === null ? null : nowMs - startedAt.getTime())
}

export function waitingQueues(state: MemoryState): string[] {
  const waiting = [...state.jobs.values()].filter(({ status }) => status === 'waiting')
  return [...new Set(waiting.map(({ queue }) => queue))].toSorted()
}
