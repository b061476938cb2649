import type { JobEvent } from '../../../job/event.ts'
import type { Job } from '../../../job/job.ts'
import { stageOf } from '../../../job/stage.ts'
import type { StaleCode } from '../../../policy/explain/explain-stale.ts'
import type {
  Reclaim,
  ReclaimPage,
  ReclaimRequest,
  StaleJob,
  StaleJobs,
  StaleRequest,
} from '../../ports/reaping-store.ts'
import { checkPage, checkWhole } from '../state/checks.ts'
import { leaseMsOf, type MemoryState } from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'
import { asOne, isHeld } from './outages.ts'
import { isOverdue, isUnjudged, type Moment, overdueFromMs } from './reap-plan.ts'

/** A reaper counts as gone after this many sweep intervals without a sweep. */
const LATE_INTERVALS = 3

const actions: Readonly<Record<string, Reclaim['action']>> = {
  'reaper:requeued': 'requeued',
  'reaper:failed(timeout)': 'dead',
  'reaper:cancelled': 'cancelled',
}

export function listReclaims(state: MemoryState, { workerId, stage, ...page }: ReclaimRequest): ReclaimPage {
  const { limit, before } = checkPage(page)
  const fit = [...state.events.values()]
    .flatMap((story) => story.flatMap((event) => toReclaim(state, story, event)))
    .filter((reclaim) => workerId === undefined || reclaim.workerId === workerId)
    .filter((reclaim) => stage === undefined || reclaim.stage === stage)
    .filter(({ reclaimId }) => before === null || Number(reclaimId) < before)
    .toSorted((a, b) => Number(b.reclaimId) - Number(a.reclaimId))
    .slice(0, limit)
  return { reclaims: fit, next: fit.length < limit ? null : (fit.at(-1)?.reclaimId ?? null) }
}

function toReclaim(state: MemoryState, story: JobEvent[], event: JobEvent): Reclaim[] {
  const { id, jobId, type, at } = event
  const { details } = event.data
  const action = actions[type]
  if (action === undefined) return []
  const claim = story
    .slice(story.indexOf(event) + 1)
    .find((later) => action === 'requeued' && later.type === 'processing')
  const lastHeartbeatAt = timeOf(details['last_heartbeat_at'])
  const leaseExpiresAt = timeOf(details['lease_expires_at'])
  return [
    {
      reclaimId: id,
      jobId,
      type: state.jobs.get(jobId)?.type ?? null,
      stage: textOf(details['stage']),
      attempt: Number(details['attempt']),
      workerId: textOf(details['locked_by']),
      reapedAt: new Date(at),
      action,
      reason: textOf(details['reason']) ?? '',
      lastHeartbeatAt,
      leaseExpiresAt,
      nextRunAt: timeOf(details['next_run_at']),
      latenessMs: leaseExpiresAt === null ? null : at.getTime() - leaseExpiresAt.getTime(),
      darkMs:
        claim === undefined || lastHeartbeatAt === null
          ? null
          : claim.at.getTime() - lastHeartbeatAt.getTime(),
      claimedAgainAt: claim === undefined ? null : new Date(claim.at),
      claimedBy: textOf(claim?.data.details['worker_id']),
    },
  ]
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
const timeOf = (value: unknown) => (typeof value === 'string' ? new Date(value) : null)

export function listStaleJobs(state: MemoryState, request: StaleRequest): StaleJobs {
  checkWhole(request.limit, 'limit', 1, 1_000)
  const moment = { nowMs: state.nowMs(), policy: policyOf(state.policy, request.policy) }
  const stale = [...state.jobs.values()]
    .filter((job) => isOverdue(moment, job) || isUnjudged(moment, job))
    .map((job) => toStaleJob(state, moment, job))
    .filter(({ isPastTwiceLease }) => isPastTwiceLease || request.isPastTwiceLease !== true)
    .toSorted((a, b) => (b.overdueMs ?? -1) - (a.overdueMs ?? -1) || (a.jobId < b.jobId ? -1 : 1))
  return { jobs: stale.slice(0, request.limit ?? 100), count: stale.length }
}

function toStaleJob(state: MemoryState, moment: Moment, job: Job): StaleJob {
  const { nowMs, policy } = moment
  const endedMs = overdueFromMs(moment, job)
  const leaseMs = leaseMsOf(policy, job)
  return {
    jobId: job.id,
    type: job.type,
    stage: stageOf(job, policy.defaultStage),
    workerId: job.workerId,
    attempt: job.attempt,
    heartbeatAt: job.heartbeatAt,
    endedAt: endedMs === null ? null : new Date(endedMs),
    overdueMs: endedMs === null ? null : nowMs - endedMs,
    leaseMs,
    isPastTwiceLease: endedMs !== null && endedMs + leaseMs < nowMs,
    code: codeOf(state, moment, job),
    lockedBy: null,
    reaperAgeMs: state.sweptAtMs === null ? null : nowMs - state.sweptAtMs,
  }
}

/** No row of this store is ever locked. */
function codeOf(state: MemoryState, moment: Moment, job: Job): StaleCode {
  const { nowMs, policy } = moment
  if (overdueFromMs(moment, job) === null) {
    const hasTime = job.heartbeatAt !== null || job.startedAt !== null || job.updatedAt !== null
    return policy.legacyAgeRule && hasTime ? 'TYPE_WITHOUT_TTL' : 'LEASE_UNKNOWN'
  }
  if (isHeld(asOne(state.outages), moment, job)) return 'HELD'
  if (state.mode.mode === 'observe') return 'OBSERVED'
  const isLate = state.sweptAtMs === null || nowMs - state.sweptAtMs > LATE_INTERVALS * policy.sweepIntervalMs
  return isLate ? 'NO_REAPER' : 'LEASE_OVER_AWAITING_REAPER'
}
