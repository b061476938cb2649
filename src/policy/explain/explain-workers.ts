// Explains by the reported workers why a job waits.
import { showDuration } from './show-duration.ts'

/** Facts about the workers that report themselves. */
export interface WorkerFacts {
  live: number
  /** Live workers that claim jobs of its type from its queue, their slots, and how many of these are busy. */
  handling: number
  slots: number
  busy: number
  /** Live workers that handle its type, but claim from other queues only. */
  elsewhere: number
  /** Time since a worker that handles the type last reported; null if none ever did. */
  lastSeenMs: number | null
}

/** Null if a worker handles the type, or it is unknown: workers in other languages need not report. */
export function describeMissingWorker(
  { type, queue }: { type: string; queue: string },
  workers: WorkerFacts | null,
): string | null {
  if (workers === null || workers.handling > 0) return null
  const { live, elsewhere, lastSeenMs } = workers
  if (elsewhere > 0)
    return `${elsewhere} live ${elsewhere === 1 ? 'worker handles' : 'workers handle'} ${type}, but none claims from queue ${queue}`
  const seen = lastSeenMs === null ? null : `last seen ${showDuration(lastSeenMs)} ago`
  if (live === 0) return `no worker is live, ${seen ?? `and none ever handled ${type}`}`
  const who =
    live === 1
      ? `the only live worker does not handle ${type}`
      : `none of ${live} live workers handles ${type}`
  return `${who}, ${seen ?? 'and none ever did'}`
}

/** Null if a slot is free, or it is unknown. */
export function describeBusySlots(workers: WorkerFacts | null): string | null {
  if (workers === null || workers.handling === 0 || workers.busy < workers.slots) return null
  return `${workers.busy} of ${workers.slots} slots busy`
}
