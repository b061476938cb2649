import { breakerState } from '../../../policy/dependency/breaker.ts'
import type { ActorOptions } from '../../ports/call-options.ts'
import type { QueueStatus } from '../../ports/dependency-store.ts'
import { isPaused } from '../lifecycle/admit-job.ts'
import { checkQueue } from '../state/checks.ts'
import { dueMs, type MemoryState } from '../state/memory-state.ts'

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

export function listQueues(state: MemoryState): QueueStatus[] {
  const nowMs = state.nowMs()
  const unfinished = [...state.jobs.values()].filter(
    ({ status }) => status === 'waiting' || status === 'running',
  )
  const paused = [...state.pauses].filter(([, pause]) => isPaused(pause, nowMs)).map(([queue]) => queue)
  const names = new Set([...unfinished.map(({ queue }) => queue), ...paused, ...state.dependencies.keys()])
  return [...names].toSorted().map((queue) => {
    const jobs = unfinished.filter((job) => job.queue === queue)
    const waiting = jobs.filter(({ status }) => status === 'waiting')
    const dependency = state.dependencies.get(queue) ?? null
    const breaker = dependency === null ? undefined : state.breakers.get(dependency)
    return {
      queue,
      waiting: waiting.length,
      due: waiting.filter((job) => dueMs(job) <= nowMs).length,
      running: jobs.length - waiting.length,
      ...describePause(state, queue, nowMs),
      dependency,
      breakerState: breaker === undefined ? null : breakerState(breaker.facts, nowMs),
    }
  })
}

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
