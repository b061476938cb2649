// Decides about the findings of a sweep. The sweep applies the plans, the preview shows them.
import type { EventType } from '../../../job/event.ts'
import type { Job, JobStatus, JsonValue } from '../../../job/job.ts'
import { stageOf } from '../../../job/stage.ts'
import type { Policy } from '../../../policy/policy.ts'
import { backoffMs, reapBackoff } from '../../../policy/retry/backoff.ts'
import { countEnd, isReapFinal, reapOrdinal } from '../../../policy/retry/budget.ts'
import type { ReapedJob } from '../../job-store.ts'
import { cancelledError, countsOf, isoOrNull, leaseMsOf, withoutLease } from '../state/memory-state.ts'

export interface ReapPlan {
  report: ReapedJob
  /** Null if the job is only reported. */
  write: { change: Partial<Job>; event: EventType; details: { [key: string]: JsonValue } } | null
}

export interface Moment {
  nowMs: number
  policy: Policy
}

/** When a running job counts as dead: at the end of its lease, else by its age; null if neither is known (REAP-8). */
export function overdueFromMs({ policy }: Moment, job: Job): number | null {
  if (job.leaseExpiresAt !== null) return job.leaseExpiresAt.getTime()
  const times = [job.heartbeatAt, job.startedAt, job.updatedAt].filter((time) => time !== null)
  if (!policy.legacyAgeRule || times.length === 0) return null
  const isListed = Object.hasOwn(policy.stageLeasesMs, stageOf(job, policy.defaultStage))
  if (policy.legacyAgeStages === 'listed' && !isListed) return null
  // The newest time: a fresh lock may have an old heartbeat beside it, left as evidence.
  return Math.max(...times.map((time) => time.getTime())) + leaseMsOf(policy, job)
}

export function isOverdue(moment: Moment, job: Job): boolean {
  const fromMs = job.status === 'running' ? overdueFromMs(moment, job) : null
  return fromMs !== null && fromMs < moment.nowMs
}

export function isUnjudged(moment: Moment, job: Job): boolean {
  return job.status === 'running' && overdueFromMs(moment, job) === null
}

export function planReported({ policy }: Moment, job: Job): ReapPlan {
  return { report: describe(policy, job, 'reported', 'no_lease_to_judge_by', null), write: null }
}

/** Waiting with a spent budget: the claim that finds it ends it (C10). */
export function planExhausted({ nowMs, policy }: Moment, job: Job): ReapPlan {
  const { attempt } = job
  const [code, reason] = isExpired(job, nowMs)
    ? (['EXPIRED', 'not_started_in_time'] as const)
    : (['exhausted', 'attempts_exhausted'] as const)
  const error = { code, reason, category: null, stack: null, attempt }
  const now = new Date(nowMs)
  return {
    report: describe(policy, job, 'dead', error.reason, null),
    write: {
      change: { status: 'dead', finishedAt: now, updatedAt: now, runAt: null, error },
      event: code === 'EXPIRED' ? 'expired' : 'failed',
      details: { code, reason, category: null, attempt, worker_id: null },
    },
  }
}

/** A job that is not started any more. */
export const isExpired = ({ expiresAt }: Job, nowMs: number) =>
  expiresAt !== null && expiresAt.getTime() <= nowMs

export function isTimeout({ nowMs }: Moment, job: Job): boolean {
  return job.deadlineAt !== null && job.deadlineAt.getTime() <= nowMs
}

/** `spreadMs` is added to the backoff and never shortens it (REAP-14). */
export function planReap(moment: Moment, job: Job, spreadMs: number): ReapPlan {
  const { nowMs, policy } = moment
  const end = isTimeout(moment, job) ? 'timeout' : 'crash'
  const { cause, reason } = reasonOf(moment, job)
  const before = countsOf(policy, job)
  const after = countEnd(policy, before, end)
  const isRequeued = job.cancelRequestedAt === null && !isReapFinal(policy, before, end)
  const isCounted = isRequeued && policy.attemptCountedAt === 'failure-and-reap'
  const attempt = isCounted ? after.attempt : before.attempt
  const taken: Job = {
    ...job,
    ...withoutLease,
    attempt,
    crashes: after.crashes,
    timeouts: after.timeouts,
    updatedAt: new Date(nowMs),
  }
  if (!isRequeued) return planEnd(moment, job, taken, reason, cause)
  const backoff = backoffMs(reapBackoff(policy), reapOrdinal(policy, { ...after, attempt }), 0)
  const retryInMs = Math.floor(backoff + spreadMs)
  const runAt = new Date(nowMs + retryInMs)
  return {
    report: describe(policy, { ...taken, workerId: job.workerId }, 'requeued', reason, retryInMs),
    write: {
      change: { ...taken, status: 'waiting', runAt, reapedAt: new Date(nowMs) },
      event: 'reaper:requeued',
      details: {
        next_run_at: runAt.toISOString(),
        backoff_ms: retryInMs,
        ...evidence(policy, job, attempt, reason, cause),
      },
    },
  }
}

function reasonOf(moment: Moment, job: Job): { cause: string; reason: string } {
  if (isTimeout(moment, job)) return { cause: 'timeout', reason: 'deadline_exceeded' }
  // A lease that has not ended was taken from a worker that is gone.
  return isOverdue(moment, job)
    ? { cause: 'crash', reason: 'lease_expired' }
    : { cause: 'worker-gone', reason: 'worker_gone' }
}

function planEnd(moment: Moment, job: Job, taken: Job, reason: string, cause: string): ReapPlan {
  const { nowMs, policy } = moment
  const isCancelled = job.cancelRequestedAt !== null
  const status: JobStatus = isCancelled ? 'cancelled' : 'dead'
  const timeout = { code: 'timeout', reason, category: null, stack: null, attempt: taken.attempt }
  return {
    report: describe(policy, { ...taken, workerId: job.workerId }, status, reason, null),
    write: {
      change: {
        ...taken,
        status,
        finishedAt: new Date(nowMs),
        error: isCancelled ? cancelledError(taken) : timeout,
      },
      event: isCancelled ? 'reaper:cancelled' : 'reaper:failed(timeout)',
      details: {
        next_run_at: null,
        backoff_ms: null,
        ...evidence(policy, job, taken.attempt, reason, cause),
      },
    },
  }
}

/** Why the job was reaped, and everything that the reap removes from the row (REAP-9). */
function evidence(policy: Policy, job: Job, attempt: number, reason: string, cause: string) {
  return {
    reason,
    cause,
    locked_by: job.workerId,
    attempt,
    stage: stageOf(job, policy.defaultStage),
    lease_id: job.leaseId,
    fence: job.fence,
    last_heartbeat_at: isoOrNull(job.heartbeatAt),
    lease_expires_at: isoOrNull(job.leaseExpiresAt),
  }
}

function describe(
  policy: Policy,
  job: Job,
  action: ReapedJob['action'],
  reason: string,
  retryInMs: number | null,
): ReapedJob {
  const { id, attempt, workerId } = job
  return { jobId: id, action, reason, stage: stageOf(job, policy.defaultStage), attempt, workerId, retryInMs }
}
