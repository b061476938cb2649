// Maps breakers to the contract.
import { isUnheard } from '../../policy/dependency/breaker.ts'
import { describeUnheard } from '../../policy/explain/explain-waiting.ts'
import { resumeBreaker } from '../../policy/explain/remedy.ts'
import type { Breaker } from '../../store/job-store.ts'
import type * as wire from '../contract/index.ts'
import { redactOrNull, snakeCase } from './jobs.ts'

const isoOrNull = (date: Date | null) => date?.toISOString() ?? null

export function toWireBreaker(breaker: Breaker): wire.Breaker {
  const settings = Object.entries(breaker.settings).map(([name, value]) => [
    snakeCase(name),
    value as unknown,
  ])
  return {
    name: breaker.name,
    state: breaker.state,
    since: breaker.since.toISOString(),
    changed_by: breaker.changedBy,
    reason: redactOrNull(breaker.reason),
    calls: breaker.calls,
    failures: breaker.failures,
    successes: breaker.successes,
    probing: breaker.probing,
    reopens: breaker.reopens,
    unheard: breaker.unheard,
    next_probe_in_ms: breaker.nextProbeInMs,
    held_for_ms: breaker.heldForMs,
    last_calls: breaker.lastCalls.map(({ isFailure, at }) => ({ is_failure: isFailure, at: isoOrNull(at) })),
    settings: Object.fromEntries(settings) as Record<string, unknown>,
    queues: breaker.queues,
    banner: breaker.state === 'closed' ? null : bannerOf(breaker),
    resumes: resumes(breaker),
    remedy: breaker.state === 'closed' ? null : resumeBreaker(breaker.name),
  }
}

const isUnheardBreaker = ({ state, unheard, settings: { closeAfter } }: Breaker) =>
  isUnheard({ state, unheard, closeAfter })

const resumes = (breaker: Breaker) =>
  breaker.state === 'held' ? breaker.heldForMs !== null : !isUnheardBreaker(breaker)

/** The text of document 004, with the name of the dependency (BREAK-4), unless it would promise too much. */
function bannerOf(breaker: Breaker): string {
  const { name, state, changedBy, unheard } = breaker
  const shown = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  if (isUnheardBreaker(breaker)) return describeUnheard({ name: shown, unheard })
  if (state === 'held' && breaker.heldForMs === null)
    return `${shown} on hold by ${changedBy ?? 'someone'} — jobs wait until it is resumed.`
  return `${shown} busy — jobs will resume automatically.`
}
