import { invalidArgument } from '../../../errors/index.ts'
import {
  type BreakerFacts,
  type BreakerSettings,
  defaultBreakerSettings,
  forgetCalls,
} from '../../../policy/dependency/breaker.ts'

const YEAR_MS = 31_536_000_000

const wholeRanges: Partial<Record<keyof BreakerSettings, [min: number, max: number]>> = {
  windowCalls: [1, 1_000],
  windowMs: [1, YEAR_MS],
  minCalls: [1, 1_000],
  cooldownMs: [0, YEAR_MS],
  closeAfter: [1, 1_000],
  probeIntervalMs: [0, YEAR_MS],
  probeSlots: [1, 1_000],
  probeTimeoutMs: [1, YEAR_MS],
}

/** Calls that left the window stay forgotten; calls without a recorded age count as new. */
export function changeSettings(
  before: BreakerFacts,
  change: Partial<BreakerSettings>,
  nowMs: number,
): BreakerFacts {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const facts = forgetCalls(before, nowMs)
  const settings = { ...facts.settings, ...given }
  for (const [name, value] of Object.entries(given)) {
    if (!isFine(name, value)) throw invalidArgument(name, value, 'a setting of a breaker in its range')
  }
  return forgetCalls({ ...facts, settings, calledAtMs: timesOf(facts, settings, nowMs) }, nowMs)
}

function timesOf(facts: BreakerFacts, { windowMs }: BreakerSettings, nowMs: number): readonly number[] {
  if (windowMs === null) return []
  return facts.calledAtMs.length < facts.calls.length ? facts.calls.map(() => nowMs) : facts.calledAtMs
}

function isFine(name: string, value: unknown): boolean {
  if (!Object.hasOwn(defaultBreakerSettings, name)) return false
  if (name === 'mode') return value === 'hold' || value === 'half-open'
  if (name === 'windowMs' && value === null) return true
  if (typeof value !== 'number') return false
  if (name === 'failThreshold') return value > 0 && value <= 1
  const [min, max] = wholeRanges[name as keyof BreakerSettings] ?? [1, 0]
  return Number.isInteger(value) && value >= min && value <= max
}
