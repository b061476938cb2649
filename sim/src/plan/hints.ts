// Hints of new jobs in half of the short plans, and notifications that are lost, late or repeated in half of these. From a stream of
// their own: the plans of other seeds stay as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import { attemptPlaces } from '../world/places.ts'
import type { Fault, Plan } from './plan.ts'
import type { Settings } from './settings.ts'

const STREAM = 0x85ebca6b
/** Share of the plans with hints, and of these with faults. */
const SHARE = 0.5
/** Polls are rarer by this while hints arrive, as in production. */
const RARER = 5

export function addHints(plan: Plan): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  if (random() >= SHARE) return plan
  const [least, most] = plan.settings.pollMs
  const settings: Settings = { ...plan.settings, hintedPollMs: [RARER * least, RARER * most] }
  const hasTrouble = plan.settings.flavour === 'faults' && random() < SHARE
  const faults = hasTrouble ? drawTroubles(random, plan) : []
  return { ...plan, settings, faults: [...plan.faults, ...faults].toSorted((a, b) => a.atMs - b.atMs) }
}

function drawTroubles(random: () => number, { settings, durationMs }: Plan): Fault[] {
  const leaseMs = settings.policy.defaultLeaseMs
  return Array.from({ length: 1 + Math.floor(3 * random()) }, () => ({
    atMs: random() * durationMs,
    kind: 'hints-lost',
    target: 0,
    durationMs: leaseMs * 4 * random(),
    size: random(),
    place: random() < 0.3 ? (attemptPlaces[Math.floor(random() * attemptPlaces.length)] ?? null) : null,
  }))
}
