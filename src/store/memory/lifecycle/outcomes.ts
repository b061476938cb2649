// Outcomes that end a lease. A repeat with the same lease answers so, and a stale lease changes nothing (C2, C3).

import { invalidArgument } from '../../../errors/index.ts'
import type { Job, JobErrorRecord, JsonValue } from '../../../job/job.ts'
import type { Lease } from '../../../job/lease.ts'
import type { CompleteOutcome, RefusedOutcome } from '../../../job/outcome.ts'
import { keepsCompleted, type Policy } from '../../../policy/policy.ts'
import { backoffMs, failureBackoff, ownWaitMs } from '../../../policy/retry/backoff.ts'
import { type Counts, countEnd, failureOrdinal, isFailureFinal } from '../../../policy/retry/budget.ts'
import { releaseDelayMs } from '../../../policy/retry/release-delay.ts'
import type {
  ActorOption,
  Completion,
  FailedJob,
  Failure,
  JobOutcome,
  PolicyOption,
  ReleasedJob,
  ReleaseOptions,
} from '../../job-store.ts'
import { recordDispatch } from '../dispatches.ts'
import { isOften } from '../reading/waiting-counts.ts'
import { checkText } from '../state/checks.ts'
import {
  actedBy,
  cancelledError,
  changeJob,
  countsOf,
  type MemoryState,
  type NewEvent,
  recordEvent,
  withoutLease,
} from '../state/memory-state.ts'
import { copyJson } from '../state/new-job.ts'
import { deletionPolicyOf, policyOf } from '../state/policy-of.ts'

/** Moves the job behind others that are due. */
const PROBE_WAIT_MS = 1_000

export function completeJobs(
  state: MemoryState,
  completions: Completion[],
  options: PolicyOption & ActorOption,
): JobOutcome<CompleteOutcome>[] {
  const policy = deletionPolicyOf(state, options.policy)
  // All are checked before any is written.
  const checked = completions.map(({ jobId, leaseId, result }) => ({
    jobId,
    leaseId,
    result: result === undefined ? null : copyJson(result, 'result'),
  }))
  for (const { result, ...lease } of checked) if (result !== null) requireKept(policy, findHeld(state, lease))
  const outcomes = applyToHeld(state, checked, (job, { result }): CompleteOutcome => {
    if (keepsCompleted(policy, job.type)) completeJob(state, job, result, options)
    else deleteCompleted(state, job, options)
    return 'completed'
  })
  return checked.map(({ jobId }, index) => {
    const outcome = outcomes[index] ?? 'not-found'
    // A job that this lease released or failed may run elsewhere by now, and is not completed by it.
    const isOther = outcome === 'already-done' && state.jobs.get(jobId)?.status !== 'succeeded'
    return { jobId, outcome: isOther ? 'lease-lost' : outcome }
  })
}

function requireKept(policy: Policy, job: Job | undefined): void {
  if (job === undefined || keepsCompleted(policy, job.type)) return
  const takes = 'none if keepCompleted is false: the result would be deleted with the row'
  throw invalidArgument('results', `a result of type ${job.type}`, takes)
}

/** A job that has events gets a last one: it says how the job ended, and retention finds the others by it. */
function deleteCompleted(state: MemoryState, job: Job, options: ActorOption): void {
  state.jobs.delete(job.id)
  if (state.policy.events !== 'all' && !state.events.has(job.id)) return
  const details = { attempt: job.attempt, is_deleted: true, ...actedBy(options) }
  recordEvent(state, state.nowMs(), { jobId: job.id, type: 'complete', details })
}

function completeJob(state: MemoryState, job: Job, result: JsonValue, options: ActorOption): void {
  const nowMs = state.nowMs()
  const finishedAt = new Date(nowMs)
  changeJob(state, job, { status: 'succeeded', finishedAt, result, error: null, ...endedLease(job, nowMs) })
  if (state.policy.events !== 'all') return
  const { workerId, attempt, fence } = job
  const details = { worker_id: workerId, attempt, fence, ...actedBy(options) }
  recordEvent(state, nowMs, { jobId: job.id, type: 'complete', details })
}

export function failJobs(
  state: MemoryState,
  failures: Failure[],
  options: PolicyOption & ActorOption,
): FailedJob[] {
  const policy = policyOf(state.policy, options.policy)
  for (const { code } of failures) {
    // Reserved: identifies cancelled jobs, which are never retried.
    if (code === 'cancelled') throw invalidArgument('code', code, 'text other than cancelled')
  }
  const answers = applyToHeld(state, failures, (job, failure) =>
    failJob(state, policy, job, options.actor === undefined ? failure : { ...failure, actor: options.actor }),
  )
  return failures.map(({ jobId }, index) => {
    const answer = answers[index] ?? 'not-found'
    return typeof answer === 'string' ? { jobId, outcome: answer, retryInMs: null } : answer
  })
}

