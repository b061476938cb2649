import type { Job, NewJob } from '../../../job/job.ts'
import { dedupeKeyOf } from '../../../job/job-rules.ts'
import type { Policy, PolicyOverride } from '../../../policy/policy.ts'
import type { EnqueuedJob } from '../../job-store.ts'
import { requireActing } from '../state/checks.ts'
import { changeJob, type MemoryState, recordEvent } from '../state/memory-state.ts'
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
  const isReplaced = (job: NewJob, index: number) =>
    job.dedupe?.replace === true && jobs.slice(index + 1).some((later) => isSameKey(job, later))
  for (const job of jobs) giveKeyAway(state, job)
  const enqueued = jobs.map((job, index) => (isReplaced(job, index) ? null : enqueueJob(state, policy, job)))
  return jobs.map((job, index): EnqueuedJob => {
    const later = enqueued.findLast((_, at) => at > index && isSameKey(job, jobs[at]))
    return enqueued[index] ?? { jobId: later?.jobId ?? '', outcome: 'replaced' }
  })
}

const isSameKey = (a: NewJob, b: NewJob | undefined) =>
  b?.dedupe?.replace === true && a.type === b.type && dedupeKeyOf(a) === dedupeKeyOf(b)

function enqueueJob(state: MemoryState, policy: Policy, job: NewJob): EnqueuedJob {
  const nowMs = state.nowMs()
  const window = state.dedupeWindows.get(windowName(job))
  if (job.dedupe?.forMs !== undefined && window !== undefined && window.endsAtMs > nowMs)
    return { jobId: window.jobId, outcome: 'duplicate' }
  const row = newRow(policy, job, state.createJobId(nowMs), nowMs)
  const holder = findKeyHolder(state, job.type, row.dedupeKey)
  if (holder !== undefined && job.dedupe?.replace !== true) return { jobId: holder.id, outcome: 'duplicate' }
  if (holder !== undefined) return replaceJob(state, holder, row)
  state.jobs.set(row.id, row)
  if (job.dedupe?.forMs !== undefined)
    state.dedupeWindows.set(windowName(job), { jobId: row.id, endsAtMs: nowMs + job.dedupe.forMs })
  if (policy.events === 'all') {
    recordEvent(state, nowMs, { jobId: row.id, type: 'queued', details: { cause: 'enqueue' } })
  }
  return { jobId: row.id, outcome: 'created' }
}

/** A running job does not keep its key beside one that replaces: its work is older. */
function giveKeyAway(state: MemoryState, job: NewJob): void {
  if (job.dedupe?.replace !== true) return
  const holder = findKeyHolder(state, job.type, job.dedupe.key)
  if (holder?.status === 'running') changeJob(state, holder, { dedupeKey: null })
}

const windowName = (job: NewJob) => JSON.stringify([job.type, dedupeKeyOf(job)])

/** Counts and errors start again, with a new generation. */
function replaceJob(state: MemoryState, holder: Job, row: Job): EnqueuedJob {
  const { id, createdAt, generation, fence, queuedAt, startedAt, lastAttemptAt } = holder
  const { heartbeatAt, finishedLeaseId, releases, interruptions } = holder
  const kept = { id, createdAt, fence, queuedAt, startedAt, lastAttemptAt, heartbeatAt, finishedLeaseId }
  changeJob(state, holder, { ...row, ...kept, releases, interruptions, generation: generation + 1 })
  return { jobId: id, outcome: 'replaced' }
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
