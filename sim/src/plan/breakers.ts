// A service that jobs call, with a breaker, in some of the short plans, and times in which it fails. From a stream of their own: the
// plans of other seeds stay as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import { type BreakerSettings, defaultBreakerSettings } from '../../../src/policy/dependency/breaker.ts'
import { attemptPlaces } from '../world/places.ts'
import type { Fault, Plan, PlannedJob } from './plan.ts'

const STREAM = 0xc2b2ae35
/** Share of the plans with a service. */
const SHARE = 0.1

/** Types whose jobs call the service: through `gateway`, and with a client of their own. */
export const callTypes = ['call', 'client'] as const
export type CallType = (typeof callTypes)[number]
export const isCallType = (type: string): type is CallType => (callTypes as readonly string[]).includes(type)

export interface PlannedBreaker {
  settings: BreakerSettings
  /** The health probe of the service. `wrong`: healthy while calls fail. */
  probe: 'none' | 'right' | 'wrong'
}

export function addBreaker(plan: Plan): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  // A job that kills its process is judged by its neighbours, which must not depend on a service.
  if (plan.settings.flavour === 'poison' || random() >= SHARE) return plan
  const jobs = [...plan.jobs, ...drawCalls(random, plan)]
  const faults = [...plan.faults, ...drawFailures(random, plan)]
  const byTime = <T extends { atMs: number }>(list: T[]) => list.toSorted((a, b) => a.atMs - b.atMs)
  return { ...plan, jobs: byTime(jobs), faults: byTime(faults), breaker: drawBreaker(random, plan) }
}

function drawBreaker(random: () => number, { settings }: Plan): PlannedBreaker {
  const leaseMs = settings.policy.defaultLeaseMs
  const mode = random() < 0.65 ? 'half-open' : 'hold'
  const cooldownMs = Math.round(leaseMs * (0.1 + 0.9 * random()))
  const probes = random()
  return {
    settings: {
      ...defaultBreakerSettings,
      mode,
      windowCalls: 4 + Math.floor(8 * random()),
      minCalls: 2 + Math.floor(4 * random()),
      failThreshold: 0.4 + 0.4 * random(),
      cooldownMs,
      closeAfter: 1 + Math.floor(3 * random()),
      probeIntervalMs: Math.round(cooldownMs / 5),
      probeSlots: 1 + Math.floor(2 * random()),
      probeTimeoutMs: Math.round(leaseMs * (0.5 + 2 * random())),
    },
    probe: probes < 0.2 ? 'wrong' : probes < 0.6 || mode === 'hold' ? 'right' : 'none',
  }
}

function drawCalls(random: () => number, { settings, durationMs }: Plan): PlannedJob[] {
  const leaseMs = settings.policy.defaultLeaseMs
  return Array.from({ length: 15 + Math.floor(25 * random()) }, () => ({
    atMs: 0.9 * durationMs * random(),
    type: random() < 0.6 ? 'call' : 'client',
    workMs: leaseMs * (random() < 0.1 ? 0.5 : 0.05) * random(),
  }))
}

function drawFailures(random: () => number, { settings, durationMs }: Plan): Fault[] {
  const leaseMs = settings.policy.defaultLeaseMs
  return Array.from({ length: 1 + Math.floor(3 * random()) }, () => ({
    atMs: 0.7 * durationMs * random(),
    kind: 'dependency-down',
    target: 0,
    durationMs: leaseMs * (0.3 + 2 * random()),
    size: random(),
    place: random() < 0.3 ? (attemptPlaces[Math.floor(random() * attemptPlaces.length)] ?? null) : null,
  }))
}
