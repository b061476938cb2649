// What the workers have to do with a job that waits, in words.
import { showDuration } from './show-duration.ts'

/** Of the workers that tell of themselves. */
export interface WorkerFacts {
  live: number
  /** Of the live ones, those that handle the type of the job; their slots, and how many of these are taken. */
  handling: number
  slots: number
  busy: number
  /** Since one that handles the type was last heard of; null where none ever was. */
  lastSeenMs: number | null
}

/** Null where some worker handles the type, or nobody can tell: workers of other languages need not tell of themselves. */
export function describeMissingWorker(type: string, workers: WorkerFacts | null): string | null {
  if (workers === null || workers.handling > 0) return null
  const { live, lastSeenMs } = workers
  const who = live === 0 ? 'no worker is live' : `none of ${live} live workers handles ${type}`
  if (lastSeenMs === null) return `${who}, and none for ${type} was ever seen`
  return `${who}, last seen ${showDuration(lastSeenMs)} ago`
}

/** Null where a slot is free, or nobody can tell. */
export function describeBusySlots(workers: WorkerFacts | null): string | null {
  if (workers === null || workers.handling === 0 || workers.busy < workers.slots) return null
  return `${workers.busy} of ${workers.slots} slots busy`
}
