// When a breaker opens and closes (BREAK-1, BREAK-3). The database decides the same in sql/core/breaker_state.sql,
// forget_calls.sql, open_breaker.sql, close_breaker.sql, record_probe.sql and sql/functions/record_calls.sql.

/** `hold` is closed by health probes alone; `half-open` lets some real jobs through after the cooldown, too. */
export type BreakerMode = 'hold' | 'half-open'

/** `held` is by an operator; open or closed beneath. */
export type BreakerState = 'closed' | 'open' | 'half-open' | 'held'

export interface BreakerSettings {
  mode: BreakerMode
  /** How many of the last calls are looked at. */
  windowCalls: number
  /** Calls that are older count no more; null looks at no age. */
  windowMs: number | null
  /** Under this many calls nothing is judged; at most `windowCalls` count. */
  minCalls: number
  /** The share of failed calls in the window, from over 0 to 1, at which it opens. */
  failThreshold: number
  /** After it opened, and after a failed probe, nothing is tried for this long. */
  cooldownMs: number
  /** This many good probes in a row close it. */
  closeAfter: number
  /** Good health probes count once in this time. */
  probeIntervalMs: number
  /** How many jobs a half-open breaker lets through at a time. */
  probeSlots: number
  /** A job that was let through and reports no call gives its slot back after this time. */
  probeTimeoutMs: number
}

export const defaultBreakerSettings: BreakerSettings = {
  mode: 'half-open',
  windowCalls: 20,
  windowMs: null,
  minCalls: 10,
  failThreshold: 0.5,
  cooldownMs: 30_000,
  closeAfter: 3,
  probeIntervalMs: 1_000,
  probeSlots: 1,
  probeTimeoutMs: 60_000,
}

/** What came of one call of the dependency. */
export interface DependencyCall {
  /** A server error, a timeout, no connection. What the caller did wrong is no failure of the dependency. */
  isFailure: boolean
  /** The job that made it: a half-open breaker then hears its own probes only. */
  jobId?: string
  /** The service asked for no call for so long (RATE-6): no job of any worker starts before, and it is no sign of health. */
  limitedMs?: number
}

export interface BreakerProbe {
  jobId: string
  grantedAtMs: number
}

export interface BreakerFacts {
  settings: BreakerSettings
  /** The last calls, oldest first; true is a failure. */
  calls: readonly boolean[]
  /** When each of them was reported; empty where no age is looked at. */
  calledAtMs: readonly number[]
  isOpen: boolean
  /** Probes that went well since it opened, in a row. */
  successes: number
  cooldownUntilMs: number
  /** The last health probe that went well. */
  probedAtMs: number | null
  /** Jobs that were let through and have not reported yet, oldest first. */
  probes: readonly BreakerProbe[]
  /** Null where nobody holds it; `untilMs` is null where nobody said how long. */
  hold: { untilMs: number | null } | null
}

export const closedBreaker: BreakerFacts = {
  settings: defaultBreakerSettings,
  calls: [],
  calledAtMs: [],
  isOpen: false,
  successes: 0,
  cooldownUntilMs: 0,
  probedAtMs: null,
  probes: [],
  hold: null,
}

export function breakerState(facts: BreakerFacts, nowMs: number): BreakerState {
  const { hold, isOpen, settings, cooldownUntilMs } = facts
  if (hold !== null && (hold.untilMs === null || hold.untilMs > nowMs)) return 'held'
  if (!isOpen) return 'closed'
  return settings.mode === 'half-open' && cooldownUntilMs <= nowMs ? 'half-open' : 'open'
}

/** The window is judged once per report, by what it holds after it. */
export function afterCalls(
  facts: BreakerFacts,
  calls: readonly DependencyCall[],
  nowMs: number,
): BreakerFacts {
  const limitedMs = Math.max(0, ...calls.map((call) => call.limitedMs ?? 0))
  const judged = judgeCalls(facts, calls, nowMs)
  return limitedMs > 0 ? limited(judged, nowMs + limitedMs, nowMs) : judged
}

/** A hold that ends by itself. One that is in force gets longer and never shorter. */
function limited(facts: BreakerFacts, untilMs: number, nowMs: number): BreakerFacts {
  const { hold } = facts
  if (hold === null || breakerState(facts, nowMs) !== 'held') return { ...facts, hold: { untilMs } }
  return hold.untilMs === null ? facts : { ...facts, hold: { untilMs: Math.max(hold.untilMs, untilMs) } }
}

