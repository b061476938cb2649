// Changes of many jobs at once. A step is one turn of the event loop, as it is one transaction in SQL.

import { invalidArgument } from '../../../errors/index.ts'
import type { Job } from '../../../job/job.ts'
import { COUNT_LIMIT } from '../../ports/call-options.ts'
import {
  type AbortedOperation,
  type BegunOperation,
  type HeldOperation,
  type ListOperationsOptions,
  MAX_OPERATION_JOBS,
  type NewOperation,
  type Operation,
  type OperationEnd,
  type OperationEnds,
  type OperationJob,
  type OperationLease,
  type OperationPage,
  type OperationProgress,
  type OperationStep,
  type OperationStore,
} from '../../ports/operation-store.ts'
import type { JobFilter } from '../../ports/reading-store.ts'
import { checkFilter, fits } from '../reading/list-jobs.ts'
import { checkCountLimit, checkWhole, requireActing } from '../state/checks.ts'
import { jobsInIdOrder, type MemoryOperation, type MemoryState } from '../state/memory-state.ts'
import { changeSelected, isUntouched } from './change-selected.ts'

const YEAR_MS = 31_536_000_000
const LEASE_MS = 30_000
const MIN_SAMPLE = 20
const ACTIONS = ['retry', 'run-now', 'cancel', 'discard', 'redrive']
const CHANGES: ReadonlySet<string> = new Set(['retried', 'due', 'cancelled', 'cancel-requested', 'discarded'])

export function bindOperationVerbs(state: MemoryState): OperationStore {
  return {
    beginOperation: async (request) => beginOperation(state, request),
    takeOperation: async ({ leaseMs } = {}) => takeOperation(state, leaseMs),
    stepOperation: async (lease, step) => stepOperation(state, lease, step),
    giveBackOperation: async (lease) => {
      const held = findHeld(state, lease)
      if (held !== undefined) change(state, held, { leaseId: null, leaseEndsAtMs: null })
      return held !== undefined
    },
    endOperation: async (lease, end) => {
      const held = findHeld(state, lease)
      return held === undefined ? 'lease-lost' : shown(state, endOperation(state, held, end))
    },
    abortOperation: async (operationId, { owner } = {}) => abortOperation(state, operationId, owner),
    readOperation: async (operationId, { owner } = {}) => {
      const found = findOwned(state, operationId, owner)
      return found === undefined ? null : shown(state, found)
    },
    listOperations: async (options = {}) => listOperations(state, options),
    countOperationEnds: async (operationId) => countEnds(state, operationId),
    listOperationJobs: async (operationId, { limit, cursor = 0 } = {}) => {
      checkWhole(limit, 'limit', 1, 1_000)
      const all = state.operations.get(operationId)?.jobs ?? []
      const jobs = all.filter(({ position }) => position > cursor).slice(0, limit ?? 100)
      const shownJobs = jobs.map((job) => ({ ...job, status: statusOf(state, job.jobId) }))
      return { jobs: shownJobs, next: jobs.length < (limit ?? 100) ? null : (jobs.at(-1)?.position ?? null) }
    },
  }
}

function beginOperation(state: MemoryState, request: NewOperation): BegunOperation {
  checkOperation(request)
  if (request.isPlan !== true) requireActing(state)
  const nowMs = state.nowMs()
  const asOf = new Date(Math.min(request.asOf?.getTime() ?? nowMs, nowMs))
  const { chosen, isCut } = choose(state, request, asOf)
  const total = chosen.length
  if (total > MAX_OPERATION_JOBS) return { outcome: 'too-many', total }
  const expected = request.expect ?? total
  if (expected < total || (expected !== total && !isCut)) return { outcome: 'unexpected', total }
  if (request.isPlan === true) return { outcome: 'planned', total, asOf, atLeast: isCut ? ['total'] : [] }
  const { leaseMs } = request
  const leaseId = leaseMs === undefined ? null : state.createUuid()
  const operation: MemoryOperation = {
    id: state.createJobId(nowMs),
    action: request.action,
    q: request.q,
    causeId: request.filter.causeId ?? null,
    asOf,
    actor: request.actor ?? null,
    owner: request.owner ?? null,
    reason: request.reason ?? null,
    canary: request.canary ?? 0,
    ratePerS: request.ratePerS ?? null,
    keepAttempts: request.keepAttempts ?? false,
    queues: [...new Set(chosen.map(({ queue }) => queue))],
    state: 'running',
    phase: null,
    phaseAtMs: null,
    total,
    changed: 0,
    refused: 0,
    succeeded: 0,
    failed: 0,
    stopped: null,
    beganAt: new Date(nowMs),
    endedAt: null,
    leaseId,
    leaseEndsAtMs: leaseMs === undefined ? null : nowMs + leaseMs,
    jobs: chosen.map(({ id }, index) => ({ jobId: id, position: index + 1, outcome: null })),
  }
  state.operations.set(operation.id, operation)
  return { outcome: 'begun', total, operation: shown(state, operation), leaseId }
}

