// Building blocks of the tests.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { EventType, JobEvent } from '../../job/event.ts'
import type { Job, NewJob } from '../../job/job.ts'
import type { ClaimedJob, Lease } from '../../job/lease.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type {
  ClaimRequest,
  Failure,
  HoldReason,
  JobOutcome,
  JobStore,
  ReapedJob,
  SweepRequest,
} from '../job-store.ts'
import type { TestBench } from './harness.ts'

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** Default type and queue. */
export const TYPE = 'encode'
/** An id that no job has. */
export const MISSING_ID = '00000000-0000-4000-8000-000000000000'

const TOLERANCE_MS = 5_000

/** Leases of one minute, no deadline, nothing random, no backoff: a test adds only what it is about. */
export const plainPolicy: PolicyOverride = {
  defaultLeaseMs: MINUTE,
  defaultDeadlineMs: 0,
  maxRuntimeMs: 0,
  defaultStage: null,
  reapBackoffStepsMs: [0],
  failureBackoffStepsMs: [0],
  failureBackoffJitterMs: 0,
  requeueRatePerS: 0,
  legacyAgeRule: false,
  events: 'recovery',
}

/** How profiles count attempts, each with a limit of three (five for separate crashes). */
export const budgets = {
  /** Native: failures count against the maximum, crashes against their own limit. */
  failures: {
    attemptCountedAt: 'claim',
    failureBudget: 'failures',
    reapBudget: 'crashes',
    maxAttempts: 3,
    maxCrashes: 3,
    maxTimeouts: 3,
  },
  /** Clip: one attempt column, counted at the claim, limits everything. */
  attempts: { attemptCountedAt: 'claim', failureBudget: 'attempts', reapBudget: 'attempts', maxAttempts: 3 },
  /** Embedding: attempts counted at failures, crashes separately. */
  countedAtFailure: {
    attemptCountedAt: 'failure',
    failureBudget: 'attempts',
    reapBudget: 'crashes',
    maxAttempts: 3,
    maxCrashes: 5,
    maxTimeouts: 5,
  },
  /** Executor: attempts counted at failures and reaps, never at the claim. */
  countedAtReap: {
    attemptCountedAt: 'failure-and-reap',
    failureBudget: 'attempts',
    reapBudget: 'attempts',
    maxAttempts: 3,
  },
} as const satisfies Record<string, PolicyOverride>

export async function enqueueOne(store: JobStore, job: Partial<NewJob> = {}): Promise<string> {
  const [answer] = await store.enqueueJobs([{ type: TYPE, ...job }])
  if (answer === undefined) throw new Error('enqueueing one job answered nothing')
  return answer.jobId
}

export async function enqueueMany(
  store: JobStore,
  count: number,
  job: Partial<NewJob> = {},
): Promise<string[]> {
  const answers = await store.enqueueJobs(Array.from({ length: count }, () => ({ type: TYPE, ...job })))
  return answers.map(({ jobId }) => jobId)
}

export function claimMany(store: JobStore, request: Partial<ClaimRequest> = {}): Promise<ClaimedJob[]> {
  return store.claimJobs({ workerId: 'worker-1', queues: [TYPE], limit: 100, ...request })
}

export async function claimOne(store: JobStore, request: Partial<ClaimRequest> = {}): Promise<ClaimedJob> {
  const [claimed] = await claimMany(store, { limit: 1, ...request })
  if (claimed === undefined) throw new Error('there was no job to claim')
  return claimed
}

/** A job that was just claimed, alone in its queue. */
export async function startOne(
  store: JobStore,
  job: Partial<NewJob> = {},
  request: Partial<ClaimRequest> = {},
): Promise<ClaimedJob> {
  await enqueueOne(store, job)
  return claimOne(store, { queues: [job.queue ?? job.type ?? TYPE], ...request })
}

export async function startMany(
  store: JobStore,
  count: number,
  request: Partial<ClaimRequest> = {},
): Promise<ClaimedJob[]> {
  await enqueueMany(store, count)
  return claimMany(store, { limit: count, ...request })
}

export async function readJob(store: JobStore, jobId: string): Promise<Job> {
  const job = await store.getJob(jobId)
  if (job === null) throw new Error(`there is no job ${jobId}`)
  return job
}

/** The store's own time, read from a row that it stamps; never the client's. */
export async function storeNow(store: JobStore): Promise<number> {
  const job = await readJob(store, await enqueueOne(store, { type: 'clock' }))
  return job.createdAt.getTime()
}

