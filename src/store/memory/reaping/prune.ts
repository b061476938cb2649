import type { Job } from '../../../job/job.ts'
import type { PruneRequest, PruneStep } from '../../job-store.ts'
import { checkWhole, requireActing } from '../state/checks.ts'
import { jobsInIdOrder, type MemoryState } from '../state/memory-state.ts'
import { pruneSweeps } from './sweep-history.ts'

const DAY_MS = 86_400_000
const DEFAULT_LIMIT = 1000
const MAX_LIMIT = 10_000

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
    pruneReports(state, oldestMs)
    pruneOperations(state)
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
  const discarded = outdated.filter(({ event }) => event?.type === 'discarded')
  const completed = outdated.filter(({ event }) => event?.data.details['is_deleted'] === true).slice(0, limit)
  for (const { jobId } of [...discarded, ...completed]) events.delete(jobId)
  return completed.length
}

function pruneReports(state: MemoryState, oldestMs: number): void {
  const { workers, deliveries } = state
  pruneSweeps(state)
  for (const { workerId, seenAt } of workers.values())
    if (seenAt.getTime() < oldestMs) workers.delete(workerId)
  for (const { deliveryId, createdAtMs } of deliveries.values())
    if (createdAtMs < oldestMs) deliveries.delete(deliveryId)
}

function pruneOperations({ operations, nowMs }: MemoryState): void {
  for (const { id, endedAt } of operations.values())
    if (endedAt !== null && endedAt.getTime() < nowMs() - 7 * DAY_MS) operations.delete(id)
}

function isOutdated(job: Job, oldestMs: number): boolean {
  if (job.status === 'waiting' || job.status === 'running') return false
  return endedAt(job).getTime() < oldestMs
}

function endedAt({ finishedAt, updatedAt, createdAt }: Job): Date {
  return finishedAt ?? updatedAt ?? createdAt
}
