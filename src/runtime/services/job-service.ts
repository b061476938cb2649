// The calls that documents 001 and 002 name, which identify a job by its id alone. They use this process's own lease of the
// job: a call for a job that this process does not hold changes nothing.
import { isUnstuckError } from '../../errors/index.ts'
import type { ClaimedJob, HeartbeatAnswer, Lease } from '../../job/lease.ts'
import type { CompleteOutcome, FailOutcome } from '../../job/outcome.ts'
import type { JobStore } from '../../store/job-store.ts'
import { type ReaperResult, runSweep } from './run-sweep.ts'

export type ServiceResult<T> = { ok: true; value: T } | { ok: false; error: string; code?: string }

export interface FinishDetails {
  code?: string
  reason?: string
}

export interface JobService {
  claimJob(id: string, workerId: string, leaseSec: number): Promise<ServiceResult<ClaimedJob>>
  heartbeatJob(id: string, workerId: string, leaseSec: number): Promise<ServiceResult<HeartbeatAnswer>>
  finishJob(
    id: string,
    success: boolean,
    details?: FinishDetails,
  ): Promise<ServiceResult<CompleteOutcome | FailOutcome>>
  /** Releases unprocessed jobs and returns how many. An empty list runs no query. */
  releaseJobs(ids: string[]): Promise<number>
  reapJobs(): Promise<ServiceResult<ReaperResult>>
}

type HeldLease = Lease & { workerId: string }

export function createJobService(store: JobStore): JobService {
  const held = new Map<string, HeldLease>()

  return {
    claimJob: (id, workerId, leaseSec) =>
      answered(async () => {
        const claimed = await store.claimJob(id, { workerId, leaseMs: leaseSec * 1000 })
        if (claimed === 'not-claimable') return refused(`job ${id} cannot be claimed now`, 'NOT_CLAIMABLE')
        held.set(id, { jobId: id, leaseId: claimed.leaseId, workerId })
        return { ok: true, value: claimed }
      }),

    heartbeatJob: (id, workerId, leaseSec) =>
      answered(async () => {
        const lease = held.get(id)
        if (lease === undefined || lease.workerId !== workerId) return notHeld(id)
        const { answers } = await store.heartbeatJobs([lease], { leaseMs: leaseSec * 1000 })
        const answer = answers[0]?.answer ?? 'lost'
        if (answer === 'lost' || answer === 'finished') held.delete(id)
        return answer === 'lost' ? notHeld(id) : { ok: true, value: answer }
      }),

    finishJob: (id, success, details = {}) =>
      answered<CompleteOutcome | FailOutcome>(async () => {
        const lease = held.get(id)
        if (lease === undefined) return notHeld(id)
        const [settled] = success
          ? await store.completeJobs([lease])
          : await store.failJobs([{ ...lease, ...details }])
        held.delete(id)
        const outcome = settled?.outcome ?? 'lease-lost'
        return outcome === 'lease-lost' || outcome === 'not-found'
          ? notHeld(id)
          : { ok: true, value: outcome }
      }),

    async releaseJobs(ids) {
      const leases = ids.map((id) => held.get(id)).filter((lease) => lease !== undefined)
      if (leases.length === 0) return 0
      const settled = await store.releaseJobs(leases)
      for (const { jobId } of leases) held.delete(jobId)
      return settled.filter(({ outcome }) => outcome === 'released').length
    },

    reapJobs: () =>
      answered(async () => {
        const { requeuedIds, failedIds } = await runSweep(store)
        return { ok: true, value: { requeuedIds, failedIds } }
      }),
  }
}

const refused = (error: string, code: string) => ({ ok: false, error, code }) as const

const notHeld = (id: string) => refused(`this process does not hold the lease of job ${id}`, 'LEASE_LOST')

/** Errors of the store become values too, as document 001 prescribes. Bugs still throw. */
async function answered<T>(run: () => Promise<ServiceResult<T>>): Promise<ServiceResult<T>> {
  try {
    return await run()
  } catch (error) {
    if (!isUnstuckError(error)) throw error
    return refused(error.message, error.code)
  }
}
