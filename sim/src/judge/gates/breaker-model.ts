// A breaker as its documentation describes it, apart from the code that is judged.
import type {
  BreakerFacts,
  BreakerSettings,
  DependencyCall,
} from '../../../../src/policy/dependency/breaker.ts'

export type ModelState = 'closed' | 'open' | 'half-open' | 'held'

interface Probe {
  at: number
  hasFailed: boolean
}

const LONGEST_COOLDOWN_MS = 3_600_000
/** Closed for less than so many cooldowns, it was closed too early. */
const SOON = 10

export class BreakerModel {
  readonly settings: BreakerSettings
  #window: boolean[] = []
  #isOpen = false
  #openUntil = 0
  #heldUntil = 0
  #successes = 0
  #reopens = 0
  #closedAt = Number.NEGATIVE_INFINITY
  /** The last health probe that counted as good. */
  #probedAt = Number.NEGATIVE_INFINITY
  /** Jobs that it let through, by id. */
  readonly #probes = new Map<string, Probe>()
  longestCooldownMs: number

  constructor(settings: BreakerSettings) {
    this.settings = settings
    this.longestCooldownMs = settings.cooldownMs
  }

  /** After a failover, which restores an older one. */
  restore(facts: BreakerFacts): void {
    this.#window = [...facts.calls]
    this.#isOpen = facts.isOpen
    this.#openUntil = facts.cooldownUntilMs
    this.#heldUntil = facts.hold?.untilMs ?? 0
    this.#successes = facts.successes
    this.#reopens = facts.reopens ?? 0
    this.#closedAt = facts.closedAtMs ?? Number.NEGATIVE_INFINITY
    this.#probedAt = facts.probedAtMs ?? Number.NEGATIVE_INFINITY
    this.#probes.clear()
    for (const { jobId, grantedAtMs, hasFailed } of facts.probes)
      this.#probes.set(jobId, { at: grantedAtMs, hasFailed: hasFailed === true })
  }

  stateAt(at: number): ModelState {
    if (this.#heldUntil > at) return 'held'
    if (!this.#isOpen) return 'closed'
    return this.settings.mode === 'half-open' && this.#openUntil <= at ? 'half-open' : 'open'
  }

  get heldUntil(): number {
    return this.#heldUntil
  }

  /** A job is claimed. Returns why it may not be. */
  claim(jobId: string, at: number): string | null {
    const state = this.stateAt(at)
    if (state === 'closed') return null
    if (state !== 'half-open') return `while the breaker is ${state}`
    this.#probes.delete(jobId)
    const running = [...this.#probes.values()].filter((probe) => this.#isRunning(probe, at)).length
    this.#probes.set(jobId, { at, hasFailed: false })
    return running < this.settings.probeSlots ? null : `beside ${running} others, half-open`
  }

  #isRunning({ at: grantedAt, hasFailed }: Probe, at: number): boolean {
    return !hasFailed && grantedAt > at - this.settings.probeTimeoutMs
  }

  /** Whether a report names a job that has lost its slot: what it counts for depends on what was tried since. */
  isLate(calls: readonly DependencyCall[], at: number): boolean {
    return calls.some(({ jobId }) => {
      const probe = this.#probes.get(jobId ?? '')
      return probe !== undefined && !probe.hasFailed && !this.#isRunning(probe, at)
    })
  }

  report(calls: readonly DependencyCall[], at: number): void {
    if (!this.#isOpen) this.#count(calls, at)
    else if (this.settings.mode === 'half-open' && this.#openUntil <= at) this.#hear(calls, at)
    const limitedMs = Math.max(0, ...calls.map((call) => call.limitedMs ?? 0))
    if (limitedMs > 0) this.#heldUntil = Math.max(this.#heldUntil, at + limitedMs)
  }

  #count(calls: readonly DependencyCall[], at: number): void {
    const { windowCalls, minCalls, failThreshold } = this.settings
    const results = calls.flatMap(({ isFailure }) => isFailure ?? [])
    this.#window = [...this.#window, ...results].slice(-windowCalls)
    const failures = this.#window.filter((isFailure) => isFailure).length
    const isEnough = this.#window.length >= Math.min(minCalls, windowCalls)
    if (isEnough && failures >= failThreshold * this.#window.length) this.#open(at)
  }

  /** Half-open: of the jobs that were let through. */
  #hear(calls: readonly DependencyCall[], at: number): void {
    const heard = calls.filter(({ jobId }) => this.#probes.get(jobId ?? '')?.hasFailed === false)
    if (heard.some(({ isFailure }) => isFailure === true)) return this.#open(at)
    for (const jobId of new Set(heard.map((call) => call.jobId ?? ''))) {
      this.#probes.delete(jobId)
      const isGood = heard
        .filter((call) => call.jobId === jobId)
        .every(({ isFailure, limitedMs = 0 }) => isFailure === false && limitedMs === 0)
      if (isGood) this.#successes++
    }
    this.#closeIfDone(at)
  }

  /** A health probe, outside any job. */
  probe(isHealthy: boolean, at: number): void {
    const { mode, probeIntervalMs, closeAfter } = this.settings
    const isEarly = at < this.#openUntil
    const counts = mode === 'hold' ? !isEarly : isEarly && this.#reopens === 0
    if (!this.#isOpen || !counts) return
    if (!isHealthy && !isEarly) return this.#open(at)
    if (!isHealthy) {
      this.#successes = 0
      this.#probedAt = at
      return
    }
    if (at < this.#probedAt + probeIntervalMs) return
    this.#probedAt = at
    this.#successes++
    if (mode === 'hold') return this.#closeIfDone(at)
    if (this.#successes < closeAfter) return
    this.#openUntil = at
    this.#successes = 0
    this.#probedAt = Number.NEGATIVE_INFINITY
  }

  #open(at: number): void {
    const { mode, cooldownMs } = this.settings
    if (this.#isOpen) this.#reopens += mode === 'half-open' ? 1 : 0
    else this.#reopens = mode === 'hold' && this.#closedAt > at - SOON * cooldownMs ? this.#reopens + 1 : 0
    const longestMs = Math.max(cooldownMs, LONGEST_COOLDOWN_MS)
    const lastsMs = mode === 'hold' ? Math.min(cooldownMs * 2 ** this.#reopens, longestMs) : cooldownMs
    this.longestCooldownMs = Math.max(this.longestCooldownMs, lastsMs)
    this.#isOpen = true
    this.#openUntil = at + lastsMs
    this.#successes = 0
    this.#probedAt = Number.NEGATIVE_INFINITY
    for (const probe of this.#probes.values()) probe.hasFailed = true
  }

  #closeIfDone(at: number): void {
    if (this.#successes < this.settings.closeAfter) return
    this.#isOpen = false
    this.#window = []
    this.#successes = 0
    this.#probedAt = Number.NEGATIVE_INFINITY
    this.#probes.clear()
    this.#closedAt = at
    if (this.settings.mode === 'half-open') this.#reopens = 0
  }
}
