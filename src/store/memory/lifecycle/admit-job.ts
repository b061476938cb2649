import type { Job } from '../../../job/job.ts'
import { breakerState, runningProbes, takeProbeSlots } from '../../../policy/dependency/breaker.ts'
import type { MemoryState, Pause } from '../state/memory-state.ts'

/** Whether pause and breaker of its queue admit the job. A half-open breaker gives it a probe slot, if one is left. */
export function admitJob(state: MemoryState, job: Job, nowMs: number): boolean {
  if (isPaused(state.pauses.get(job.queue), nowMs)) return false
  const name = state.dependencies.get(job.queue) ?? ''
  const breaker = state.breakers.get(name)
  if (breaker === undefined) return true
  const condition = breakerState(breaker.facts, nowMs)
  if (condition !== 'half-open') return condition === 'closed'
  const facts = takeProbeSlots(breaker.facts, [job.id], nowMs)
  state.breakers.set(name, { ...breaker, facts })
  return runningProbes(facts, nowMs).some(({ jobId }) => jobId === job.id)
}

/** Whether every job of this queue may be claimed: a half-open breaker refuses some. */
export function isSurelyAdmitted(state: MemoryState, queue: string, nowMs: number): boolean {
  if (isPaused(state.pauses.get(queue), nowMs)) return false
  const breaker = state.breakers.get(state.dependencies.get(queue) ?? '')
  return breaker === undefined || breakerState(breaker.facts, nowMs) === 'closed'
}

/** Whether any job of this queue may be claimed. */
export function isAdmitting(state: MemoryState, queue: string, nowMs: number): boolean {
  if (isPaused(state.pauses.get(queue), nowMs)) return false
  const breaker = state.breakers.get(state.dependencies.get(queue) ?? '')
  return breaker === undefined || ['closed', 'half-open'].includes(breakerState(breaker.facts, nowMs))
}

export function isPaused(pause: Pause | undefined, nowMs: number): pause is Pause {
  return pause !== undefined && (pause.untilMs === null || pause.untilMs > nowMs)
}
