// A fault at a place that few faults meet by themselves, with the jobs that get there, in some of the plans. From a stream of their
// own: the plans of other seeds stay as they are.
import { createRandom } from '../../../chaos/src/random.ts'
import type { Fault, FaultKind, Plan } from './plan.ts'

const STREAM = 0x165667b1
/** Share of the plans with one. */
const SHARE = 0.12
/** Share of the others with a late heartbeat. */
const LATE_SHARE = 0.08

type Addition = Pick<Plan, 'jobs' | 'faults'>

/** `kinds`: faults that hit one worker. The others meet the jobs of all, at any place. */
export function addRarePlace(plan: Plan, kinds: readonly FaultKind[]): Plan {
  const random = createRandom(plan.seed ^ STREAM)
  if (random() >= SHARE) return random() < LATE_SHARE ? withAddition(plan, drawLateBeat(random, plan)) : plan
  return withAddition(
    plan,
    random() < 0.5 ? drawAborted(random, plan, kinds) : drawUndoneNeighbours(random, plan),
  )
}

function withAddition(plan: Plan, { jobs, faults }: Addition): Plan {
  return { ...plan, jobs: inOrder([...plan.jobs, ...jobs]), faults: inOrder([...plan.faults, ...faults]) }
}

const inOrder = <T extends { atMs: number }>(list: T[]) => list.toSorted((a, b) => a.atMs - b.atMs)

/** A cancelled job, or one of a worker that leaves, whose handler ignores its signal: anything may happen to it then. */
function drawAborted(
  random: () => number,
  { settings, durationMs }: Plan,
  kinds: readonly FaultKind[],
): Addition {
  const leaseMs = settings.policy.defaultLeaseMs
  const atMs = 0.5 * durationMs * random()
  const job = { atMs, type: 'slow' as const, workMs: leaseMs * (1.2 + 1.3 * random()) }
  const fault = { atMs, target: 0, size: random() }
  const abort: Fault = {
    ...fault,
    kind: random() < 0.7 ? 'cancel' : 'deploy',
    durationMs: 0,
    place: 'working',
  }
  const kind = kinds[Math.floor(random() * kinds.length)] ?? 'kill'
  const lastsMs = leaseMs * 2.5 * random() ** 2
  return { jobs: [job], faults: [abort, { ...fault, kind, durationMs: lastsMs, place: 'aborted' }] }
}

/** Jobs that are claimed together: all but one are done when that one is in its transaction, and a failover undoes them. */
function drawUndoneNeighbours(random: () => number, { settings, durationMs }: Plan): Addition {
  const leaseMs = settings.policy.defaultLeaseMs
  const atMs = 0.5 * durationMs * random()
  const beginMs = leaseMs * (0.2 + 0.6 * random())
  const neighbours = Array.from({ length: 1 + Math.floor(3 * random()) }, () => ({
    atMs,
    type: 'slow' as const,
    workMs: beginMs * (0.3 + 0.6 * random()),
  }))
  const fault: Fault = {
    atMs: atMs + 0.9 * beginMs,
    kind: 'failover',
    target: 0,
    durationMs: leaseMs * 0.3 * random(),
    // The replica is from after the claim, and from before the neighbours were done.
    size: ((0.6 + 0.2 * random()) * beginMs) / (2 * leaseMs),
    place: 'tx',
  }
  return { jobs: [...neighbours, { atMs, type: 'tx', workMs: 2 * beginMs }], faults: [fault] }
}

/** Nobody is reached while a lease is handed over to a `tx`: the heartbeat before it is late, and its second try comes after it. */
function drawLateBeat(random: () => number, { settings, durationMs }: Plan): Addition {
  const leaseMs = settings.policy.defaultLeaseMs
  const atMs = 0.5 * durationMs * random()
  const beginMs = leaseMs * (0.4 + 0.6 * random())
  const fault: Fault = {
    // About an interval of heartbeats before, with half of the longest poll for the claim.
    atMs: atMs + beginMs - leaseMs * (0.15 + 0.1 * random()),
    kind: 'workers-cut-off',
    target: 0,
    durationMs: leaseMs * (0.45 + 0.15 * random()),
    size: 0,
    place: null,
  }
  return { jobs: [{ atMs, type: 'tx', workMs: 2 * beginMs }], faults: [fault] }
}
