// Jobs whose next crash would end them run alone. An idle worker takes one and nothing else, from 30 s after its due time on also
// before older jobs; if none is idle by then, a worker finishes its other jobs first. One worker per queue at a time (REAP-15).
import type { Job } from '../../../job/job.ts'
import { dueMs, type KeptWorker, type MemoryState } from '../state/memory-state.ts'
import { isAdmitting } from './admit-job.ts'

/** Same as the SQL function reservation_ms: how long such a job is due before a worker is reserved, and a reservation lasts. */
const RESERVATION_MS = 30_000
/** Longer than any worker waits between two claims. */
const FORGET_MS = 60 * 60_000

export function isIdle(state: MemoryState, workerId: string): boolean {
  for (const job of state.jobs.running()) if (job.workerId === workerId) return false
  return true
}

/**
 * The job that this worker runs alone or is reserved for; null if it may take any. A reservation that has lapsed still counts for its
 * own worker: a busy one stays reserved unless another one is by now, and an idle one tries to take the job once more.
 */
export function keptJob(state: MemoryState, workerId: string, nowMs: number): string | null {
  const kept = state.keptWorkers.get(workerId)
  if (kept === undefined) return null
  const { jobId, queue, leaseId } = kept
  const isReserved = leaseId === null
  const isFree = isReserved && isIdle(state, workerId)
  const lapsed = isReserved && hasLapsed(kept, nowMs)
  const isTaken = lapsed && !isFree && hasReservedWorker(state, queue, nowMs)
  const isJobKept = isUsable(state, kept, nowMs) && !isTaken
  if (!isJobKept || (isFree && lapsed)) state.keptWorkers.delete(workerId)
  else if (isReserved && !isFree) state.keptWorkers.set(workerId, { ...kept, seenAtMs: nowMs })
  return isJobKept ? jobId : null
}

const hasLapsed = ({ seenAtMs }: KeptWorker, nowMs: number) => seenAtMs <= nowMs - RESERVATION_MS

/** Whether the job still runs alone, or could. */
function isUsable(state: MemoryState, { jobId, leaseId }: KeptWorker, nowMs: number): boolean {
  const job = state.jobs.get(jobId)
  if (leaseId !== null) return job?.leaseId === leaseId
  return job?.status === 'waiting' && dueMs(job) <= nowMs && isAdmitting(state, job.queue, nowMs)
}

/** Whether a worker is reserved for this job now. */
function isHeld(state: MemoryState, kept: KeptWorker, nowMs: number): boolean {
  return kept.leaseId === null && !hasLapsed(kept, nowMs) && isUsable(state, kept, nowMs)
}

export function keepWorker(
  state: MemoryState,
  workerId: string,
  job: Job,
  kept: Omit<KeptWorker, 'jobId' | 'queue'>,
): void {
  state.keptWorkers.set(workerId, { jobId: job.id, queue: job.queue, ...kept })
}

/** Whether a job with a last chance has waited for its turn long enough: an idle worker takes it at once, a busy one is reserved. */
export const isLate = (job: Job, nowMs: number) => dueMs(job) <= nowMs - RESERVATION_MS

/** Reserves this worker if no idle one took the job in time: it takes no more jobs until it is idle. */
export function reserveWorker(state: MemoryState, workerId: string, job: Job, nowMs: number): boolean {
  if (!isLate(job, nowMs) || hasReservedWorker(state, job.queue, nowMs)) return false
  keepWorker(state, workerId, job, { leaseId: null, seenAtMs: nowMs })
  return true
}

function hasReservedWorker(state: MemoryState, queue: string, nowMs: number): boolean {
  return [...state.keptWorkers.values()].some(
    (kept) => kept.queue === queue && kept.leaseId === null && !hasLapsed(kept, nowMs),
  )
}

/** Waiting jobs for which a worker is reserved. */
export function reservedJobs(state: MemoryState): Job[] {
  const reservations = [...state.keptWorkers.values()].filter((kept) => isHeld(state, kept, state.nowMs()))
  return reservations.flatMap(({ jobId }) => state.jobs.get(jobId) ?? [])
}

/** Rows of workers that died; a live one clears its own with its next claim. */
export function forgetKeptWorkers(state: MemoryState, nowMs: number): void {
  for (const [workerId, { jobId, leaseId, seenAtMs }] of state.keptWorkers) {
    const job = state.jobs.get(jobId)
    const mayClaim = job?.status === 'waiting' && seenAtMs > nowMs - FORGET_MS
    if (leaseId === null ? !mayClaim : job?.leaseId !== leaseId) state.keptWorkers.delete(workerId)
  }
}

/** The worker reserved for this job. */
export function keptWorkerOf(state: MemoryState, jobId: string, nowMs: number): string | null {
  const found = [...state.keptWorkers].find(([, kept]) => kept.jobId === jobId && isHeld(state, kept, nowMs))
  return found?.[0] ?? null
}
