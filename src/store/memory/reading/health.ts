import type { Job } from '../../../job/job.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import { isReleasedOften } from '../../../policy/retry/release-delay.ts'
import type { Health, HoldReason } from '../../job-store.ts'
import { asOne } from '../reaping/outages.ts'
import { isOverdue, isUnjudged, type Moment, overdueFromMs } from '../reaping/reap-plan.ts'
import { dueMs, type MemoryState } from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'

export function readHealth(state: MemoryState, override: PolicyOverride | undefined): Health {
  const moment = { nowMs: state.nowMs(), policy: policyOf(state.policy, override) }
  const jobs = [...state.jobs.values()]
  const waiting = jobs.filter(({ status }) => status === 'waiting')
  const dueAges = waiting.map((job) => moment.nowMs - dueMs(job)).filter((ageMs) => ageMs >= 0)
  const overdue = jobs.filter((job) => isOverdue(moment, job))
  const overdueAges = overdue.map((job) => moment.nowMs - (overdueFromMs(moment, job) ?? moment.nowMs))
  return {
    waiting: waiting.length,
    due: dueAges.length,
    running: jobs.filter(({ status }) => status === 'running').length,
    overdue: overdue.length,
    oldestOverdueMs: largest(overdueAges),
    oldestDueMs: largest(dueAges),
    unjudged: jobs.filter((job) => isUnjudged(moment, job)).length,
    reaperAgeMs: reaperAgeMs(state),
    holdReason: holdReason(state, moment),
    releasedOften: waiting.filter((job) => isOften(job, moment.nowMs)).length,
    hidden: null,
  }
}

export function isOften({ releases, startedAt }: Job, nowMs: number): boolean {
  return isReleasedOften(releases, startedAt === null ? null : nowMs - startedAt.getTime())
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
