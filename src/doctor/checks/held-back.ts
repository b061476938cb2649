import { isUnheard } from '../../policy/dependency/breaker.ts'
import { describeUnheard } from '../../policy/explain/explain-waiting.ts'
import { showCount } from '../../policy/explain/show-count.ts'
import { showDuration } from '../../policy/explain/show-duration.ts'
import type { DoctorFacts, TableFacts } from '../facts.ts'
import { countJobs, type Finding, warning } from '../finding.ts'

/** Jobs held on purpose, by an operator or the engine: reported, because they look stuck. */
export function checkBreakers({ breakers }: Pick<DoctorFacts, 'breakers'>): Finding[] {
  return (breakers ?? [])
    .filter(({ state }) => state !== 'closed')
    .map((breaker) => {
      const { name, state, reason, changedBy, calls, failures, reopens, settings, queues, unheard } = breaker
      const isLimited = reason === 'limited' && changedBy === null
      const why =
        state !== 'held'
          ? `: ${failures} of the last ${calls} calls failed`
          : isLimited
            ? ': the service asked for a pause (429 or Retry-After)'
            : ` by ${changedBy ?? 'somebody'}: ${reason ?? 'no reason given'}`
      const held = queues.map(({ queue }) => queue).join(', ')
      const flaps =
        settings.mode === 'hold' && reopens > 0
          ? `; its probe closed it ${reopens} times too early: set UNSTUCK_GATEWAY_PROBE_URL or probeUrl to an endpoint that fails when the calls do`
          : ''
      const isDeaf = isUnheard({ state, unheard, closeAfter: settings.closeAfter })
      const deaf = isDeaf ? `; ${describeUnheard({ name, unheard })}` : ''
      const message = `breaker ${name} is ${state}${why}; queues on hold: ${held || 'none'}${flaps}${deaf}`
      return warning('breakers', message, `unstuck breaker resume ${name} --reason …`)
    })
}

/** How long a new dependency may wait for its first call. */
const UNHEARD_MS = 600_000

/** A breaker without reported calls cannot open: its jobs would fail one after the other. */
export function checkUnheard({ breakers, tables, server }: DoctorFacts): Finding[] {
  const queues = tables.flatMap(({ health }) => health?.queues ?? [])
  return (breakers ?? []).flatMap(({ name, calls, reason, since }) => {
    const isUnheard = calls === 0 && reason === null && server.now.getTime() - since.getTime() > UNHEARD_MS
    const running = queues.filter((queue) => queue.dependency === name && queue.running > 0)
    if (!isUnheard || running.length === 0) return []
    const which = running.map(({ queue }) => queue).join(', ')
    const age = showDuration(server.now.getTime() - since.getTime())
    const message = `jobs of ${which} are running, but no call was reported to breaker ${name} for ${age}: it cannot open`
    const fix = 'Call through gateway(), or report calls with record_calls.'
    return [warning('unheard breaker', message, fix)]
  })
}

export function checkQueues({ name, health }: TableFacts): Finding[] {
  return (health?.queues ?? [])
    .filter(({ isPaused }) => isPaused)
    .map((status) => {
      const { queue, pausedBy, pauseReason, pausedForMs } = status
      const end = pausedForMs === null ? 'until it is resumed' : `for another ${showDuration(pausedForMs)}`
      const by = `by ${pausedBy ?? 'somebody'}: ${pauseReason ?? 'no reason given'}`
      const message = `queue ${queue} of ${name} is paused ${by}, ${end}; jobs due: ${showCount(status, 'due')}`
      return warning('paused queues', message, `unstuck queues resume ${queue} --reason …`)
    })
}

/** A typo in a type, a handler that was forgotten, or a fleet that is scaled to zero. */
export function checkUnhandled({ name, unhandled }: TableFacts): Finding[] {
  return (unhandled ?? []).map(({ queue, waiting, reason }) => {
    const message = `queue ${queue} of ${name}: ${countJobs(waiting)} waiting; ${reason}`
    return warning('unhandled types', message, 'unstuck worker handlers.js')
  })
}

/** Such jobs are never ended, so an operator has to know of them (RATE-5, RATE-6). */
export function checkReleases({ name, releasedOften }: TableFacts): Finding[] {
  if (releasedOften === null || releasedOften.jobs === 0) return []
  const { jobs, ids, most } = releasedOften
  const which = `${ids.join(', ')}${jobs > ids.length ? ', …' : ''}`
  const message =
    `${name}: ${countJobs(jobs)} released at least 20 times, or for over a day (up to ${most} times), ` +
    `by a rate limit or their handler: ${which}`
  return [warning('released often', message, `unstuck why ${ids[0] ?? ''}`)]
}

export function checkDispatches({ name, dispatchesWaiting }: TableFacts): Finding[] {
  if (dispatchesWaiting === null || dispatchesWaiting === 0) return []
  const message = `${name}: ${countJobs(dispatchesWaiting)} not yet dispatched to the outside queue`
  return [warning('dispatches', message, 'Start the dispatcher, or check its log.')]
}
