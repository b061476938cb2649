// Run-now, discard, and the state of causes.
import { invalidArgument } from '../../../errors/index.ts'
import type { Job } from '../../../job/job.ts'
import type { DiscardOutcome, RunNowOutcome } from '../../../job/outcome.ts'
import type { JobOutcome, ManualOptions } from '../../ports/call-options.ts'
import type { CauseMark } from '../../ports/operating-store.ts'
import { recordDispatch } from '../dispatches.ts'
import { checkText } from '../state/check-text.ts'
import { changeJob, dueMs, type MemoryState, recordEvent } from '../state/memory-state.ts'
import { requireActing } from '../state/require-acting.ts'
import { findOwned, hasOtherGeneration } from './manual.ts'

const CAUSE_STATES = ['new', 'investigating', 'resolved', 'ignored']

export function markCause(
  state: MemoryState,
  causeId: string,
  { state: marked, actor, reason }: CauseMark,
): void {
  checkText('causeId', causeId, 64)
  if (!CAUSE_STATES.includes(marked)) throw invalidArgument('state', marked, CAUSE_STATES.join(', '))
  if (marked === 'new') state.causes.delete(causeId)
  else {
    const changed = { changedAtMs: state.nowMs(), changedBy: actor ?? null, reason: reason ?? null }
    state.causes.set(causeId, { state: marked, ...changed })
  }
}

export function runJobsNow(
  state: MemoryState,
  jobIds: string[],
  options: ManualOptions<never>,
): JobOutcome<RunNowOutcome>[] {
  requireActing(state)
  return jobIds.map((jobId) => {
    const job = findOwned(state, jobId, options.owner)
    return { jobId, outcome: job === undefined ? 'not-found' : runNow(state, job, options) }
  })
}

export function discardJobs(
  state: MemoryState,
  jobIds: string[],
  options: ManualOptions<never>,
): JobOutcome<DiscardOutcome>[] {
  requireActing(state)
  return jobIds.map((jobId) => {
    const job = findOwned(state, jobId, options.owner)
    return { jobId, outcome: job === undefined ? 'not-found' : discard(state, job, options) }
  })
}

function runNow(state: MemoryState, job: Job, options: ManualOptions<never>): RunNowOutcome {
  if (hasOtherGeneration(job, options)) return 'generation-changed'
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
  if (hasOtherGeneration(job, options)) return 'generation-changed'
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
