// One retention pass over one table, in steps. Only ended jobs are deleted.

import type { JobStore, PruneCursor } from '../../store/job-store.ts'
import { pause } from '../timing/wait.ts'

export interface RunPruneOptions {
  /** Default: that of the policy. */
  retentionDays?: number
  /** Rows per step; each step is one transaction. */
  batchSize?: number
  /** Called after each step with the number of rows deleted so far. */
  onStep?: (deleted: number) => void
  /** While another process deletes: leave it the rest, instead of waiting for it. */
  isShared?: boolean
}

const BUSY_WAIT_MS = 250

export async function runPrune(store: JobStore, options: RunPruneOptions = {}): Promise<number> {
  const { retentionDays, batchSize, onStep, isShared = false } = options
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
    if (cursor === null || step.deleted > 0) continue
    if (isShared) return deleted
    await pause(BUSY_WAIT_MS)
  } while (cursor !== null)
  return deleted
}
