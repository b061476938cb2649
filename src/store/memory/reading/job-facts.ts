import type { Job } from '../../../job/job.ts'
import { stageOf } from '../../../job/stage.ts'
import {
  breakerState,
  nextProbeInMs,
  runningProbes,
  unheardJobs,
} from '../../../policy/dependency/breaker.ts'
import type { HoldingBreaker, JobFacts, PauseFacts } from '../../../policy/explain/job-facts.ts'
import { type PolicyOverride, withOverride } from '../../../policy/policy.ts'
import { hasBudget, isLastChance } from '../../../policy/retry/budget.ts'
import { isPaused } from '../lifecycle/admit-job.ts'
import { keptWorkerOf } from '../lifecycle/last-chance.ts'
import { limitFacts } from '../lifecycle/turns.ts'
import { asOne, isHeld } from '../reaping/outages.ts'
import { isOverdue, type Moment, overdueFromMs } from '../reaping/reap-plan.ts'
import { countsOf, dueMs, leaseMsOf, type MemoryState } from '../state/memory-state.ts'
import { workerFacts } from '../workers.ts'
import { reaperAgeMs } from './health.ts'
import { isOften } from './waiting-counts.ts'

const MAX_AHEAD = 1000

export function readJobFacts(
  state: MemoryState,
  jobId: string,
  override: PolicyOverride | undefined,
): JobFacts | null {
  const job = state.jobs.get(jobId)
  if (job === undefined) return null
  const policy = withOverride(state.policy, override)
  const nowMs = state.nowMs()
  const counts = countsOf(policy, job)
  const isWaiting = job.status === 'waiting'
  const isRunning = job.status === 'running'
  const leaseEndMs = isRunning ? overdueFromMs({ nowMs, policy }, job) : null
  const { code = null, reason = null, category = null } = job.error ?? {}
  return {
    jobId,
    type: job.type,
    queue: job.queue,
    stage: stageOf(job, policy.defaultStage),
    status: job.status,
    ...counts,
    releases: job.releases,
    isReleasedOften: isOften(job, nowMs),
    isLastChance: isWaiting && isLastChance(policy, counts),
    keptWorkerId: keptWorkerOf(state, jobId, nowMs),
    hasBudget: !state.judgesWaiting || hasBudget(policy, counts),
    progress: job.progress,
    expiresInMs: job.expiresAt === null ? null : job.expiresAt.getTime() - nowMs,
    error: job.error === null ? null : { code, reason, category },
    isCancelAsked: job.cancelRequestedAt !== null,
    cancel: cancelOf(state, jobId, nowMs),
    runInMs: isWaiting ? dueMs(job) - nowMs : null,
    ahead: isWaiting ? countAhead(state, job, nowMs) : null,
    pause: isWaiting ? pauseOf(state, job, nowMs) : null,
    breaker: isWaiting ? breakerOf(state, job, nowMs) : null,
    limit: isWaiting ? limitFacts(state, job) : null,
    workers: isWaiting ? workerFacts(state, job.type, job.queue) : null,
    workerId: job.workerId,
    leaseLeftMs: leaseEndMs === null ? null : leaseEndMs - nowMs,
    silentMs: isRunning && job.heartbeatAt !== null ? nowMs - job.heartbeatAt.getTime() : null,
    deadlineLeftMs: job.deadlineAt === null ? null : job.deadlineAt.getTime() - nowMs,
    heldForMs: isRunning ? heldForMs(state, { nowMs, policy }, job) : null,
    // There are no sessions here.
    absence: null,
    // No row of this store is ever locked.
    isLocked: isWaiting || (leaseEndMs !== null && leaseEndMs < nowMs) ? false : null,
    lockedBy: null,
    endedAgoMs: job.finishedAt === null ? null : nowMs - job.finishedAt.getTime(),
    reaperAgeMs: reaperAgeMs(state),
    sweepIntervalMs: policy.sweepIntervalMs,
    isObserved: state.mode.mode === 'observe',
    lastEvent: lastEventOf(state, jobId, nowMs),
  }
}

function heldForMs(state: MemoryState, moment: Moment, job: Job): number | null {
  const outage = asOne(state.outages)
  if (outage === null || !isOverdue(moment, job) || !isHeld(outage, moment, job)) return null
  return outage.toMs + leaseMsOf(moment.policy, job) - moment.nowMs
}

function countAhead(state: MemoryState, job: Job, nowMs: number): number {
  const isOrdered = job.group !== null && (state.queueLimits.get(job.queue)?.groupOrder ?? null) !== null
  const others = [...state.jobs.values()].filter(
    (other) =>
      other.status === 'waiting' &&
      other.queue === job.queue &&
      other.group === job.group &&
      (isOrdered ? other.id < job.id : dueMs(other) <= nowMs && isBefore(other, job)),
  )
  return Math.min(others.length, MAX_AHEAD)
}

function isBefore(a: Job, b: Job): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority
  return dueMs(a) === dueMs(b) ? a.id < b.id : dueMs(a) < dueMs(b)
}

function pauseOf(state: MemoryState, { queue }: Job, nowMs: number): PauseFacts | null {
  const pause = state.pauses.get(queue)
  if (!isPaused(pause, nowMs)) return null
  const { actor, reason, pausedAtMs, untilMs } = pause
  return { by: actor, reason, sinceMs: nowMs - pausedAtMs, leftMs: untilMs === null ? null : untilMs - nowMs }
}

function breakerOf(state: MemoryState, { queue }: Job, nowMs: number): HoldingBreaker | null {
  const name = state.dependencies.get(queue)
  const breaker = name === undefined ? undefined : state.breakers.get(name)
  if (name === undefined || breaker === undefined) return null
  const { facts, changedAtMs, changedBy, reason } = breaker
  const condition = breakerState(facts, nowMs)
  const untilMs = condition === 'held' ? (facts.hold?.untilMs ?? null) : null
  return {
    name,
    state: condition,
    by: changedBy,
    reason,
    sinceMs: nowMs - changedAtMs,
    nextProbeInMs: nextProbeInMs(facts, nowMs),
    heldForMs: untilMs === null ? null : untilMs - nowMs,
    probing: runningProbes(facts, nowMs).length,
    probeSlots: facts.settings.probeSlots,
    unheard: unheardJobs(facts, nowMs),
    closeAfter: facts.settings.closeAfter,
  }
}

function cancelOf(state: MemoryState, jobId: string, nowMs: number): JobFacts['cancel'] {
  const asked = state.events
    .get(jobId)
    ?.findLast(
      ({ type, data }) =>
        (type === 'cancelled' || type === 'cancel-requested') &&
        typeof data.details['actor'] === 'string' &&
        data.details['worker_id'] === undefined,
    )
  if (asked === undefined) return null
  const { actor, reason } = asked.data.details
  return {
    by: typeof actor === 'string' ? actor : '',
    reason: typeof reason === 'string' ? reason : null,
    agoMs: nowMs - asked.at.getTime(),
  }
}

function lastEventOf(state: MemoryState, jobId: string, nowMs: number): JobFacts['lastEvent'] {
  const event = state.events.get(jobId)?.at(-1)
  if (event === undefined) return null
  const { type, at, data } = event
  return { type, agoMs: nowMs - at.getTime(), details: structuredClone(data.details) }
}
