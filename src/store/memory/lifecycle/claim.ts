import { invalidArgument } from '../../../errors/index.ts'
import type { Job } from '../../../job/job.ts'
import type { ClaimedJob } from '../../../job/lease.ts'
import { stageOf } from '../../../job/stage.ts'
import { earlier, maxRuntimeMs, stageDeadlineMs } from '../../../policy/lease/stage-lease.ts'
import type { Policy } from '../../../policy/policy.ts'
import { hasBudget, isLastChance } from '../../../policy/retry/budget.ts'
import type { ActorOption, ClaimOneRequest, ClaimRequest } from '../../job-store.ts'
import { isExpired, planExhausted } from '../reaping/reap-plan.ts'
import { writePlan } from '../reaping/write-plan.ts'
import { checkWhole, requireActing } from '../state/checks.ts'
import { compareClaimOrder } from '../state/job-table.ts'
import {
  actedBy,
  changeJob,
  countsOf,
  dueMs,
  leaseMsOf,
  type MemoryState,
  recordEvent,
} from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'
import { admitJob, isAdmitting, isSurelyAdmitted } from './admit-job.ts'
import { isIdle, isLate, keepWorker, keptJob, reserveWorker } from './last-chance.ts'
import { hasLimits, hasPlace, heldBackQueues, inTurns, noteTurns, precedesInGroup } from './turns.ts'

const MAX_CLAIM_LIMIT = 10_000

/** One lease id serves the whole call: job id and lease id together are unique. */
interface Grant {
  nowMs: number
  policy: Policy
  leaseId: string
  request: ClaimOneRequest & ActorOption
}

export function claimJobs(state: MemoryState, request: ClaimRequest): ClaimedJob[] {
  checkWhole(request.limit, 'limit', 1, MAX_CLAIM_LIMIT)
  const grant = prepareGrant(state, request)
  const kept = keptJob(state, request.workerId, grant.nowMs)
  if (!state.jobs.hasDue(grant.nowMs)) return []
  const queues = new Set(request.queues)
  const types = request.types === undefined ? undefined : new Set(request.types)
  const isAsked = (job: Job) => queues.has(job.queue) && types?.has(job.type) !== false
  const isLimited = hasLimits(state)
  const enough = kept === null && !isLimited ? request.limit : Number.POSITIVE_INFINITY
  const asked = listDue(state, grant, isAsked, enough)
  const inOrder = (jobs: Job[]) =>
    isLimited ? inTurns(state, jobs, (job) => isSpent(state, grant, job)) : jobs
  const due = inOrder(asked)
  if (kept !== null) {
    const claimed = asked.some(({ id }) => id === kept) ? claimJob(state, kept, request) : 'not-claimable'
    return claimed === 'not-claimable' ? [] : [claimed]
  }
  // A last chance that this claim leaves to another worker takes no place.
  const withoutLast = () => inOrder(asked.filter((job) => !hasLastChance(grant, job)))
  const { taken, claimed, isFull, read = taken } = takeDue(state, grant, { due, withoutLast }, request.limit)
  const left = due.filter((job) => isSpent(state, grant, job) && isAdmitting(state, job.queue, grant.nowMs))
  const isMet = (job: Job) => !isFull || isBefore(job, read) || precedesInGroup(state, job, read)
  const met = left.filter(isMet)
  for (const job of met) writePlan(state, grant, planExhausted(grant, job))
  noteTurns(state, taken)
  if (isLimited && !isFull) {
    const isLeft = ({ id, queue }: Job) =>
      state.jobs.get(id)?.status === 'waiting' && isAdmitting(state, queue, grant.nowMs)
    const heldBack = heldBackQueues(state, asked.filter(isLeft))
    if (heldBack.length > 0) request.onHeldBack?.(heldBack)
  }
  return claimed
}

/** The due jobs in their order, as far as a claim of so many can get: to the last of as many that nothing refuses. */
function listDue(state: MemoryState, grant: Grant, isAsked: (job: Job) => boolean, limit: number): Job[] {
  const due: Job[] = []
  let sure = 0
  for (const job of state.jobs.due(grant.nowMs)) {
    if (!isAsked(job)) continue
    due.push(job)
    const isOpen = !isSpent(state, grant, job) && !hasLastChance(grant, job)
    if (isOpen && isSurelyAdmitted(state, job.queue, grant.nowMs) && ++sure === limit) break
  }
  return due
}

