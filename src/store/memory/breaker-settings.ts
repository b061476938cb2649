import { invalidArgument } from '../../errors/index.ts'
import { type BreakerFacts, type BreakerSettings, defaultBreakerSettings } from '../../policy/breaker.ts'

const YEAR_MS = 31_536_000_000

const wholeRanges: Partial<Record<keyof BreakerSettings, [min: number, max: number]>> = {
  windowCalls: [1, 1_000],
  minCalls: [1, 1_000],
  cooldownMs: [0, YEAR_MS],
  closeAfter: [1, 1_000],
  probeIntervalMs: [0, YEAR_MS],
  probeSlots: [1, 1_000],
  probeTimeoutMs: [1, YEAR_MS],
}

/** A smaller window keeps the newest calls. */
export function changeSettings(facts: BreakerFacts, change: Partial<BreakerSettings>): BreakerFacts {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const settings = { ...facts.settings, ...given }
  for (const [name, value] of Object.entries(given)) {
    if (!isFine(name, value)) throw invalidArgument(name, value, 'a setting of a breaker in its range')
  }
  return { ...facts, settings, calls: facts.calls.slice(-settings.windowCalls) }
}

function isFine(name: string, value: unknown): boolean {
  if (!Object.hasOwn(defaultBreakerSettings, name)) return false
  if (name === 'mode') return value === 'hold' || value === 'half-open'
  if (typeof value !== 'number') return false
  if (name === 'failThreshold') return value > 0 && value <= 1
  const [min, max] = wholeRanges[name as keyof BreakerSettings] ?? [1, 0]
  return Number.isInteger(value) && value >= min && value <= max
}
