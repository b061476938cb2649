import type { NewJob } from '../job/job.ts'
import type { RuntimeEventEmitter, RuntimeEvents } from '../observe/events.ts'
import type { EnqueuedJob } from '../store/job-store.ts'

/** One event for each type and queue of a call. */
export function tellEnqueued(
  events: RuntimeEventEmitter,
  table: string,
  jobs: NewJob[],
  enqueued: EnqueuedJob[],
): void {
  const counts = new Map<string, RuntimeEvents['jobs:enqueued']>()
  for (const [index, { type, queue = type }] of jobs.entries()) {
    const key = JSON.stringify([type, queue])
    const count = counts.get(key) ?? { table, type, queue, created: 0, duplicates: 0 }
    if (enqueued[index]?.outcome === 'created') count.created++
    else count.duplicates++
    counts.set(key, count)
  }
  for (const count of counts.values()) events.emit('jobs:enqueued', count)
}
