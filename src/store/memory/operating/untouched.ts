import type { Job } from '../../../job/job.ts'
import type { OperationAction } from '../../ports/operation-store.ts'

/**
 * Is the job as it was then, as far as the action is concerned? One that died again since is not brought back, one that
 * anybody changed since is not deleted, one that was created since is not known.
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
