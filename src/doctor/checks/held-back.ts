import { showDuration } from '../../policy/show-duration.ts'
import type { DoctorFacts, TableFacts } from '../facts.ts'
import { type Finding, warning } from '../finding.ts'

/** Somebody, or the engine, holds jobs back on purpose: told, so that nobody looks elsewhere. */
export function checkBreakers({ breakers }: DoctorFacts): Finding[] {
  return (breakers ?? [])
    .filter(({ state }) => state !== 'closed')
    .map(({ name, state, reason, changedBy, calls, failures, queues }) => {
      const why =
        state === 'held'
          ? `by ${changedBy ?? 'somebody'}: ${reason ?? 'no reason given'}`
          : `${failures} of the last ${calls} calls failed`
      const held = queues.map(({ queue }) => queue).join(', ')
      const message = `breaker ${name} is ${state}, ${why}; it holds back ${held || 'no queue'}`
      return warning('breakers', message, `unstuck breaker resume ${name} --reason …`)
    })
}

export function checkQueues({ name, queues }: TableFacts): Finding[] {
  return (queues ?? [])
    .filter(({ isPaused }) => isPaused)
    .map(({ queue, pausedBy, pauseReason, pausedForMs, due }) => {
      const end = pausedForMs === null ? 'until it is resumed' : `for another ${showDuration(pausedForMs)}`
      const by = `by ${pausedBy ?? 'somebody'}: ${pauseReason ?? 'no reason given'}`
      const message = `queue ${queue} of ${name} is paused ${by}, ${end}; ${due} due`
      return warning('paused queues', message, `unstuck queues resume ${queue}`)
    })
}

export function checkDispatches({ name, dispatchesWaiting }: TableFacts): Finding[] {
  if (dispatchesWaiting === null || dispatchesWaiting === 0) return []
  const message = `${dispatchesWaiting} jobs of ${name} are still to be told to the outside queue`
  return [warning('dispatches', message, 'Start the dispatcher, or look at what it reports.')]
}