export function hasDueJobs(state: MemoryState, queues: string[]): boolean {
  const nowMs = state.nowMs()
  for (const { queue } of state.jobs.due(nowMs))
    if (queues.includes(queue) && isAdmitting(state, queue, nowMs)) return true
  return false
}

interface Taken {
  taken: Job[]
  claimed: ClaimedJob[]
  isFull: boolean
  /** Jobs up to the limit: the claim has met the spent jobs before them, also if it takes a last chance alone. Default: `taken`. */
  read?: Job[]
}

function takeDue(
  state: MemoryState,
  grant: Grant,
  { due, withoutLast }: { due: Job[]; withoutLast: () => Job[] },
  limit: number,
): Taken {
  const { request, nowMs } = grant
  const isOpen = (job: Job) => !isSpent(state, grant, job) && isAdmitting(state, job.queue, nowMs)
  const take = (jobs: Job[]) => {
    const taken: Job[] = []
    for (const job of jobs) if (taken.length < limit && admitJob(state, job, nowMs)) taken.push(job)
    return { taken, claimed: taken.map((job) => grantLease(state, grant, job)) }
  }
  const met = meetLastChance(due.filter(isOpen), limit, (job) => hasLastChance(grant, job))
  const isNext = met?.isFirst === true || (met?.before.length === 0 && isLate(met.job, nowMs))
  if (met !== null && isNext && isIdle(state, request.workerId)) {
    const claimed = grantAlone(state, grant, met.job)
    if (claimed.length > 0) return { taken: [met.job], claimed, isFull: true, read: met.read }
  } else if (met !== null && reserveWorker(state, request.workerId, met.job, nowMs)) {
    // Its other slots stay empty: with all of them taken, it would not ask for jobs again while it is kept.
    const { taken, claimed } = take(met.before)
    return { taken: [...taken, met.job], claimed, isFull: true, read: met.read }
  }
  const { taken, claimed } = take(withoutLast().filter(isOpen))
  return { taken, claimed, isFull: claimed.length === limit }
}

interface MetLastChance {
  job: Job
  /** Jobs of earlier priorities. */
  before: Job[]
  /** Jobs up to the limit, of its priority and earlier ones. */
  read: Job[]
  /** Whether it is the first choice of the claim. */
  isFirst: boolean
}

/** The first last-chance job of a claim, which goes by priority. */
function meetLastChance(
  due: Job[],
  limit: number,
  hasLastChance: (job: Job) => boolean,
): MetLastChance | null {
  const before: Job[] = []
  for (const priority of new Set(due.map((job) => job.priority))) {
    const head = due.filter((job) => job.priority === priority).slice(0, limit - before.length)
    const job = head.find(hasLastChance)
    if (job !== undefined)
      return { job, before, read: [...before, ...head], isFirst: before.length === 0 && job === head[0] }
    before.push(...head)
    if (before.length === limit) return null
  }
  return null
}

/** A claim reads the queues of a priority side by side, each until it has its share. */
function isBefore(job: Job, taken: Job[]): boolean {
  const lastPriority = taken.at(-1)?.priority ?? job.priority
  const isPassed = (other: Job) => other.queue === job.queue && compareClaimOrder(job, other) < 0
  return job.priority < lastPriority || taken.some(isPassed)
}

/** A job whose next crash would end it, if its worker is idle. */
function grantAlone(state: MemoryState, grant: Grant, job: Job): ClaimedJob[] {
  const { workerId } = grant.request
  if (!isIdle(state, workerId) || !admitJob(state, job, grant.nowMs)) return []
  keepWorker(state, workerId, job, { leaseId: grant.leaseId, seenAtMs: grant.nowMs })
  return [grantLease(state, grant, job)]
}

export function claimJob(
  state: MemoryState,
  jobId: string,
  request: ClaimOneRequest,
): ClaimedJob | 'not-claimable' {
  const grant = prepareGrant(state, request)
  const job = state.jobs.get(jobId)
  const kept = keptJob(state, request.workerId, grant.nowMs)
  if (job === undefined || !isDue(grant, job) || (kept ?? jobId) !== jobId) return 'not-claimable'
  if (isSpent(state, grant, job)) {
    if (isAdmitting(state, job.queue, grant.nowMs)) writePlan(state, grant, planExhausted(grant, job))
    return 'not-claimable'
  }
  if (!hasPlace(state, job)) return 'not-claimable'
  if (hasLastChance(grant, job)) return grantAlone(state, grant, job)[0] ?? 'not-claimable'
  return admitJob(state, job, grant.nowMs) ? grantLease(state, grant, job) : 'not-claimable'
}

