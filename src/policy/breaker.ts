// When a breaker opens and closes (BREAK-1, BREAK-3). The database decides the same in
// sql/functions/queues/breakers.

/** `hold` is closed by health probes; `half-open` lets some real jobs through after the cooldown, and only their calls close it. */
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
  /** This many good probes in a row close it: health probes in mode hold, calls of jobs in mode half-open. */
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
  /**
   * A server error, a timeout, no connection. What the caller did wrong is no failure of the dependency. Absent, with a `jobId`:
   * the job ended without a call, and gives back the slot that a half-open breaker gave it.
   */
  isFailure?: boolean
  /** The job that made it: a half-open breaker then hears its own probes only. */
  jobId?: string
  /** The service asked for no call for so long (RATE-6): no job of any worker starts before, and it is no sign of health. */
  limitedMs?: number
}

export interface BreakerProbe {
  jobId: string
  grantedAtMs: number
  /** It met the failure that the breaker stays open for, and loses no attempt by that. */
  hasFailed?: boolean
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
  /** How often in a row it was tried too early: closed by a probe and opened soon again, or a job let through that failed. */
  reopens?: number
  /** When it last closed by itself. */
  closedAtMs?: number | null
  /** Jobs that were let through and have not reported a good call, oldest first. */
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
  reopens: 0,
  closedAtMs: null,
  probes: [],
  hold: null,
}

const LONGEST_COOLDOWN_MS = 3_600_000
/** A breaker that was closed for fewer cooldowns than this opened again soon. */
const SOON = 10
const DAY_MS = 86_400_000

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
  const reported = calls.flatMap(({ isFailure }) => isFailure ?? [])
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
  const unheard = facts.probes.filter(({ hasFailed }) => hasFailed !== true)
  const named = unheard.filter((probe) => callsOf(probe).length > 0)
  const others = runningProbes(facts, nowMs).filter((probe) => !named.includes(probe))
  const nameless = calls.filter(({ jobId }) => jobId === undefined)
  const heard = [...named, ...others.slice(0, nameless.length)]
  const answers = [...named.map(callsOf), ...nameless.slice(0, others.length).map((call) => [call])]
  if (answers.some((made) => made.some(({ isFailure }) => isFailure === true))) return opened(facts, nowMs)
  const good = answers.filter((made) =>
    made.every(({ isFailure, limitedMs = 0 }) => isFailure !== undefined && limitedMs === 0),
  )
  const probes = facts.probes.filter((probe) => !heard.includes(probe))
  return countSuccesses({ ...facts, probes }, good.length, nowMs)
}

/**
 * A health probe outside any job. In mode hold it changes nothing during the cooldown. In mode half-open it does nothing else than
 * end the first cooldown early: after that a call has failed, and says more than a probe.
 */
export function afterProbe(facts: BreakerFacts, isHealthy: boolean, nowMs: number): BreakerFacts {
  const { settings, successes, probedAtMs } = facts
  const isEarly = nowMs < facts.cooldownUntilMs
  const counts = settings.mode === 'hold' ? !isEarly : isEarly && (facts.reopens ?? 0) === 0
  if (!facts.isOpen || !counts) return facts
  if (!isHealthy) return isEarly ? { ...facts, successes: 0, probedAtMs: nowMs } : opened(facts, nowMs)
  if (probedAtMs !== null && nowMs < probedAtMs + settings.probeIntervalMs) return facts
  if (isEarly && successes + 1 >= settings.closeAfter)
    return { ...facts, cooldownUntilMs: nowMs, successes: 0, probedAtMs: null }
  return countSuccesses({ ...facts, probedAtMs: nowMs }, 1, nowMs)
}

/** Opens it, or lets the cooldown begin anew. Whoever was let through has met the same failure. */
function opened(facts: BreakerFacts, nowMs: number): BreakerFacts {
  const reopens = reopensOf(facts, nowMs)
  return {
    ...facts,
    isOpen: true,
    successes: 0,
    probedAtMs: null,
    reopens,
    probes: facts.probes.map((probe) => ({ ...probe, hasFailed: true })),
    cooldownUntilMs: nowMs + cooldownMs({ ...facts, reopens }),
  }
}

function reopensOf(
  { settings, isOpen, reopens = 0, closedAtMs = null }: BreakerFacts,
  nowMs: number,
): number {
  if (isOpen) return reopens + (settings.mode === 'half-open' ? 1 : 0)
  const isSoon = closedAtMs !== null && closedAtMs > nowMs - SOON * settings.cooldownMs
  return settings.mode === 'hold' && isSoon ? reopens + 1 : 0
}

/** In mode hold a probe may be wrong about the calls: each time that it was doubles the cooldown. */
function cooldownMs({ settings, reopens = 0 }: BreakerFacts): number {
  if (settings.mode === 'half-open') return settings.cooldownMs
  return Math.min(settings.cooldownMs * 2 ** reopens, Math.max(settings.cooldownMs, LONGEST_COOLDOWN_MS))
}

/** It starts with an empty window: what opened it is history. */
export function closed(facts: BreakerFacts): BreakerFacts {
  return { ...closedBreaker, settings: facts.settings, hold: facts.hold }
}

function countSuccesses(facts: BreakerFacts, count: number, nowMs: number): BreakerFacts {
  const successes = facts.successes + count
  if (successes < facts.settings.closeAfter) return { ...facts, successes }
  const reopens = facts.settings.mode === 'hold' ? (facts.reopens ?? 0) : 0
  return { ...closed(facts), reopens, closedAtMs: nowMs }
}

/** Lets the first of these jobs through, as many as there are slots. A job that waits again is no probe any more. */
export function takeProbeSlots(facts: BreakerFacts, jobIds: readonly string[], nowMs: number): BreakerFacts {
  const kept = facts.probes.filter(
    ({ jobId, grantedAtMs }) => grantedAtMs > nowMs - DAY_MS && !jobIds.includes(jobId),
  )
  const running = runningProbes({ ...facts, probes: kept }, nowMs)
  const granted = jobIds.slice(0, Math.max(0, facts.settings.probeSlots - running.length))
  return { ...facts, probes: [...kept, ...granted.map((jobId) => ({ jobId, grantedAtMs: nowMs }))] }
}

/** Those that hold a slot. One that never reports must not hold it for ever; its failure is heard all the same. */
export function runningProbes({ settings, probes }: BreakerFacts, nowMs: number): readonly BreakerProbe[] {
  return probes.filter(
    ({ grantedAtMs, hasFailed }) => hasFailed !== true && grantedAtMs > nowMs - settings.probeTimeoutMs,
  )
}

/** Until a health probe may start half-open before the cooldown is over; null where none may. */
export function earlyProbeInMs(facts: BreakerFacts, nowMs: number): number | null {
  const { isOpen, settings, reopens = 0, cooldownUntilMs, probedAtMs } = facts
  if (!isOpen || settings.mode === 'hold' || reopens > 0 || cooldownUntilMs <= nowMs) return null
  return probedAtMs === null ? 0 : Math.max(0, probedAtMs + settings.probeIntervalMs - nowMs)
}

/** Until a health probe counts; null where the breaker is closed. */
export function nextProbeInMs(facts: BreakerFacts, nowMs: number): number | null {
  if (!facts.isOpen) return null
  const fromMs = facts.probedAtMs === null ? 0 : facts.probedAtMs + facts.settings.probeIntervalMs
  return Math.max(0, Math.max(fromMs, facts.cooldownUntilMs) - nowMs)
}