function checkOperation(request: NewOperation): void {
  const { action, q, ratePerS } = request
  if (!ACTIONS.includes(action)) throw invalidArgument('action', action, ACTIONS.join(', '))
  if (q === '' || q.length > 2_000) throw invalidArgument('q', q, '1 to 2000 characters')
  checkFilter(request.filter)
  for (const name of ['actor', 'owner', 'reason'] as const) {
    const text = request[name]
    if (text !== undefined && text.length > 500) throw invalidArgument(name, text, 'at most 500 characters')
  }
  if (ratePerS !== undefined && !(ratePerS >= 0.01 && ratePerS <= 10_000))
    throw invalidArgument('ratePerS', ratePerS, 'a number from 0.01 to 10000')
  checkWhole(request.canary, 'canary', 0, 1_000)
  checkWhole(request.limit, 'limit', 1, MAX_OPERATION_JOBS)
  checkWhole(request.expect, 'expect', 0, 2_147_483_647)
  checkWhole(request.leaseMs, 'leaseMs', 1, YEAR_MS)
  if (request.countLimit !== undefined) checkCountLimit(request.countLimit)
}

interface Chosen {
  chosen: Job[]
  /** More jobs may match: a plan has read as many as it may. */
  isCut: boolean
}

/** Oldest first: jobs that match, that the action can change, and that did not change since. */
function choose(state: MemoryState, request: NewOperation, asOf: Date): Chosen {
  const { action, filter, owner, limit = MAX_OPERATION_JOBS + 1, isPlan, countLimit = COUNT_LIMIT } = request
  const requested: JobFilter = { ...filter, ...(owner === undefined ? {} : { owner }) }
  if (owner !== undefined && (filter.owner ?? owner) !== owner) return { chosen: [], isCut: false }
  const candidates = jobsInIdOrder(state).filter((job) => canChange(action, job))
  const read = isPlan === true ? candidates.slice(-countLimit) : candidates
  const chosen = read
    .filter((job) => fits(state, job, requested) && isUntouched(action, asOf, job))
    .slice(0, limit)
  return { chosen, isCut: read.length < candidates.length && chosen.length < limit }
}

function canChange(action: NewOperation['action'], { status }: Job): boolean {
  if (action === 'cancel') return status === 'waiting' || status === 'running'
  if (action === 'run-now') return status === 'waiting'
  return action === 'discard' ? status !== 'running' : status === 'dead'
}

