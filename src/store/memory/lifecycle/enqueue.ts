import type { Job, NewJob } from '../../../job/job.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import type { EnqueuedJob } from '../../job-store.ts'
import { requireActing } from '../state/checks.ts'
import { type MemoryState, recordEvent } from '../state/memory-state.ts'
import { checkNewJob, newRow } from '../state/new-job.ts'
import { policyOf } from '../state/policy-of.ts'

export function enqueueJobs(
  state: MemoryState,
  jobs: NewJob[],
  override: PolicyOverride | undefined,
): EnqueuedJob[] {
  const policy = policyOf(state.policy, override)
  for (const [index, job] of jobs.entries()) checkNewJob(job, `jobs[${index}]`)
  requireActing(state)
  const nowMs = state.nowMs()
  return jobs.map((job) => {
    const holder = findKeyHolder(state, job.type, job.dedupeKey ?? null)
    if (holder !== undefined) return { jobId: holder.id, outcome: 'duplicate' }
    const row = newRow(policy, job, state.createJobId(nowMs), nowMs)
    state.jobs.set(row.id, row)
    if (policy.events === 'all') {
      recordEvent(state, nowMs, { jobId: row.id, type: 'queued', details: { cause: 'enqueue' } })
    }
    return { jobId: row.id, outcome: 'created' }
  })
}

/** The unfinished job that holds this dedupe key. */
export function findKeyHolder(state: MemoryState, type: string, dedupeKey: string | null): Job | undefined {
  if (dedupeKey === null) return undefined
  return [...state.jobs.values()].find(
    (job) =>
      job.type === type &&
      job.dedupeKey === dedupeKey &&
      (job.status === 'waiting' || job.status === 'running'),
  )
}
