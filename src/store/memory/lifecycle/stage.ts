import { invalidArgument } from '../../../errors/index.ts'
import type { JsonValue } from '../../../job/job.ts'
import type { Lease } from '../../../job/lease.ts'
import { earlier, maxRuntimeMs, stageDeadlineMs, stageLeaseMs } from '../../../policy/lease/stage-lease.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import type { EnteredStage } from '../../job-store.ts'
import { changeJob, type MemoryState, recordEvent } from '../state/memory-state.ts'
import { copyJson } from '../state/new-job.ts'
import { policyOf } from '../state/policy-of.ts'

export function enterStage(
  state: MemoryState,
  { jobId, leaseId }: Lease,
  stage: string,
  override: PolicyOverride | undefined,
): EnteredStage {
  if (stage.length === 0 || stage.length > 200) throw invalidArgument('stage', stage, '1 to 200 characters')
  const job = state.jobs.get(jobId)
  if (job === undefined) return refused('not-found')
  if (job.status !== 'running' || job.leaseId !== leaseId)
    return refused(job.finishedLeaseId === leaseId ? 'already-done' : 'lease-lost')
  const policy = policyOf(state.policy, override)
  const nowMs = state.nowMs()
  const runtimeMs = maxRuntimeMs(policy, job.type)
  const runtimeLeftMs =
    job.lastAttemptAt === null || runtimeMs === null ? null : job.lastAttemptAt.getTime() + runtimeMs - nowMs
  // Nothing revives a job past its deadline.
  const leftMs = earlier(job.deadlineAt === null ? null : job.deadlineAt.getTime() - nowMs, runtimeLeftMs)
  if (leftMs !== null && leftMs <= 0) return refused('past-deadline')
  const deadlineMs = earlier(stageDeadlineMs(policy, stage), runtimeLeftMs)
  const leaseMs = Math.min(
    stageLeaseMs(policy, stage, job.expectedDurationMs),
    deadlineMs ?? Number.POSITIVE_INFINITY,
  )
  changeJob(state, job, {
    stage,
    heartbeatAt: new Date(nowMs),
    updatedAt: new Date(nowMs),
    leaseExpiresAt: new Date(nowMs + leaseMs),
    deadlineAt: deadlineMs === null ? null : new Date(nowMs + deadlineMs),
  })
  return { outcome: 'entered', leaseMs, deadlineMs }
}

function refused(outcome: EnteredStage['outcome']): EnteredStage {
  return { outcome, leaseMs: null, deadlineMs: null }
}

export function recordLateResult(
  state: MemoryState,
  { jobId, leaseId }: Lease,
  details: { [key: string]: JsonValue },
): boolean {
  if (!state.jobs.has(jobId)) return false
  const copy = copyJson(details, 'details') as { [key: string]: JsonValue }
  recordEvent(state, state.nowMs(), { jobId, type: 'late_result', details: { ...copy, lease_id: leaseId } })
  return true
}
