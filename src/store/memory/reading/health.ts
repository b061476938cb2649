import type { Health, HealthValue, HoldReason, QueueList, QueueStatus } from '../../job-store.ts'
import { COUNT_LIMIT, type CountOption, type PolicyOption } from '../../ports/call-options.ts'
import { listQueues } from '../dependencies/queues.ts'
import { asOne } from '../reaping/outages.ts'
import { isOverdue, isUnjudged, type Moment, overdueFromMs } from '../reaping/reap-plan.ts'
import { dueMs, jobsInIdOrder, type MemoryState } from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'

export function readHealth(state: MemoryState, options: PolicyOption & CountOption = {}): Health {
  const { countLimit = COUNT_LIMIT } = options
  const dueAges = [...state.jobs.values()]
    .filter(({ status }) => status === 'waiting')
    .map((job) => state.nowMs() - dueMs(job))
    .filter((ageMs) => ageMs >= 0)
  const waiting = { ...listQueues(state, { countLimit }), oldestDueMs: largest(dueAges) }
  return composeHealth(state, waiting, options)
}

export interface WaitingHealth extends QueueList {
  oldestDueMs: number | null
  /** Not every first job of a queue and priority was read. */
  isOldestCut?: boolean
}

/** Running jobs are those of the state. */
export function composeHealth(
  state: MemoryState,
  { queues, isComplete, oldestDueMs, isOldestCut = false }: WaitingHealth,
  { policy, countLimit = COUNT_LIMIT }: PolicyOption & CountOption,
): Health {
  const moment = { nowMs: state.nowMs(), policy: policyOf(state.policy, policy) }
  const running = jobsInIdOrder(state)
    .filter(({ status }) => status === 'running')
    .slice(0, countLimit)
  const overdueAges = running
    .filter((job) => isOverdue(moment, job))
    .map((job) => moment.nowMs - (overdueFromMs(moment, job) ?? moment.nowMs))
  const sum = (value: (queue: QueueStatus) => number) =>
    queues.reduce((total, queue) => total + value(queue), 0)
  const atLeast: HealthValue[] = []
  if (!isComplete || queues.some((queue) => queue.atLeast.includes('waiting')))
    atLeast.push('waiting', 'due', 'releasedOften')
  if (isOldestCut) atLeast.push('oldestDueMs')
  if (running.length === countLimit) atLeast.push('running', 'overdue', 'oldestOverdueMs', 'unjudged')
  return {
    waiting: sum(({ waiting }) => waiting),
    due: sum(({ due }) => due),
    running: running.length,
    overdue: overdueAges.length,
    oldestOverdueMs: largest(overdueAges),
    oldestDueMs,
    unjudged: running.filter((job) => isUnjudged(moment, job)).length,
    reaperAgeMs: reaperAgeMs(state),
    holdReason: holdReason(state, moment),
    releasedOften: sum(({ releasedOften }) => releasedOften),
    hidden: null,
    atLeast,
    queues,
  }
}

export function reaperAgeMs(state: MemoryState): number | null {
  return state.sweptAtMs === null ? null : state.nowMs() - state.sweptAtMs
}

/** Shown for one default lease after the outage: by then all but the longest leases could be renewed. */
function holdReason({ outages }: MemoryState, { nowMs, policy }: Moment): HoldReason | null {
  const outage = asOne(outages)
  return outage !== null && nowMs < outage.toMs + policy.defaultLeaseMs ? outage.reason : null
}

function largest(ages: number[]): number | null {
  return ages.length === 0 ? null : Math.max(...ages)
}
