import type { Job } from '../../../job/job.ts'
import type { OperationAction } from '../../ports/operation-store.ts'

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
