import type { Job } from '../../../job/job.ts'
import type { JobOutcome } from '../../ports/call-options.ts'
import type { OperationAction } from '../../ports/operation-store.ts'
import type { MemoryOperation, MemoryState } from '../state/memory-state.ts'
import { cancelJobs, discardJobs, retryJobs, runJobsNow } from './manual.ts'

/** Applies the action of the operation to these jobs. Returns the outcome of each. */
export function changeSelected(
  state: MemoryState,
  operation: MemoryOperation,
  jobIds: string[],
): Map<string, string> {
  const { action, asOf, owner, actor, reason, keepAttempts } = operation
  const isAsItWas = (jobId: string) => {
    const job = state.jobs.get(jobId)
    return job === undefined || isUntouched(action, asOf, job)
  }
  const who = {
    ...(owner === null ? {} : { owner }),
    ...(actor === null ? {} : { actor }),
    ...(reason === null ? {} : { reason }),
  }
  const verbs: Record<MemoryOperation['action'], (ids: string[]) => JobOutcome<string>[]> = {
    retry: (ids) => retryJobs(state, ids, { ...who, keepAttempts }),
    redrive: (ids) => retryJobs(state, ids, { ...who, keepAttempts }),
    cancel: (ids) => cancelJobs(state, ids, who),
    'run-now': (ids) => runJobsNow(state, ids, who),
    discard: (ids) => discardJobs(state, ids, who),
  }
  const others = jobIds.filter((jobId) => !isAsItWas(jobId))
  const untouched = jobIds.filter(isAsItWas)
  const outcomes = untouched.length === 0 ? [] : verbs[action](untouched)
  return new Map([
    ...others.map((jobId): [string, string] => [jobId, 'changed-since']),
    ...outcomes.map(({ jobId, outcome }): [string, string] => [jobId, outcome]),
  ])
}

/**
 * Whether the job is unchanged since, as far as the action is concerned: a job that died again is not retried, a changed one
 * is not deleted, and one created later is not known.
 */
export function isUntouched(action: OperationAction, asOf: Date, job: Job): boolean {
  const { createdAt, updatedAt, finishedAt, status } = job
  if (action === 'discard') {
    const times = [createdAt, updatedAt, finishedAt].map((at) => at?.getTime() ?? Number.NEGATIVE_INFINITY)
    return status !== 'running' && Math.max(...times) <= asOf.getTime()
  }
  const isRetry = action === 'retry' || action === 'redrive'
  const at = isRetry ? (finishedAt ?? updatedAt ?? createdAt) : createdAt
  return at.getTime() <= asOf.getTime()
}
