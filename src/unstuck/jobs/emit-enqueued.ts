import type { NewJob } from '../../job/job.ts'
import type { RuntimeEventEmitter, RuntimeEvents } from '../../observe/events.ts'
import type { EnqueuedJob } from '../../store/job-store.ts'

/** Emits one event per type and queue of an enqueue call. */
export function emitEnqueued(
  events: RuntimeEventEmitter,
  table: string,
  jobs: NewJob[],
  enqueued: EnqueuedJob[],
): void {
  const counts = new Map<string, RuntimeEvents['jobs:enqueued']>()
  let count: RuntimeEvents['jobs:enqueued'] | undefined
  for (const [index, { type, queue = type }] of jobs.entries()) {
    if (count?.type !== type || count.queue !== queue) {
      const key = JSON.stringify([type, queue])
      count = counts.get(key) ?? { table, type, queue, created: 0, duplicates: 0 }
      counts.set(key, count)
    }
    if (enqueued[index]?.outcome === 'created') count.created++
    else count.duplicates++
  }
  for (const count of counts.values()) events.emit('jobs:enqueued', count)
}
