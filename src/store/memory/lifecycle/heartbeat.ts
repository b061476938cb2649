import type { HeartbeatAnswer, Lease } from '../../../job/lease.ts'
import type { HeartbeatOptions, HeartbeatReport } from '../../job-store.ts'
import { reaperAgeMs } from '../reading/health.ts'
import { changeJob, leaseMsOf, type MemoryState } from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'

export function heartbeatJobs(
  state: MemoryState,
  leases: Lease[],
  options: HeartbeatOptions,
): HeartbeatReport {
  const answers = leases.map(({ jobId, leaseId }) => ({
    jobId,
    leaseId,
    answer: extendLease(state, { jobId, leaseId }, options),
  }))
  return { answers, reaperAgeMs: reaperAgeMs(state) }
}

function extendLease(state: MemoryState, lease: Lease, options: HeartbeatOptions): HeartbeatAnswer {
  const job = state.jobs.get(lease.jobId)
  if (job === undefined) return 'lost'
  if (job.status !== 'running' || job.leaseId !== lease.leaseId)
    return job.finishedLeaseId === lease.leaseId ? 'finished' : 'lost'
  const nowMs = state.nowMs()
  const deadlineMs = job.deadlineAt?.getTime() ?? Number.POSITIVE_INFINITY
  if (deadlineMs <= nowMs) return 'past-deadline'
  const leaseMs = options.leaseMs ?? leaseMsOf(policyOf(state.policy, options.policy), job)
  changeJob(state, job, {
    leaseExpiresAt: new Date(Math.min(nowMs + leaseMs, deadlineMs)),
    heartbeatAt: new Date(nowMs),
  })
  return job.cancelRequestedAt === null ? 'kept' : 'cancel-asked'
}
