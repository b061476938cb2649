import { showDuration } from '../../policy/explain/show-duration.ts'
import type { DoctorFacts, TableFacts } from '../facts.ts'
import { type Finding, warning } from '../finding.ts'

/** Jobs held on purpose, by an operator or the engine: reported, so that nobody looks elsewhere. */
export function checkBreakers({ breakers }: DoctorFacts): Finding[] {
  return (breakers ?? [])
    .filter(({ state }) => state !== 'closed')
    .map(({ name, state, reason, changedBy, calls, failures, reopens, settings, queues }) => {
      const isLimited = reason === 'limited' && changedBy === null
      const why =
        state !== 'held'
          ? `${failures} of the last ${calls} calls failed`
          : isLimited
            ? 'for the service asked for a pause (429 or Retry-After)'
            : `by ${changedBy ?? 'somebody'}: ${reason ?? 'no reason given'}`
      const held = queues.map(({ queue }) => queue).join(', ')
      const flaps =
        settings.mode === 'hold' && reopens > 0
          ? `; its probe closed it ${reopens} times too early: set UNSTUCK_GATEWAY_PROBE_URL or probeUrl to an address that fails with the calls`
          : ''
      const message = `breaker ${name} is ${state}, ${why}; it holds back ${held || 'no queue'}${flaps}`
      return warning('breakers', message, `unstuck breaker resume ${name} --reason …`)
    })
}

/** How long a new dependency may wait for its first call. */
const UNHEARD_MS = 600_000

/** A breaker without reported calls cannot open: its jobs would fail one after the other. */
export function checkUnheard({ breakers, tables, server }: DoctorFacts): Finding[] {
  const queues = tables.flatMap((table) => table.queues ?? [])
  return (breakers ?? []).flatMap(({ name, calls, reason, since }) => {
    const isUnheard = calls === 0 && reason === null && server.now.getTime() - since.getTime() > UNHEARD_MS
    const running = queues.filter((queue) => queue.dependency === name && queue.running > 0)
    if (!isUnheard || running.length === 0) return []
    const which = running.map(({ queue }) => queue).join(', ')
    const age = showDuration(server.now.getTime() - since.getTime())
    const message = `jobs of ${which} run, and breaker ${name} has heard of no call for ${age}: it cannot open`
    const fix = 'Call through gateway(), or report calls with record_calls.'
    return [warning('unheard breaker', message, fix)]
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

/** Such jobs are never ended, so an operator has to know of them (RATE-5, RATE-6). */
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
