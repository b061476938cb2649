// A step of the server's clock in some of the plans. From a stream of their own: the plans of other seeds stay as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import { attemptPlaces } from '../world/places.ts'
import type { Fault, Plan } from './plan.ts'

const STREAM = 0x7f4a7c15
/** Share of the plans with faults in which it steps. */
const SHARE = 0.2
const MOST_LEASES = 4

export function addServerSteps(plan: Plan): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  if (plan.settings.flavour !== 'faults' || random() >= SHARE) return plan
  // Tokens, breakers and schedules count by the server's clock, and so do the judge's own counts of them.
  if (plan.rates !== undefined || plan.breaker !== undefined || plan.schedules !== undefined) return plan
  const faults = [...plan.faults, drawStep(random, plan)]
  return { ...plan, faults: faults.toSorted((a, b) => a.atMs - b.atMs) }
}

/** In either direction, and small more often than large. */
export function serverStepMs({ size }: Fault, leaseMs: number): number {
  const share = 2 * size - 1
  return Math.round(MOST_LEASES * leaseMs * share * Math.abs(share))
}

/** One: of two between two sweeps, a reaper that met only the second takes it for one that another has judged. */
function drawStep(random: () => number, { durationMs }: Plan): Fault {
  return {
    atMs: random() * durationMs,
    kind: 'server-clock-step',
    target: 0,
    durationMs: 0,
    size: random(),
    place: random() < 0.5 ? (attemptPlaces[Math.floor(random() * attemptPlaces.length)] ?? null) : null,
  }
}