function judgeCalls(facts: BreakerFacts, calls: readonly DependencyCall[], nowMs: number): BreakerFacts {
  if (facts.isOpen) {
    const isHearing = facts.settings.mode === 'half-open' && facts.cooldownUntilMs <= nowMs
    return isHearing ? afterProbeCalls(facts, calls, nowMs) : facts
  }
  const { windowCalls, windowMs, minCalls, failThreshold } = facts.settings
  const reported = calls.map(({ isFailure }) => isFailure)
  const times = windowMs === null ? [] : reported.map(() => nowMs)
  const counted = forgetCalls(
    { ...facts, calls: [...facts.calls, ...reported], calledAtMs: [...facts.calledAtMs, ...times] },
    nowMs,
  )
  const window = counted.calls
  const isEnough = window.length >= Math.min(minCalls, windowCalls)
  return isEnough && countFailures(window) / window.length >= failThreshold ? opened(counted, nowMs) : counted
}

/** Without what the window has left behind: calls before the last ones, and where it has an age those that are older. */
export function forgetCalls(facts: BreakerFacts, nowMs: number): BreakerFacts {
  const { windowCalls, windowMs } = facts.settings
  const old = windowMs === null ? [] : facts.calledAtMs.filter((atMs) => atMs <= nowMs - windowMs)
  const first = Math.max(facts.calls.length - windowCalls, old.length, 0)
  return { ...facts, calls: facts.calls.slice(first), calledAtMs: facts.calledAtMs.slice(first) }
}

export function countFailures(calls: readonly boolean[]): number {
  return calls.filter((isFailure) => isFailure).length
}

function afterProbeCalls(facts: BreakerFacts, calls: readonly DependencyCall[], nowMs: number): BreakerFacts {
  const callsOf = ({ jobId }: BreakerProbe) => calls.filter((call) => call.jobId === jobId)
  const named = facts.probes.filter((probe) => callsOf(probe).length > 0)
  const others = facts.probes.filter((probe) => !named.includes(probe))
  const nameless = calls.filter(({ jobId }) => jobId === undefined)
  const answers = [
    ...named.map(callsOf),
    ...others.slice(0, nameless.length).map((_, nth) => nameless.slice(nth, nth + 1)),
  ]
  if (answers.some((made) => made.some(({ isFailure }) => isFailure))) return opened(facts, nowMs)
  const good = answers.filter((made) => made.every(({ limitedMs = 0 }) => limitedMs === 0))
  return countSuccesses({ ...facts, probes: others.slice(nameless.length) }, good.length)
}

/** A health probe outside any job. During the cooldown it changes nothing. */
export function afterProbe(facts: BreakerFacts, isHealthy: boolean, nowMs: number): BreakerFacts {
  if (!facts.isOpen || nowMs < facts.cooldownUntilMs) return facts
  if (!isHealthy) return opened(facts, nowMs)
  if (facts.probedAtMs !== null && nowMs < facts.probedAtMs + facts.settings.probeIntervalMs) return facts
  return countSuccesses({ ...facts, probedAtMs: nowMs }, 1)
}

/** Opens it, or lets the cooldown begin anew. */
function opened(facts: BreakerFacts, nowMs: number): BreakerFacts {
  const cooldownUntilMs = nowMs + facts.settings.cooldownMs
  return { ...facts, isOpen: true, successes: 0, probedAtMs: null, probes: [], cooldownUntilMs }
}

/** It starts with an empty window: what opened it is history. */
export function closed(facts: BreakerFacts): BreakerFacts {
  return { ...closedBreaker, settings: facts.settings, hold: facts.hold }
}

function countSuccesses(facts: BreakerFacts, count: number): BreakerFacts {
  const successes = facts.successes + count
  return successes >= facts.settings.closeAfter ? closed(facts) : { ...facts, successes }
}

/** Lets the first of these jobs through, as many as there are slots. A job that waits again is no probe any more. */
export function takeProbeSlots(facts: BreakerFacts, jobIds: readonly string[], nowMs: number): BreakerFacts {
  const { probeSlots, probeTimeoutMs } = facts.settings
  const running = facts.probes.filter(
    ({ jobId, grantedAtMs }) => grantedAtMs > nowMs - probeTimeoutMs && !jobIds.includes(jobId),
  )
  const granted = jobIds.slice(0, Math.max(0, probeSlots - running.length))
  return { ...facts, probes: [...running, ...granted.map((jobId) => ({ jobId, grantedAtMs: nowMs }))] }
}

/** Until a health probe counts; null where the breaker is closed. */
export function nextProbeInMs(facts: BreakerFacts, nowMs: number): number | null {
  if (!facts.isOpen) return null
  const fromMs = facts.probedAtMs === null ? 0 : facts.probedAtMs + facts.settings.probeIntervalMs
  return Math.max(0, Math.max(fromMs, facts.cooldownUntilMs) - nowMs)
}
