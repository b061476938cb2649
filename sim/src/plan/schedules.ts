// Recurring jobs in some of the short plans, which every worker looks after. From a stream of their own: the plans of other seeds stay
// as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import type { Overlap } from '../../../src/store/job-store.ts'
import type { Plan } from './plan.ts'

const STREAM = 0x2545f491
/** Share of the plans with schedules. */
const SHARE = 0.1
/** Intervals that divide a minute, in seconds. */
const INTERVALS_S = [2, 3, 5, 10, 15, 30]
/** Occurrences in a plan, at most. */
const MOST = 12

export interface PlannedSchedule {
  name: string
  everyMs: number
  overlap: Overlap
  workMs: number
}

export function addSchedules(plan: Plan): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  if (plan.settings.flavour === 'poison' || random() >= SHARE) return plan
  const least = INTERVALS_S.find((seconds) => 1_000 * seconds * MOST >= plan.durationMs) ?? 30
  const schedules = Array.from({ length: 1 + Math.floor(2 * random()) }, (_, nth): PlannedSchedule => {
    const isRare = random() < 0.3
    const next = INTERVALS_S[INTERVALS_S.indexOf(least) + 1] ?? least
    return {
      name: `schedule ${nth + 1}`,
      everyMs: 1_000 * (isRare ? next : least),
      overlap: random() < 0.5 ? 'skip' : 'allow',
      // Some take longer than the time to the next one.
      workMs: 1_000 * least * (random() < 0.3 ? 2 * random() : 0.1 * random()),
    }
  })
  return { ...plan, schedules }
}