function prepareGrant(state: MemoryState, request: ClaimOneRequest): Grant {
  if (typeof request.workerId !== 'string' || request.workerId === '')
    throw invalidArgument('workerId', request.workerId, 'a text that is not empty')
  const policy = policyOf(state.policy, request.policy)
  requireActing(state)
  let leaseId: string | undefined
  return {
    nowMs: state.nowMs(),
    policy,
    request,
    // Most claims of an idle worker grant nothing.
    get leaseId() {
      leaseId ??= state.createUuid()
      return leaseId
    },
  }
}

// Lease fields are ignored: leftovers of an older worker must not hide a waiting job.
function isDue({ nowMs }: Pick<Grant, 'nowMs'>, job: Job): boolean {
  return job.status === 'waiting' && dueMs(job) <= nowMs
}

/** Whether its next crash would end it. */
function hasLastChance({ policy }: Pick<Grant, 'policy'>, job: Job): boolean {
  return isLastChance(policy, countsOf(policy, job))
}

/** Not claimable because its maximum was lowered, or it expired. The first claim that finds it ends it (C10). */
function isSpent({ judgesWaiting }: MemoryState, { policy, nowMs }: Grant, job: Job): boolean {
  return isExpired(job, nowMs) || (judgesWaiting && !hasBudget(policy, countsOf(policy, job)))
}

function grantLease(state: MemoryState, grant: Grant, job: Job): ClaimedJob {
  const { nowMs, policy, request } = grant
  const now = new Date(nowMs)
  const deadlineMs = earlier(
    stageDeadlineMs(policy, stageOf(job, policy.defaultStage)),
    maxRuntimeMs(policy, job.type),
  )
  const leaseMs = Math.min(request.leaseMs ?? leaseMsOf(policy, job), deadlineMs ?? Number.POSITIVE_INFINITY)
  const claimed = changeJob(state, job, {
    status: 'running',
    workerId: request.workerId,
    leaseId: grant.leaseId,
    leaseExpiresAt: new Date(nowMs + leaseMs),
    deadlineAt: deadlineMs === null ? null : new Date(nowMs + deadlineMs),
    fence: job.fence + 1,
    attempt: job.attempt + (policy.attemptCountedAt === 'claim' ? 1 : 0),
    startedAt: job.startedAt ?? now,
    lastAttemptAt: now,
    heartbeatAt: now,
    updatedAt: now,
    runAt: null,
    reapedAt: null,
    progress: null,
  })
  recordClaim(state, grant, claimed, job.reapedAt)
  const isRescue = job.reapedAt !== null
  const runsAlone = isLastChance(policy, countsOf(policy, job))
  const waitedMs = nowMs - (job.runAt ?? job.createdAt).getTime()
  return { waitedMs, isRescue, runsAlone, ...describeClaim(grant, claimed, leaseMs, deadlineMs) }
}

/** The first claim after a reap always writes an event: the time to rescue is measured by it. */
function recordClaim(state: MemoryState, grant: Grant, claimed: Job, reapedAt: Date | null): void {
  if (reapedAt === null && grant.policy.events !== 'all') return
  const rescue = reapedAt === null ? {} : { rescued_after_ms: grant.nowMs - reapedAt.getTime() }
  const { workerId, attempt, fence } = claimed
  const details = { worker_id: workerId, attempt, fence, ...rescue, ...actedBy(grant.request) }
  recordEvent(state, grant.nowMs, { jobId: claimed.id, type: 'processing', details })
}

function describeClaim(
  { policy, leaseId, nowMs }: Grant,
  job: Job,
  leaseMs: number,
  deadlineMs: number | null,
): Omit<ClaimedJob, 'waitedMs' | 'isRescue' | 'runsAlone'> {
  return {
    jobId: job.id,
    leaseId,
    type: job.type,
    queue: job.queue,
    payload: structuredClone(job.payload),
    priority: job.priority,
    stage: stageOf(job, policy.defaultStage),
    owner: job.owner,
    fence: job.fence,
    ...countsOf(policy, job),
    generation: job.generation,
    createdAt: new Date(job.createdAt),
    startedAt: new Date(job.startedAt ?? nowMs),
    expectedDurationMs: job.expectedDurationMs,
    leaseMs,
    deadlineMs,
    traceparent: job.traceparent,
  }
}
