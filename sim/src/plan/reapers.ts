// Several reapers in some of the plans, and faults that hit one of them. From a stream of their own: the plans of other seeds stay
// as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import { attemptPlaces } from '../world/places.ts'
import type { Fault, Plan } from './plan.ts'

const STREAM = 0x6c62272e
/** Share of the plans with two or three. */
const SEVERAL = 0.3
/** Share of the plans with a reaper and with faults in which some hit a reaper. */
const TROUBLED = 0.5
/** Long enough for a job to be overdue if nobody takes over. */
const LONGEST_LEASES = 8

export const reaperFaults = ['reaper-kill', 'reaper-pause', 'reaper-cut-off'] as const

export function addReapers(plan: Plan): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  const isSeveral = random() < SEVERAL
  const reapers = isSeveral ? 2 + Math.floor(2 * random()) : plan.settings.reapers
  const hasTrouble = reapers > 0 && plan.settings.flavour === 'faults' && random() < TROUBLED
  if (!isSeveral && !hasTrouble) return plan
  const faults = hasTrouble ? drawTroubles(random, plan) : []
  return {
    ...plan,
    settings: { ...plan.settings, reapers },
    faults: [...plan.faults, ...faults].toSorted((a, b) => a.atMs - b.atMs),
  }
}

function drawTroubles(random: () => number, { settings, durationMs }: Plan): Fault[] {
  return Array.from({ length: 1 + Math.floor(4 * random()) }, () => ({
    atMs: random() * durationMs,
    kind: reaperFaults[Math.floor(random() * reaperFaults.length)] ?? 'reaper-kill',
    target: Math.floor(random() * 1_000),
    durationMs: settings.policy.defaultLeaseMs * LONGEST_LEASES * random() ** 2,
    size: random(),
    place: random() < 0.3 ? (attemptPlaces[Math.floor(random() * attemptPlaces.length)] ?? null) : null,
  }))
}
