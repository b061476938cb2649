import { showDuration } from '../../policy/show-duration.ts'
import type { DoctorFacts, TableFacts } from '../facts.ts'
import { type Finding, warning } from '../finding.ts'

/** Somebody, or the engine, holds jobs back on purpose: told, so that nobody looks elsewhere. */
export function checkBreakers({ breakers }: DoctorFacts): Finding[] {
  return (breakers ?? [])
    .filter(({ state }) => state !== 'closed')
    .map(({ name, state, reason, changedBy, calls, failures, queues }) => {
      const isLimited = reason === 'limited' && changedBy === null
      const why =
        state !== 'held'
          ? `${failures} of the last ${calls} calls failed`
          : isLimited
            ? 'for the service asked for a pause (429 or Retry-After)'
            : `by ${changedBy ?? 'somebody'}: ${reason ?? 'no reason given'}`
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

/** They are never ended for that: somebody has to know of them (RATE-5, RATE-6). */
export function checkReleases({ name, releasedOften }: TableFacts): Finding[] {
  if (releasedOften === null || releasedOften.jobs === 0) return []
  const { jobs, ids, most } = releasedOften
  const which = `${ids.join(', ')}${jobs > ids.length ? ', …' : ''}`
  const message =
    `${jobs} waiting jobs of ${name} were released 20 times or more, or over a day (up to ${most} times): ` +
    `a limit or their handler keeps sending them back: ${which}`
  return [warning('released often', message, `unstuck why ${ids[0] ?? ''}`)]
}

export function checkDispatches({ name, dispatchesWaiting }: TableFacts): Finding[] {
  if (dispatchesWaiting === null || dispatchesWaiting === 0) return []
  const message = `${dispatchesWaiting} jobs of ${name} are still to be told to the outside queue`
  return [warning('dispatches', message, 'Start the dispatcher, or look at what it reports.')]
}
