// When a breaker opens and closes (BREAK-1, BREAK-3). The database decides the same in
// sql/functions/queues/breakers.

/** `hold` closes by health probes; `half-open` lets some jobs through after the cooldown, and closes by their calls. */
export type BreakerMode = 'hold' | 'half-open'

/** `held` is set by an operator, over open or closed. */
export type BreakerState = 'closed' | 'open' | 'half-open' | 'held'

export interface BreakerSettings {
  mode: BreakerMode
  /** Number of last calls in the window. */
  windowCalls: number
  /** Maximum age of calls in the window; null for any age. */
  windowMs: number | null
  /** With fewer calls it does not open; at most `windowCalls` count. */
  minCalls: number
  /** Share of failed calls in the window at which it opens, above 0 and up to 1. */
  failThreshold: number
  /** Pause after it opened and after a failed probe. */
  cooldownMs: number
  /** Successes in a row that close it: health probes in mode hold, calls of jobs in mode half-open. */
  closeAfter: number
  /** Successful health probes count once per interval. */
  probeIntervalMs: number
  /** How many jobs a half-open breaker lets through at a time. */
  probeSlots: number
  /** A job that was let through and reports no call loses its slot after this time. */
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

/** The result of one call of the dependency. */
export interface DependencyCall {
  /**
   * A server error, a timeout or a failed connection; a mistake of the caller is no failure. Absent, with a `jobId`: the job
   * ended without a call and returns the slot that a half-open breaker granted it.
   */
  isFailure?: boolean
  /** The job that made the call: a half-open breaker counts only the jobs it let through. */
  jobId?: string
  /** Pause that the service asked for (RATE-6): no job of any worker starts before. It is no sign of health. */
  limitedMs?: number
}

export interface BreakerProbe {
  jobId: string
  grantedAtMs: number
  /** It met the failure that keeps the breaker open, and loses no attempt by that. */
  hasFailed?: boolean
}

export interface BreakerFacts {
  settings: BreakerSettings
  /** The last calls, oldest first; true is a failure. */
  calls: readonly boolean[]
  /** When each of them was reported; empty without `windowMs`. */
  calledAtMs: readonly number[]
  isOpen: boolean
  /** Successful probes in a row since it opened. */
  successes: number
  cooldownUntilMs: number
  /** The last successful health probe. */
  probedAtMs: number | null
  /** How often in a row it was tried too early: closed by a probe and soon opened again, or a job let through failed. */
  reopens?: number
  /** Jobs let through in a row that ended without reporting a call. */
  unheard?: number
  /** When it last closed automatically. */
  closedAtMs?: number | null
  /** Jobs that were let through and have not reported a success, oldest first. */
  probes: readonly BreakerProbe[]
  /** Null if not held; `untilMs` is null for an unlimited hold. */
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
/** A breaker that opens again within this many cooldowns was closed too early. */
const SOON = 10
const DAY_MS = 86_400_000

export function breakerState(facts: BreakerFacts, nowMs: number): BreakerState {
  const { hold, isOpen, settings, cooldownUntilMs } = facts
  if (hold !== null && (hold.untilMs === null || hold.untilMs > nowMs)) return 'held'
  if (!isOpen) return 'closed'
  return settings.mode === 'half-open' && cooldownUntilMs <= nowMs ? 'half-open' : 'open'
}

/** The window is evaluated once per report, including the reported calls. */
export function afterCalls(
  facts: BreakerFacts,
  calls: readonly DependencyCall[],
  nowMs: number,
): BreakerFacts {
  const limitedMs = Math.max(0, ...calls.map((call) => call.limitedMs ?? 0))
  const judged = judgeCalls(facts, calls, nowMs)
  return limitedMs > 0 ? limited(judged, nowMs + limitedMs, nowMs) : judged
}

/** A hold that expires. A hold in force is only ever extended. */
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

/** Drops calls that left the window, by number and by age. */
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
  if (good.length > 0) return countSuccesses({ ...facts, probes, unheard: 0 }, good.length, nowMs)
  const silent = answers.filter((made) => made.every(({ isFailure }) => isFailure === undefined))
  return { ...facts, probes, unheard: (facts.unheard ?? 0) + silent.length }
}

/**
 * A health probe outside any job. In mode hold it changes nothing during the cooldown. In mode half-open it only ends the
 * first cooldown early: later ones follow a failed call, which says more than a probe.
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

/** Opens it, or restarts the cooldown. Jobs that were let through have met the same failure. */
function opened(facts: BreakerFacts, nowMs: number): BreakerFacts {
  const reopens = reopensOf(facts, nowMs)
  return {
    ...facts,
    isOpen: true,
    successes: 0,
    unheard: 0,
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

/** In mode hold a probe may succeed while calls fail: each such error doubles the cooldown. */
function cooldownMs({ settings, reopens = 0 }: BreakerFacts): number {
  if (settings.mode === 'half-open') return settings.cooldownMs
  return Math.min(settings.cooldownMs * 2 ** reopens, Math.max(settings.cooldownMs, LONGEST_COOLDOWN_MS))
}

/** Closes it with an empty window. */
export function closed(facts: BreakerFacts): BreakerFacts {
  return { ...closedBreaker, settings: facts.settings, hold: facts.hold }
}

function countSuccesses(facts: BreakerFacts, count: number, nowMs: number): BreakerFacts {
  const successes = facts.successes + count
  if (successes < facts.settings.closeAfter) return { ...facts, successes }
  const reopens = facts.settings.mode === 'hold' ? (facts.reopens ?? 0) : 0
  return { ...closed(facts), reopens, closedAtMs: nowMs }
}

/** Lets the first of these jobs through, up to the free slots. A job that waits again no longer holds one. */
export function takeProbeSlots(facts: BreakerFacts, jobIds: readonly string[], nowMs: number): BreakerFacts {
  const kept = facts.probes.filter(
    ({ jobId, grantedAtMs }) => grantedAtMs > nowMs - DAY_MS && !jobIds.includes(jobId),
  )
  const running = runningProbes({ ...facts, probes: kept }, nowMs)
  const granted = jobIds.slice(0, Math.max(0, facts.settings.probeSlots - running.length))
  return { ...facts, probes: [...kept, ...granted.map((jobId) => ({ jobId, grantedAtMs: nowMs }))] }
}

/** Jobs that hold a slot. One that never reports loses it; its failure still counts. */
export function runningProbes({ settings, probes }: BreakerFacts, nowMs: number): readonly BreakerProbe[] {
  return probes.filter(
    ({ grantedAtMs, hasFailed }) => hasFailed !== true && grantedAtMs > nowMs - settings.probeTimeoutMs,
  )
}

/**
 * Jobs in a row that were let through and reported no call: they ended, or gave up their slot because they took too long. Once one was
 * heard, the others are only slow.
 */
export function unheardJobs(facts: BreakerFacts, nowMs: number): number {
  const { probes, successes, unheard = 0 } = facts
  if (successes > 0) return unheard
  const running = runningProbes(facts, nowMs)
  return unheard + probes.filter((probe) => probe.hasFailed !== true && !running.includes(probe)).length
}

/** As many jobs as would have closed it reported no call: nothing will ever close it. */
export function isUnheard(breaker: { state: BreakerState; unheard: number; closeAfter: number }): boolean {
  return breaker.state === 'half-open' && breaker.unheard >= breaker.closeAfter
}

/** Time until a health probe may end the cooldown early; null if none may. */
export function earlyProbeInMs(facts: BreakerFacts, nowMs: number): number | null {
  const { isOpen, settings, reopens = 0, cooldownUntilMs, probedAtMs } = facts
  if (!isOpen || settings.mode === 'hold' || reopens > 0 || cooldownUntilMs <= nowMs) return null
  return probedAtMs === null ? 0 : Math.max(0, probedAtMs + settings.probeIntervalMs - nowMs)
}

/** Time until a health probe counts; null if the breaker is closed. */
export function nextProbeInMs(facts: BreakerFacts, nowMs: number): number | null {
  if (!facts.isOpen) return null
  const fromMs = facts.probedAtMs === null ? 0 : facts.probedAtMs + facts.settings.probeIntervalMs
  return Math.max(0, Math.max(fromMs, facts.cooldownUntilMs) - nowMs)
}
