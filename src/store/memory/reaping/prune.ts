import type { Job } from '../../../job/job.ts'
import type { PruneRequest, PruneStep } from '../../job-store.ts'
import { checkWhole, requireActing } from '../state/checks.ts'
import { jobsInIdOrder, type MemoryState, type MemoryWorker } from '../state/memory-state.ts'
import { pruneSweeps } from './sweep-history.ts'

const DAY_MS = 86_400_000
const DEFAULT_LIMIT = 1000
const MAX_LIMIT = 10_000
const MOST_OPERATIONS = 20

/** The oldest first. */
export function pruneJobs(state: MemoryState, request: PruneRequest): PruneStep {
  checkWhole(request.limit, 'limit', 1, MAX_LIMIT)
  requireActing(state)
  const limit = request.limit ?? DEFAULT_LIMIT
  const oldestMs = state.nowMs() - (request.retentionDays ?? state.policy.retentionDays) * DAY_MS
  const outdated = jobsInIdOrder(state)
    .filter((job) => isOutdated(job, oldestMs))
    .toSorted((a, b) => endedAt(a).getTime() - endedAt(b).getTime())
    .slice(0, limit)
  for (const { id } of outdated) {
    state.jobs.delete(id)
    state.events.delete(id)
    state.dispatches.delete(id)
  }
  const completed = forgetDeleted(state, oldestMs, limit)
  if (request.cursor === undefined) {
    pruneReports(state, oldestMs, limit)
    pruneOperations(state, limit)
  }
  const last = outdated.length < limit ? undefined : outdated.at(-1)
  const next = last === undefined ? null : endedAt(last).toISOString()
  const isFull = completed === limit
  return {
    deleted: outdated.length + completed,
    next: next ?? (isFull ? (request.cursor ?? '-infinity') : null),
  }
}

/** Deletes the events left of discarded jobs, and of jobs that their completion deleted. Returns the number of the latter. */
function forgetDeleted({ events }: MemoryState, oldestMs: number, limit: number): number {
  const last = Array.from(events, ([jobId, all]) => ({ jobId, event: all.at(-1) }))
  const outdated = last.filter(({ event }) => event !== undefined && event.at.getTime() < oldestMs)
  const discarded = outdated.filter(({ event }) => event?.type === 'discarded').slice(0, limit)
  const completed = outdated.filter(({ event }) => event?.data.details['is_deleted'] === true).slice(0, limit)
  for (const { jobId } of [...discarded, ...completed]) events.delete(jobId)
  return completed.length
}

/** As many workers and deliveries as jobs, the oldest first. */
function pruneReports(state: MemoryState, oldestMs: number, limit: number): void {
  const { workers, deliveries } = state
  pruneSweeps(state)
  const seenMs = ({ seenAt }: MemoryWorker) => seenAt.getTime()
  const silent = [...workers.values()].filter((worker) => seenMs(worker) < oldestMs)
  for (const { workerId } of silent.toSorted((a, b) => seenMs(a) - seenMs(b)).slice(0, limit))
    workers.delete(workerId)
  const old = [...deliveries.values()].filter(({ createdAtMs }) => createdAtMs < oldestMs)
  for (const { deliveryId } of old.toSorted((a, b) => a.createdAtMs - b.createdAtMs).slice(0, limit))
    deliveries.delete(deliveryId)
}

/** Few at a time, as each takes all of its jobs' rows with it. */
function pruneOperations({ operations, nowMs }: MemoryState, limit: number): void {
  const ended = [...operations.values()].filter(
    ({ endedAt }) => endedAt !== null && endedAt.getTime() < nowMs() - 7 * DAY_MS,
  )
  for (const { id } of ended.slice(0, Math.min(limit, MOST_OPERATIONS))) operations.delete(id)
}

function isOutdated(job: Job, oldestMs: number): boolean {
  if (job.status === 'waiting' || job.status === 'running') return false
  return endedAt(job).getTime() < oldestMs
}

function endedAt({ finishedAt, updatedAt, createdAt }: Job): Date {
  return finishedAt ?? updatedAt ?? createdAt
}
