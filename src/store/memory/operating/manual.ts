// Changes that people make to jobs and causes. The owner is part of the lookup, so missing and foreign jobs look alike (C21).
import { invalidArgument } from '../../../errors/index.ts'
import type { Job } from '../../../job/job.ts'
import type { CancelOutcome, DiscardOutcome, RetryOutcome, RunNowOutcome } from '../../../job/outcome.ts'
import type { Policy } from '../../../policy/policy.ts'
import type { CauseMark, JobOutcome, ManualOptions, RetryOptions } from '../../job-store.ts'
import { recordDispatch } from '../dispatches.ts'
import { findKeyHolder } from '../lifecycle/enqueue.ts'
import { checkText, requireActing } from '../state/checks.ts'
import {
  cancelledError,
  changeJob,
  countsOf,
  dueMs,
  type MemoryState,
  recordEvent,
} from '../state/memory-state.ts'

export function cancelJobs(
  state: MemoryState,
  jobIds: string[],
  options: ManualOptions<never>,
): JobOutcome<CancelOutcome>[] {
  requireActing(state)
  return jobIds.map((jobId) => {
    const job = findOwned(state, jobId, options.owner)
    return { jobId, outcome: job === undefined ? 'not-found' : cancelJob(state, job, options) }
  })
}

function cancelJob(state: MemoryState, job: Job, options: ManualOptions<never>): CancelOutcome {
  if (hasOtherGeneration(job, options)) return 'generation-changed'
  const nowMs = state.nowMs()
  const now = new Date(nowMs)
  const details = { actor: options.actor ?? null, reason: options.reason ?? null }
  if (job.status === 'waiting') {
    changeJob(state, job, {
      status: 'cancelled',
      finishedAt: now,
      updatedAt: now,
      runAt: null,
      cancelRequestedAt: job.cancelRequestedAt ?? now,
      error: { ...cancelledError(job), reason: options.reason ?? 'cancelled' },
    })
    recordEvent(state, nowMs, { jobId: job.id, type: 'cancelled', details })
    return 'cancelled'
  }
  if (job.status !== 'running') return 'already-ended'
  changeJob(state, job, { cancelRequestedAt: job.cancelRequestedAt ?? now, updatedAt: now })
  recordEvent(state, nowMs, { jobId: job.id, type: 'cancel-requested', details })
  return 'cancel-requested'
}

export function retryJobs(
  state: MemoryState,
  jobIds: string[],
  options: RetryOptions<never>,
): JobOutcome<RetryOutcome>[] {
  requireActing(state)
  return jobIds.map((jobId) => {
    const job = findOwned(state, jobId, options.owner)
    return { jobId, outcome: job === undefined ? 'not-found' : retryJob(state, job, options) }
  })
}

function retryJob(state: MemoryState, job: Job, options: RetryOptions<never>): RetryOutcome {
  if (hasOtherGeneration(job, options)) return 'generation-changed'
  if (job.status !== 'dead') return 'not-dead'
  if (findKeyHolder(state, job.type, job.dedupeKey) !== undefined) return 'duplicate'
  const nowMs = state.nowMs()
  const now = new Date(nowMs)
  const retried = changeJob(state, job, {
    ...(options.keepAttempts === true ? raisedBudget(state.policy, job) : { attempt: 0, failures: 0 }),
    // Limits by cause come from the policy and cannot be raised for one job.
    crashes: 0,
    timeouts: 0,
    status: 'waiting',
    error: null,
    result: null,
    finishedAt: null,
    runAt: null,
    queuedAt: now,
    updatedAt: now,
    cancelRequestedAt: null,
    reapedAt: null,
    expiresAt: null,
    generation: job.generation + 1,
  })
  const { actor = null, reason = null } = options
  const details = { actor, reason, generation: retried.generation, cause: 'retry' }
  recordEvent(state, nowMs, { jobId: job.id, type: 'queued', details })
  recordDispatch(state, state.policy, job.id)
  return 'retried'
}

/** Room for one more attempt than the job has spent. */
function raisedBudget(policy: Policy, job: Job): Partial<Job> {
  const { attempt, failures, maxAttempts } = countsOf(policy, job)
  const spent = policy.failureBudget === 'failures' ? failures : attempt
  return { maxAttempts: Math.max(maxAttempts, spent + 1) }
}

function findOwned(state: MemoryState, jobId: string, owner: string | undefined): Job | undefined {
  const job = state.jobs.get(jobId)
  return owner === undefined || job?.owner === owner ? job : undefined
}

function hasOtherGeneration(job: Job, { generation }: { generation?: number }): boolean {
  return generation !== undefined && generation !== job.generation
}

const CAUSE_STATES = ['new', 'investigating', 'resolved', 'ignored']

export function markCause(
  state: MemoryState,
  causeId: string,
  { state: marked, actor, reason }: CauseMark,
): void {
  checkText('causeId', causeId, 64)
  if (!CAUSE_STATES.includes(marked)) throw invalidArgument('state', marked, CAUSE_STATES.join(', '))
  if (marked === 'new') state.causes.delete(causeId)
  else {
    const changed = { changedAtMs: state.nowMs(), changedBy: actor ?? null, reason: reason ?? null }
    state.causes.set(causeId, { state: marked, ...changed })
  }
}

export function runJobsNow(
  state: MemoryState,
  jobIds: string[],
  options: ManualOptions<never>,
): JobOutcome<RunNowOutcome>[] {
  requireActing(state)
  return jobIds.map((jobId) => {
    const job = findOwned(state, jobId, options.owner)
    return { jobId, outcome: job === undefined ? 'not-found' : runNow(state, job, options) }
  })
}

export function discardJobs(
  state: MemoryState,
  jobIds: string[],
  options: ManualOptions<never>,
): JobOutcome<DiscardOutcome>[] {
  requireActing(state)
  return jobIds.map((jobId) => {
    const job = findOwned(state, jobId, options.owner)
    return { jobId, outcome: job === undefined ? 'not-found' : discard(state, job, options) }
  })
}

function runNow(state: MemoryState, job: Job, options: ManualOptions<never>): RunNowOutcome {
  if (hasOtherGeneration(job, options)) return 'generation-changed'
  if (job.status !== 'waiting') return 'not-waiting'
  const nowMs = state.nowMs()
  const { actor = null, reason = null } = options
  recordEvent(state, nowMs, { jobId: job.id, type: 'queued', details: { actor, reason, cause: 'run-now' } })
  if (dueMs(job) <= nowMs) return 'already-due'
  const now = new Date(nowMs)
  changeJob(state, job, { runAt: now, updatedAt: now })
  recordDispatch(state, state.policy, job.id)
  return 'due'
}

function discard(state: MemoryState, job: Job, options: ManualOptions<never>): DiscardOutcome {
  if (hasOtherGeneration(job, options)) return 'generation-changed'
  const { id, status, type, error } = job
  if (status === 'running') return 'running'
  state.jobs.delete(id)
  state.events.delete(id)
  state.dispatches.delete(id)
  const { actor = null, reason = null } = options
  const details = { actor, reason, status, type, code: error?.code ?? null }
  recordEvent(state, state.nowMs(), { jobId: id, type: 'discarded', details })
  return 'discarded'
}
