// Limits of queues and groups in some of the plans. A type is its own queue. From a stream of their own: the plans of other seeds
// stay as they are.
import type { QueueLimit } from '../../../chaos/src/judge/history.ts'
import { createRandom } from '../../../chaos/src/random.ts'
import type { PlannedJob } from './plan.ts'
import type { Flavour } from './settings.ts'

const STREAM = 0x27d4eb2f
/** Share of the plans with limits. */
const LIMITED = 0.25
const GROUPS = ['a', 'b', 'c']
const limitedTypes = ['quick', 'slow', 'flaky', 'tx'] as const
const kinds: QueueLimit[] = [
  { groupConcurrency: 1, groupOrder: 'fifo' },
  { groupConcurrency: 1 },
  { groupConcurrency: 2 },
  { concurrency: 3 },
  { concurrency: 2, groupConcurrency: 1 },
]

/** The limits of a plan by queue, and its jobs, of which some have groups. */
export function drawLimits(seed: number, flavour: Flavour, jobs: PlannedJob[]) {
  const random = createRandom(seed ^ STREAM)
  // A job that kills its process is judged by its neighbours, which must not depend on who waits for whom.
  if (flavour === 'poison' || random() >= LIMITED) return { limits: {}, jobs }
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const limits: Record<string, QueueLimit> = {}
  for (const type of limitedTypes) if (random() < 0.6) limits[type] = pick(kinds)
  const grouped = jobs.map((job) => (random() < 0.8 ? { group: pick(GROUPS), ...job } : job))
  return { limits, jobs: grouped }
}
