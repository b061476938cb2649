// What people ask of jobs and do to them, beside retry and cancel.
import type { Job } from '../../job/job.ts'
import type { DiscardOutcome, RunNowOutcome } from '../../job/outcome.ts'
import type { ManualOptions } from '../call-options.ts'
import type { OperatorStore } from '../operator-store.ts'
import { recordDispatch } from './dispatches.ts'
import { readJobFacts } from './job-facts.ts'
import { findJobIds, groupDeadJobs, listJobs } from './list-jobs.ts'
import { findOwned } from './manual.ts'
import { changeJob, dueMs, type MemoryState, recordEvent } from './memory-state.ts'
import { readSlo } from './slo.ts'

export function bindOperatorVerbs(state: MemoryState): OperatorStore {
  return {
    listJobs: async (filter = {}, options = {}) => listJobs(state, filter, options),
    findJobIds: async (prefix, limit = 5) => findJobIds(state, prefix, limit),
    groupDeadJobs: async ({ limit = 100 } = {}) => groupDeadJobs(state, limit),
    readJobFacts: async (jobId, options) => readJobFacts(state, jobId, options?.policy),
    readSlo: async (request = {}) => readSlo(state, request),
    runJobsNow: async (jobIds, options = {}) =>
      jobIds.map((jobId) => {
        const job = findOwned(state, jobId, options.owner)
        return { jobId, outcome: job === undefined ? 'not-found' : runNow(state, job, options) }
      }),
    discardJobs: async (jobIds, options = {}) =>
      jobIds.map((jobId) => {
        const job = findOwned(state, jobId, options.owner)
        return { jobId, outcome: job === undefined ? 'not-found' : discard(state, job, options) }
      }),
  }
}

function runNow(state: MemoryState, job: Job, options: ManualOptions<never>): RunNowOutcome {
  if (job.status !== 'waiting') return 'not-waiting'
  const nowMs = state.nowMs()
  if (dueMs(job) <= nowMs) return 'already-due'
  const now = new Date(nowMs)
  changeJob(state, job, { runAt: now, updatedAt: now })
  const { actor = null, reason = null } = options
  recordEvent(state, nowMs, { jobId: job.id, type: 'queued', details: { actor, reason, cause: 'run-now' } })
  recordDispatch(state, state.policy, job.id)
  return 'due'
}

function discard(state: MemoryState, job: Job, options: ManualOptions<never>): DiscardOutcome {
  const { id, status, type, error } = job
  if (status === 'running') return 'running'
  state.jobs.delete(id)
  state.events.delete(id)
  state.dispatches.delete(id)
  const { actor = null, reason = null } = options
  const details = { actor, reason, status, type, code: error?.code ?? null }
  recordEvent(state, state.nowMs(), { jobId: id, type: 'discarded', details })
  return 'discarded'
}