function failJob(state: MemoryState, policy: Policy, job: Job, failure: Failure & ActorOption): FailedJob {
  const nowMs = state.nowMs()
  const end = failure.cause ?? 'failure'
  const counts = countEnd(policy, { ...countsOf(policy, job), ...handlerMaximum(policy, job, failure) }, end)
  const error = describeError(failure, counts)
  const { attempt, failures, crashes, timeouts } = counts
  const maximum = handlerMaximum(policy, job, failure)
  const ended = { attempt, failures, crashes, timeouts, error, ...endedLease(job, nowMs), ...maximum }
  if (job.cancelRequestedAt !== null) {
    const cancelled = { ...job, ...ended, error: { ...error, code: 'cancelled' } }
    endCancelled(state, cancelled, nowMs, { worker_id: job.workerId, ...actedBy(failure) })
    return { jobId: job.id, outcome: 'cancelled', retryInMs: null }
  }
  const { code, reason, category } = error
  const details = { code, reason, category, attempt, worker_id: job.workerId, ...actedBy(failure) }
  if (!isHopeless(failure) && end === 'failure' && isFailedProbe(state, job))
    return releaseProbe(state, policy, job, { failure, error, details })
  if (isHopeless(failure) || isFailureFinal(policy, counts, end)) {
    changeJob(state, job, { status: 'dead', finishedAt: new Date(nowMs), ...ended })
    recordEvent(state, nowMs, { jobId: job.id, type: code === 'EXPIRED' ? 'expired' : 'failed', details })
    return { jobId: job.id, outcome: 'dead', retryInMs: null }
  }
  const ownStepsMs = job.backoffStepsMs ?? failure.backoffStepsMs
  const retryInMs = failure.retryInMs ?? nextWaitMs(state, policy, counts, ownStepsMs)
  const runAt = new Date(nowMs + retryInMs)
  changeJob(state, job, { status: 'waiting', runAt, ...ended })
  recordDispatch(state, policy, job.id)
  const plan = { backoff_ms: retryInMs, next_run_at: runAt.toISOString() }
  recordEvent(state, nowMs, { jobId: job.id, type: 'retry', details: { ...details, ...plan } })
  return { jobId: job.id, outcome: 'retried', retryInMs }
}

/** A job that was enqueued with the policy's maximum has none of its own. */
function handlerMaximum(policy: Policy, job: Job, { maxAttempts }: Failure): { maxAttempts?: number } {
  const hasOwn = (job.maxAttempts ?? policy.maxAttempts) !== policy.maxAttempts
  return maxAttempts === undefined || hasOwn ? {} : { maxAttempts }
}

/** A probe of a half-open breaker that met the very failure the breaker is open for. */
function isFailedProbe(state: MemoryState, { id, queue }: Job): boolean {
  const breaker = state.breakers.get(state.dependencies.get(queue) ?? '')
  return breaker?.facts.probes.some(({ jobId, hasFailed }) => jobId === id && hasFailed === true) === true
}

function releaseProbe(
  state: MemoryState,
  policy: Policy,
  job: Job,
  { failure, error, details }: { failure: Failure; error: JobErrorRecord; details: NewEvent['details'] },
): FailedJob {
  const nowMs = state.nowMs()
  const retryInMs = Math.max(failure.retryInMs ?? 0, PROBE_WAIT_MS)
  const attempt = Math.max(0, job.attempt - (policy.attemptCountedAt === 'claim' ? 1 : 0))
  const releases = job.releases + 1
  const runAt = new Date(nowMs + retryInMs)
  const waiting = { status: 'waiting', runAt, attempt, releases } as const
  changeJob(state, job, { ...endedLease(job, nowMs), ...waiting, error: { ...error, attempt } })
  recordDispatch(state, policy, job.id)
  const plan = { cause: 'half-open', delay_ms: retryInMs, next_run_at: runAt.toISOString() }
  const told = { ...details, ...plan, attempt, releases }
  recordEvent(state, nowMs, { jobId: job.id, type: 'released', details: told })
  return { jobId: job.id, outcome: 'released', retryInMs }
}

export function releaseJobs(
  state: MemoryState,
  leases: Lease[],
  options: ReleaseOptions<never>,
): ReleasedJob[] {
  checkText('reason', options.reason ?? 'none', 1_000)
  const answers = applyToHeld(state, leases, (job, lease) => {
    const askedMs = (options.delayMs ?? 0) + leases.indexOf(lease) * (options.spreadMs ?? 0)
    const delayMs = options.reason === undefined ? askedMs : grownDelayMs(state, job, askedMs)
    return releaseJob(state, job, { ...options, delayMs })
  })
  return leases.map(({ jobId }, index) => {
    const answer = answers[index] ?? 'not-found'
    return typeof answer === 'string' ? { jobId, outcome: answer, retryInMs: null } : answer
  })
}