export async function fail(
  store: JobStore,
  lease: Lease,
  failure: Partial<Failure> = {},
): Promise<{ outcome: string; retryInMs: number | null }> {
  const answers = await store.failJobs([{ ...leaseOf(lease), ...failure }])
  const answer = answers.find(({ jobId }) => jobId === lease.jobId)
  if (answer === undefined) throw new Error('failing one job answered nothing')
  return { outcome: answer.outcome, retryInMs: answer.retryInMs }
}

export async function complete(store: JobStore, lease: Lease): Promise<string> {
  return outcomeOf(await store.completeJobs([leaseOf(lease)]), lease.jobId)
}

export async function release(store: JobStore, lease: Lease): Promise<string> {
  return outcomeOf(await store.releaseJobs([leaseOf(lease)]), lease.jobId)
}

export async function beat(store: JobStore, lease: Lease): Promise<string> {
  const { answers } = await store.heartbeatJobs([leaseOf(lease)])
  return answers.map(({ answer }) => answer).join()
}

export async function cancel(
  store: JobStore,
  jobId: string,
  options: { owner?: string } = {},
): Promise<string> {
  return outcomeOf(await store.cancelJobs([jobId], options), jobId)
}

export function leaseOf({ jobId, leaseId }: Lease): Lease {
  return { jobId, leaseId }
}

/** A lease that was never granted. */
export function forgedLease(jobId: string): Lease {
  return { jobId, leaseId: randomUUID() }
}

/** Outcomes are matched by job, not by order. */
export function outcomeOf<Outcome extends string>(answers: JobOutcome<Outcome>[], jobId: string): Outcome {
  const [answer, ...others] = answers.filter((candidate) => candidate.jobId === jobId)
  if (answer === undefined || others.length > 0) throw new Error(`not one answer for job ${jobId}`)
  return answer.outcome
}

export interface Sweep {
  reaped: ReapedJob[]
  held: number
  holdReason: HoldReason | null
  steps: number
}

/** Runs a whole sweep, step by step. */
export async function sweep(store: JobStore, request: SweepRequest = {}): Promise<Sweep> {
  let step = await store.sweepJobs(request)
  const { held, holdReason } = step
  const reaped = [...step.reaped]
  let steps = 1
  while (step.next !== null) {
    if (steps > 1000) throw new Error('this sweep does not end')
    step = await store.sweepJobs({ ...request, cursor: step.next })
    reaped.push(...step.reaped)
    steps += 1
  }
  return { reaped, held, holdReason, steps }
}

/** A job whose worker vanished: claimed, expired, and reaped by a sweep. */
export async function crashOnce(bench: TestBench, job: Lease & { leaseMs: number }): Promise<ReapedJob> {
  await bench.elapse(job.leaseMs + SECOND)
  const { reaped } = await sweep(bench.store)
  const mine = reaped.find(({ jobId }) => jobId === job.jobId)
  if (mine === undefined) throw new Error(`the sweep did not take job ${job.jobId}`)
  return mine
}

export async function startDead(store: JobStore, job: Partial<NewJob> = {}): Promise<string> {
  const claimed = await startOne(store, job)
  await fail(store, claimed, { isRetryable: false })
  return claimed.jobId
}

export async function eventsOf(store: JobStore, jobId: string, type: EventType): Promise<JobEvent[]> {
  const events = await store.listEvents(jobId)
  return events.filter((event) => event.type === type)
}

/** The details of the only event of this type. */
export async function detailsOf(
  store: JobStore,
  jobId: string,
  type: EventType,
): Promise<JobEvent['data']['details']> {
  const [event, ...others] = await eventsOf(store, jobId, type)
  if (event === undefined || others.length > 0) throw new Error(`job ${jobId} has not one event ${type}`)
  return event.data.details
}

export function msBetween(from: Date | null, to: Date | null): number {
  if (from === null || to === null) throw new Error('there is no time to measure from or to')
  return to.getTime() - from.getTime()
}

/** Equal up to the time that calls take. */
export function expectAbout(actualMs: unknown, expectedMs: number): void {
  expect(actualMs).toBeTypeOf('number')
  expect(
    Math.abs(Number(actualMs) - expectedMs),
    `${String(actualMs)} is not about ${expectedMs}`,
  ).toBeLessThan(TOLERANCE_MS)
}

/** Asserts that no field of the job changed. */
export async function expectUnchanged(
  store: JobStore,
  jobId: string,
  act: () => Promise<unknown>,
): Promise<void> {
  const before = await readJob(store, jobId)
  await act()
  expect(await readJob(store, jobId)).toEqual(before)
}

export async function expectLeaseGone(store: JobStore, jobId: string): Promise<void> {
  expect(await readJob(store, jobId)).toMatchObject({
    workerId: null,
    leaseId: null,
    leaseExpiresAt: null,
    deadlineAt: null,
  })
}

export const invalidArgument = { code: 'INVALID_ARGUMENT' }
