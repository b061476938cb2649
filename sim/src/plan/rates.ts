// Rate limits of handlers in some of the short plans. From a stream of their own: the plans of other seeds stay as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import type { HandlerLimit } from '../../../src/runtime/limits/token-limiter.ts'
import type { JobType, Plan } from './plan.ts'

const STREAM = 0x9e3779b1
/** Share of the plans with rate limits. */
const SHARE = 0.1
const OWNERS = ['o1', 'o2', 'o3']
const limitedTypes = ['quick', 'slow', 'flaky', 'tx'] as const

/** By type. */
export type Rates = Partial<Record<JobType, HandlerLimit[]>>

type Limited = (typeof limitedTypes)[number]

export function addRates(plan: Plan): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  // A job that kills its process is judged by its neighbours, which must not depend on tokens.
  if (plan.settings.flavour === 'poison' || random() >= SHARE) return plan
  const rates = drawRates(random, plan)
  const isOwned = Object.values(rates).some((limits) => limits.some(({ perOwner }) => perOwner === true))
  const own = () => OWNERS[Math.floor(OWNERS.length * random())] ?? ''
  const jobs = isOwned ? plan.jobs.map((job) => ({ ...job, owner: own() })) : plan.jobs
  return { ...plan, jobs, rates }
}

/** A bucket for all limited types, one for each type, one for each owner, or several of these together. */
function drawRates(random: () => number, { jobs, durationMs }: Plan): Rates {
  const scopes = random()
  const scopeOf = (): 'shared' | 'process' =>
    scopes < 0.7 ? 'shared' : scopes < 0.85 || random() < 0.5 ? 'process' : 'shared'
  const types = limitedTypes.filter(() => random() < 0.6)
  /** Enough for the jobs that a plan has, soon or after its end. */
  const rateOf = (some: readonly Limited[]) => {
    const count = jobs.filter(({ type }) => some.includes(type as Limited)).length
    return Math.max(0.2, (1_000 * count * (0.7 + 1.5 * random())) / durationMs)
  }
  const limitOf = (key: string, some: readonly Limited[]): HandlerLimit => ({
    key,
    ratePerS: rateOf(some),
    burst: 1 + Math.floor(4 * random()),
    scope: scopeOf(),
  })
  const together = random() < 0.5 ? [limitOf('all', types)] : []
  const perOwner = random() < 0.4 ? [{ ...limitOf('owner', types), perOwner: true }] : []
  const rates: Rates = {}
  for (const type of types) {
    const own = random() < 0.6 ? [limitOf(type, [type])] : []
    const limits = [...own, ...together, ...perOwner]
    if (limits.length > 0) rates[type] = limits
  }
  return rates
}