/** Its last attempt is in the events; a release without a reason records none. */
function grownDelayMs(state: MemoryState, job: Job, askedMs: number): number {
  const last = state.events
    .get(job.id)
    ?.findLast(
      ({ type, data }) =>
        type !== 'processing' && (type !== 'released' || data.details['reason'] !== undefined),
    )
  const lastMs = last?.type === 'released' ? Number(last.data.details['delay_ms'] ?? 0) : null
  return releaseDelayMs(askedMs, lastMs, isOften(job, state.nowMs()))
}

function releaseJob(state: MemoryState, job: Job, options: ReleaseOptions<never>): ReleasedJob {
  const nowMs = state.nowMs()
  const { cause = 'release', delayMs = 0, reason } = options
  const given = state.policy.attemptCountedAt === 'claim' ? 1 : 0
  const released: Job = {
    ...job,
    ...endedLease(job, nowMs),
    attempt: Math.max(0, job.attempt - given),
    releases: job.releases + (cause === 'release' ? 1 : 0),
    interruptions: job.interruptions + (cause === 'interruption' ? 1 : 0),
  }
  if (job.cancelRequestedAt !== null) {
    const cancelled = { ...released, error: cancelledError(released) }
    const details = { cause, worker_id: job.workerId, attempt: released.attempt, delay_ms: delayMs }
    endCancelled(state, cancelled, nowMs, { ...details, ...actedBy(options) })
    return { jobId: job.id, outcome: 'cancelled', retryInMs: null }
  }
  const runAt = delayMs > 0 ? new Date(nowMs + delayMs) : null
  changeJob(state, released, { status: 'waiting', runAt })
  recordDispatch(state, state.policy, job.id)
  if (state.policy.events === 'all' || reason !== undefined) {
    const { attempt, releases } = released
    const why = reason === undefined ? {} : { reason, releases }
    const details = {
      worker_id: job.workerId,
      attempt,
      cause,
      delay_ms: delayMs,
      ...why,
      ...actedBy(options),
    }
    recordEvent(state, nowMs, { jobId: job.id, type: 'released', details })
  }
  return { jobId: job.id, outcome: 'released', retryInMs: delayMs }
}

/**
 * Applies the leases that are held, and answers the others from the resulting rows: a call may hold a stale and a current
 * lease of one job, and their order must not matter.
 */
function applyToHeld<Asked extends Lease, Answer>(
  state: MemoryState,
  asked: Asked[],
  apply: (job: Job, one: Asked) => Answer,
): (Answer | RefusedOutcome)[] {
  const answers = new Map<string, Answer>()
  for (const one of asked) {
    const job = findHeld(state, one)
    if (job !== undefined) answers.set(`${one.jobId} ${one.leaseId}`, apply(job, one))
  }
  return asked.map((one) => answers.get(`${one.jobId} ${one.leaseId}`) ?? refuse(state, one))
}

function findHeld(state: MemoryState, lease: Lease): Job | undefined {
  const job = state.jobs.get(lease.jobId)
  return job?.status === 'running' && job.leaseId === lease.leaseId ? job : undefined
}

function refuse(state: MemoryState, lease: Lease): RefusedOutcome {
  const job = state.jobs.get(lease.jobId)
  if (job === undefined) return 'not-found'
  return job.finishedLeaseId === lease.leaseId ? 'already-done' : 'lease-lost'
}

function endedLease(job: Job, nowMs: number): Partial<Job> {
  return { finishedLeaseId: job.leaseId, updatedAt: new Date(nowMs), ...withoutLease }
}

function describeError(failure: Failure, counts: Counts): JobErrorRecord {
  return {
    code: failure.code ?? 'UNKNOWN',
    reason: failure.reason ?? null,
    category: failure.category ?? 'TRANSIENT',
    stack: failure.stack ?? null,
    attempt: counts.attempt,
  }
}

function isHopeless({ isRetryable, category }: Failure): boolean {
  return isRetryable === false || category === 'PERMANENT' || category === 'CRITICAL'
}

/** `ownStepsMs` are the waits of the job or its handler. */
function nextWaitMs(state: MemoryState, policy: Policy, counts: Counts, ownStepsMs?: number[]): number {
  const ordinal = failureOrdinal(policy, counts)
  if (ownStepsMs !== undefined) return ownWaitMs(policy, ownStepsMs, ordinal, state.random())
  return backoffMs(failureBackoff(policy), ordinal, state.random())
}

/** The holder of a job with a pending cancellation gave it back: it is cancelled. */
function endCancelled(state: MemoryState, job: Job, nowMs: number, by: { [key: string]: JsonValue }): void {
  changeJob(state, job, { status: 'cancelled', finishedAt: new Date(nowMs) })
  const details = { reason: job.error?.reason ?? null, ...by }
  recordEvent(state, nowMs, { jobId: job.id, type: 'cancelled', details })
}
