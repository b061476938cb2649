// One whole pass of retention over one table: steps until all rows were looked at. Only ended jobs are ever deleted.
import type { JobStore, PruneCursor } from '../../store/job-store.ts'

export interface RunPruneOptions {
  /** Instead of the policy's retention. */
  retentionDays?: number
  /** Rows to look at in one step, each a transaction of its own. */
  batchSize?: number
  /** After each step: how many rows were deleted so far. */
  onStep?: (deleted: number) => void
}

export async function runPrune(store: JobStore, options: RunPruneOptions = {}): Promise<number> {
  const { retentionDays, batchSize, onStep } = options
  const request = {
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(batchSize === undefined ? {} : { limit: batchSize }),
  }
  let deleted = 0
  let cursor: PruneCursor | null = null
  do {
    const step = await store.pruneJobs(cursor === null ? request : { ...request, cursor })
    deleted += step.deleted
    onStep?.(deleted)
    cursor = step.next
  } while (cursor !== null)
  return deleted
}
