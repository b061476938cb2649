// Troubles between a claim and the start of its jobs, in some of the plans. From a stream of their own: the plans of other
// seeds stay as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import type { Fault, Plan, PlannedJob } from './plan.ts'

const STREAM = 0x9e3779b9
/** Share of the plans with faults. */
const SHARE = 0.08
/** A worker that has seen so many short jobs claims ahead. */
const SHORT_JOBS = 60

export function addClaimTroubles(plan: Plan): Plan {
  if (plan.settings.flavour !== 'faults') return plan
  const random = createRandom(plan.seed ^ STREAM)
  if (random() >= SHARE) return plan
  return random() < 0.5 ? withBurst(random, plan) : withLateRead(random, plan)
}

/** Many short jobs, then long ones: those that were claimed ahead get no slot. In half of the plans a worker leaves then. */
function withBurst(random: () => number, plan: Plan): Plan {
  const { defaultLeaseMs: leaseMs } = plan.settings.policy
  // The faults before it are over, and so is what they left behind.
  const atMs = plan.durationMs + 4 * leaseMs
  const short = Array.from({ length: SHORT_JOBS }, (): PlannedJob => {
    return { atMs, type: 'quick', workMs: 5 * random() }
  })
  const count = plan.settings.workers * plan.settings.concurrency * 3
  const long = Array.from({ length: count }, (): PlannedJob => {
    return { atMs: atMs + 5, type: 'slow', workMs: leaseMs * (2 + 0.5 * random()) }
  })
  const deploy: Fault = {
    atMs: atMs + leaseMs * random(),
    kind: 'deploy',
    target: Math.floor(random() * 1_000),
    durationMs: 0,
    size: 0,
    place: null,
  }
  return {
    ...plan,
    durationMs: atMs + leaseMs,
    jobs: [...plan.jobs, ...short, ...long],
    faults: random() < 0.5 ? [...plan.faults, deploy] : plan.faults,
  }
}

/** An event loop is blocked when the answer to a claim arrives, for nearly a lease. */
function withLateRead(random: () => number, plan: Plan): Plan {
  const { defaultLeaseMs: leaseMs } = plan.settings.policy
  const atMs = 0.5 * plan.durationMs * random()
  const jobs = Array.from({ length: 3 }, (): PlannedJob => {
    return { atMs, type: 'slow', workMs: leaseMs * (1 + random()) }
  })
  const block: Fault = {
    atMs,
    kind: 'block',
    target: 0,
    durationMs: leaseMs * (0.8 + 0.19 * random()),
    size: 0,
    place: 'claimed',
  }
  return { ...plan, jobs: inOrder([...plan.jobs, ...jobs]), faults: inOrder([...plan.faults, block]) }
}

const inOrder = <T extends { atMs: number }>(list: T[]) => list.toSorted((a, b) => a.atMs - b.atMs)
