import { isDeepStrictEqual } from 'node:util'
import { invalidArgument } from '../../../errors/index.ts'
import { breakerState } from '../../../policy/dependency/breaker.ts'
import { type ActorOptions, COUNT_LIMIT } from '../../ports/call-options.ts'
import type { QueueLimits, QueueList, QueueRequest, QueueStatus } from '../../ports/dependency-store.ts'
import { requireQueueLimits } from '../../require-queue-limits.ts'
import { isPaused } from '../lifecycle/admit-job.ts'
import { countWaiting, MAX_QUEUES, type QueueCount, waitingQueues } from '../reading/waiting-counts.ts'
import { checkCountLimit, checkQueue, checkWhole } from '../state/checks.ts'
import { jobsInIdOrder, type MemoryQueueLimit, type MemoryState } from '../state/memory-state.ts'

export function mapDependency(state: MemoryState, queue: string, name: string | null): boolean {
  if (name === null) return state.dependencies.delete(queue)
  const isChanged = state.dependencies.get(queue) !== name
  state.dependencies.set(queue, name)
  return isChanged
}

export function pauseQueue(
  state: MemoryState,
  queue: string,
  untilMs: number | null,
  { actor, reason }: ActorOptions,
): boolean {
  checkQueue(queue)
  const nowMs = state.nowMs()
  const known = state.pauses.get(queue)
  const pausedAtMs = isPaused(known, nowMs) ? known.pausedAtMs : nowMs
  state.pauses.set(queue, { pausedAtMs, untilMs, actor: actor ?? null, reason: reason ?? null })
  return !isPaused(known, nowMs)
}

export function resumeQueue(state: MemoryState, queue: string): boolean {
  checkQueue(queue)
  const wasPaused = isPaused(state.pauses.get(queue), state.nowMs())
  state.pauses.delete(queue)
  return wasPaused
}

const MAX_CONCURRENCY = 1_000_000

export function limitQueue(state: MemoryState, queue: string, limits: QueueLimits | null): boolean {
  checkQueue(queue)
  requireQueueLimits(limits)
  const { concurrency = null, groupConcurrency: given = null, groupOrder = null } = limits ?? {}
  checkWhole(concurrency ?? undefined, 'concurrency', 1, MAX_CONCURRENCY)
  checkWhole(given ?? undefined, 'groupConcurrency', 1, MAX_CONCURRENCY)
  if (groupOrder !== null && groupOrder !== 'fifo') throw invalidArgument('groupOrder', groupOrder, 'fifo')
  const groupConcurrency = groupOrder === null ? given : (given ?? 1)
  if (groupOrder !== null && groupConcurrency !== 1)
    throw invalidArgument('groupConcurrency', groupConcurrency, '1 beside the order fifo')
  if (concurrency === null && groupConcurrency === null) return state.queueLimits.delete(queue)
  const limit = { concurrency, groupConcurrency, groupOrder }
  const isChanged = !isDeepStrictEqual(state.queueLimits.get(queue), limit)
  state.queueLimits.set(queue, limit)
  return isChanged
}

export function listQueues(
  state: MemoryState,
  { queues, countLimit = COUNT_LIMIT }: QueueRequest,
): QueueList {
  checkCountLimit(countLimit)
  const waiting = queues ?? waitingQueues(state)
  const listed = queues ?? waiting.slice(0, MAX_QUEUES)
  const counts = [...countWaiting(state, listed, countLimit)].filter(([, count]) => count.waiting > 0)
  return composeQueues(
    state,
    { counts: new Map(counts), isComplete: listed.length === waiting.length },
    queues,
    countLimit,
  )
}

export interface WaitingQueues {
  counts: ReadonlyMap<string, QueueCount>
  isComplete: boolean
}

/** Running jobs are those of the state. */
export function composeQueues(
  state: MemoryState,
  { counts, isComplete }: WaitingQueues,
  queues: string[] | undefined,
  countLimit: number,
): QueueList {
  const nowMs = state.nowMs()
  const running = jobsInIdOrder(state)
    .filter(({ status }) => status === 'running')
    .slice(0, countLimit)
  const paused = [...state.pauses].filter(([, pause]) => isPaused(pause, nowMs)).map(([queue]) => queue)
  const known = [
    ...counts.keys(),
    ...running.map(({ queue }) => queue),
    ...paused,
    ...state.dependencies.keys(),
    ...state.queueLimits.keys(),
  ]
  const names = [...new Set(known)].filter((queue) => queues?.includes(queue) ?? true).toSorted()
  const listed = names.map((queue): QueueStatus => {
    const count = counts.get(queue)
    const dependency = state.dependencies.get(queue) ?? null
    const breaker = dependency === null ? undefined : state.breakers.get(dependency)
    return {
      queue,
      waiting: count?.waiting ?? 0,
      due: count?.due ?? 0,
      running: running.filter((job) => job.queue === queue).length,
      oldestDueMs: count?.oldestDueAtMs == null ? null : nowMs - count.oldestDueAtMs,
      releasedOften: count?.releasedOften ?? 0,
      ...describePause(state, queue, nowMs),
      dependency,
      breakerState: breaker === undefined ? null : breakerState(breaker.facts, nowMs),
      ...(state.queueLimits.get(queue) ?? noLimit),
      atLeast: [
        ...(count?.isCut === true ? (['waiting', 'due', 'releasedOften', 'oldestDueMs'] as const) : []),
        ...(running.length === countLimit ? (['running'] as const) : []),
      ],
    }
  })
  return { queues: listed, isComplete }
}

const noLimit: MemoryQueueLimit = { concurrency: null, groupConcurrency: null, groupOrder: null }

function describePause(state: MemoryState, queue: string, nowMs: number) {
  const pause = state.pauses.get(queue)
  if (!isPaused(pause, nowMs))
    return { isPaused: false, pausedAt: null, pausedForMs: null, pausedBy: null, pauseReason: null }
  return {
    isPaused: true,
    pausedAt: new Date(pause.pausedAtMs),
    pausedForMs: pause.untilMs === null ? null : pause.untilMs - nowMs,
    pausedBy: pause.actor,
    pauseReason: pause.reason,
  }
}
