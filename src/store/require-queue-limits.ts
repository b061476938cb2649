import { invalidArgument, requireKnownNames } from '../errors/index.ts'
import type { QueueLimits } from './ports/dependency-store.ts'

const fields: Record<keyof QueueLimits, true> = {
  concurrency: true,
  groupConcurrency: true,
  groupOrder: true,
}
export const queueLimitNames = Object.keys(fields)

/** Limits that are not given are removed: with a typo, one would be gone instead of set. */
export function requireQueueLimits(limits: QueueLimits | null): void {
  if (limits === null) return
  if (typeof limits !== 'object' || Array.isArray(limits))
    throw invalidArgument('limits', limits, `an object with ${queueLimitNames.join(', ')}, or null`)
  requireKnownNames('limits', Object.keys(limits), queueLimitNames, 'field')
}
