// Jobs whose next crash would end them run alone. An idle worker takes one and nothing else; if none is idle for 30 s, a
// worker finishes its other jobs first. One worker per queue at a time (REAP-15).
import type { Job } from '../../../job/job.ts'
import { dueMs, type KeptWorker, type MemoryState } from '../state/memory-state.ts'
import { isAdmitting } from './admit-job.ts'

/** Same as the SQL function reservation_ms: how long such a job is due before a worker is reserved, and a reservation lasts. */
const RESERVATION_MS = 30_000

export function isIdle(state: MemoryState, workerId: string): boolean {
  for (const job of state.jobs.running()) if (job.workerId === workerId) return false
  return true
}

/** The job that this worker runs alone or is reserved for; null if it may take any. */
export function keptJob(state: MemoryState, workerId: string, nowMs: number): string | null {
  const kept = state.keptWorkers.get(workerId)
  if (kept === undefined) return null
  if (!isKept(state, kept, nowMs)) {
    state.keptWorkers.delete(workerId)
    return null
  }
  if (kept.leaseId === null && !isIdle(state, workerId))
    state.keptWorkers.set(workerId, { ...kept, seenAtMs: nowMs })
  return kept.jobId
}

function isKept(state: MemoryState, { jobId, leaseId, seenAtMs }: KeptWorker, nowMs: number): boolean {
  const job = state.jobs.get(jobId)
  if (leaseId !== null) return job?.leaseId === leaseId
  if (job?.status !== 'waiting' || seenAtMs <= nowMs - RESERVATION_MS) return false
  return dueMs(job) <= nowMs && isAdmitting(state, job.queue, nowMs)
}

export function keepWorker(
  state: MemoryState,
  workerId: string,
  job: Job,
  kept: Omit<KeptWorker, 'jobId' | 'queue'>,
): void {
  state.keptWorkers.set(workerId, { jobId: job.id, queue: job.queue, ...kept })
}

/** Reserves this worker if no idle one took the job in time: it takes no more jobs until it is idle. */
export function reserveWorker(state: MemoryState, workerId: string, job: Job, nowMs: number): boolean {
  const isReserved = [...state.keptWorkers.values()].some(
    ({ queue, leaseId, seenAtMs }) =>
      queue === job.queue && leaseId === null && seenAtMs > nowMs - RESERVATION_MS,
  )
  if (dueMs(job) > nowMs - RESERVATION_MS || isReserved) return false
  keepWorker(state, workerId, job, { leaseId: null, seenAtMs: nowMs })
  return true
}

/** Waiting jobs for which a worker is reserved. */
export function reservedJobs(state: MemoryState): Job[] {
  const reservations = [...state.keptWorkers.values()].filter(
    (kept) => kept.leaseId === null && isKept(state, kept, state.nowMs()),
  )
  return reservations.flatMap(({ jobId }) => state.jobs.get(jobId) ?? [])
}

/** Reservations of workers that died; a live one clears its own with its next claim. */
export function forgetKeptWorkers(state: MemoryState, nowMs: number): void {
  for (const [workerId, kept] of state.keptWorkers)
    if (!isKept(state, kept, nowMs)) state.keptWorkers.delete(workerId)
}

/** The worker reserved for this job. */
export function keptWorkerOf(state: MemoryState, jobId: string, nowMs: number): string | null {
  const found = [...state.keptWorkers].find(
    ([, kept]) => kept.jobId === jobId && kept.leaseId === null && isKept(state, kept, nowMs),
  )
  return found?.[0] ?? null
}