function takeOperation(state: MemoryState, leaseMs = LEASE_MS): HeldOperation | null {
  checkWhole(leaseMs, 'leaseMs', 1, YEAR_MS)
  if (state.mode.mode === 'observe') return null
  const nowMs = state.nowMs()
  const free = [...state.operations.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .find((each) => each.state === 'running' && (each.leaseEndsAtMs ?? 0) <= nowMs)
  if (free === undefined) return null
  const leaseId = state.createUuid()
  const taken = change(state, free, { leaseId, leaseEndsAtMs: nowMs + leaseMs })
  return { operation: shown(state, taken), leaseId }
}

function stepOperation(
  state: MemoryState,
  lease: OperationLease,
  { limit, phase, leaseMs = LEASE_MS, sourceGone = [] }: OperationStep,
): OperationProgress | 'lease-lost' {
  checkWhole(limit, 'limit', 0, 1_000)
  checkWhole(leaseMs, 'leaseMs', 1, YEAR_MS)
  const held = findHeld(state, lease)
  if (held === undefined) return 'lease-lost'
  const next = held.jobs.filter(({ outcome }) => outcome === null).slice(0, limit)
  const outcomes = changeSelected(
    state,
    held,
    next.map(({ jobId }) => jobId).filter((jobId) => !sourceGone.includes(jobId)),
  )
  for (const { jobId } of next) if (sourceGone.includes(jobId)) outcomes.set(jobId, 'source-gone')
  const jobs = held.jobs.map((each) => ({ ...each, outcome: outcomes.get(each.jobId) ?? each.outcome }))
  const changed = [...outcomes.values()].filter((outcome) => CHANGES.has(outcome)).length
  const nowMs = state.nowMs()
  const isNewPhase = phase !== undefined && phase !== held.phase
  const stepped = change(state, held, {
    jobs,
    changed: held.changed + changed,
    refused: held.refused + next.length - changed,
    leaseEndsAtMs: nowMs + leaseMs,
    ...(isNewPhase ? { phase, phaseAtMs: nowMs } : {}),
  })
  const { sample, ...fate } = watch(state, stepped)
  return { operation: shown(state, change(state, stepped, fate)), sample }
}

/** A retry clears error and crashes, so an error found now is new, even if the job is not dead again yet. */
function watch(
  state: MemoryState,
  { action, canary, jobs }: MemoryOperation,
): { sample: number; succeeded: number; failed: number } {
  if (action !== 'redrive') return { sample: 0, succeeded: 0, failed: 0 }
  const sample = jobs
    .filter(({ outcome }) => outcome === 'retried')
    .slice(0, Math.max(MIN_SAMPLE, canary))
    .map(({ jobId }) => ({ jobId, job: state.jobs.get(jobId) }))
  const failed = sample.filter(({ job }) => job !== undefined && hasFailedAgain(job)).length
  const succeeded = sample.filter(
    ({ job, jobId }) => job?.status === 'succeeded' || isCompletedAndDeleted(state, jobId),
  ).length
  return { sample: sample.length, succeeded, failed }
}

const CHANGED = ['retried', 'due', 'cancelled', 'cancel-requested', 'discarded']
const MAX_COUNTED = 10_000

function statusOf(state: MemoryState, jobId: string): OperationJob['status'] {
  const job = state.jobs.get(jobId)
  if (job !== undefined) return job.status
  return isCompletedAndDeleted(state, jobId) ? 'succeeded' : 'deleted'
}

function countEnds(state: MemoryState, operationId: string): OperationEnds {
  const all = state.operations.get(operationId)?.jobs ?? []
  const ends = { waiting: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, deleted: 0 }
  for (const { jobId, outcome } of all.slice(0, MAX_COUNTED))
    if (outcome !== null && CHANGED.includes(outcome)) ends[statusOf(state, jobId)] += 1
  return { ...ends, isComplete: all.length <= MAX_COUNTED }
}

function isCompletedAndDeleted(state: MemoryState, jobId: string): boolean {
  return state.events.get(jobId)?.at(-1)?.data.details['is_deleted'] === true
}

function hasFailedAgain({ status, error, crashes, timeouts }: Job): boolean {
  if (status === 'succeeded' || status === 'cancelled') return false
  return status === 'dead' || error !== null || crashes + timeouts > 0
}

function endOperation(
  state: MemoryState,
  operation: MemoryOperation,
  { state: ended, stopped }: OperationEnd,
): MemoryOperation {
  return change(state, operation, {
    state: ended,
    stopped: stopped ?? null,
    endedAt: new Date(state.nowMs()),
    leaseId: null,
    leaseEndsAtMs: null,
  })
}

function abortOperation(state: MemoryState, id: string, owner: string | undefined): AbortedOperation {
  const found = findOwned(state, id, owner)
  if (found === undefined) return { outcome: 'not-found', operation: null }
  if (found.state !== 'running') return { outcome: 'already-ended', operation: shown(state, found) }
  const stopped = endOperation(state, found, { state: 'stopped', stopped: 'interrupted' })
  return { outcome: 'stopped', operation: shown(state, stopped) }
}

function listOperations(state: MemoryState, { owner, limit, cursor }: ListOperationsOptions): OperationPage {
  checkWhole(limit, 'limit', 1, 1_000)
  if (cursor !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(cursor))
    throw invalidArgument('cursor', cursor, 'the id of an operation')
  const operations = [...state.operations.values()]
    .filter((each) => owner === undefined || each.owner === owner)
    .filter(({ id }) => cursor === undefined || id < cursor)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit ?? 100)
    .map((each) => shown(state, each))
  return { operations, next: operations.length < (limit ?? 100) ? null : (operations.at(-1)?.id ?? null) }
}

function findOwned(state: MemoryState, id: string, owner: string | undefined): MemoryOperation | undefined {
  const found = state.operations.get(id)
  return owner === undefined || found?.owner === owner ? found : undefined
}

function findHeld(state: MemoryState, { operationId, leaseId }: OperationLease): MemoryOperation | undefined {
  const found = state.operations.get(operationId)
  return found?.state === 'running' && found.leaseId === leaseId ? found : undefined
}

function change(
  state: MemoryState,
  operation: MemoryOperation,
  fields: Partial<MemoryOperation>,
): MemoryOperation {
  const changed = { ...operation, ...fields }
  state.operations.set(operation.id, changed)
  return changed
}

function shown(state: MemoryState, operation: MemoryOperation): Operation {
  const { owner: _o, phaseAtMs, leaseId: _l, leaseEndsAtMs: _e, jobs: _j, ...rest } = operation
  return structuredClone({ ...rest, phaseMs: phaseAtMs === null ? null : state.nowMs() - phaseAtMs })
}
