// Types whose jobs wait while no worker handles them: a typo in a type, or a handler that was forgotten.
import { describeMissingWorker } from '../policy/explain/explain-workers.ts'
import type { JobStore } from './job-store.ts'
import type { QueueStatus } from './ports/dependency-store.ts'

export interface UnhandledType {
  type: string
  queue: string
  /** Jobs of all types that wait in the queue. */
  waiting: number
  reason: string
  /** A worker that handled it was there once: the fleet may be scaled to zero. */
  wasHandled: boolean
}

export type UnhandledSource = Pick<JobStore, 'listQueues' | 'listJobs' | 'readJobFacts'>

/** Jobs that have waited less may be claimed by a worker that is starting. */
export const UNHANDLED_AFTER_MS = 10_000
/** Queues that are looked into at a time, by one job each. */
const MOST_QUEUES = 20
const COUNT_LIMIT = 1_000

/** One type of each queue: that of the first job which has waited for a while. */
export async function findUnhandledTypes(
  store: UnhandledSource,
  isAsked: (queue: QueueStatus) => boolean,
  stopping?: AbortSignal,
): Promise<UnhandledType[]> {
  const found: UnhandledType[] = []
  const { queues } = await store.listQueues({ countLimit: COUNT_LIMIT })
  const asked = queues.filter((queue) => queue.waiting > 0 && isAsked(queue))
  for (const { queue, waiting } of asked.slice(0, MOST_QUEUES)) {
    if (stopping?.aborted === true) break
    const filter = { queue, status: 'waiting', olderThanMs: UNHANDLED_AFTER_MS } as const
    const { jobs } = await store.listJobs(filter, { limit: 1 })
    const [job] = jobs
    const facts = job === undefined ? null : await store.readJobFacts(job.id)
    if (facts === null) continue
    const { type, workers } = facts
    const reason = describeMissingWorker({ type, queue }, workers)
    if (reason === null) continue
    found.push({ type, queue, waiting, reason, wasHandled: workers?.lastSeenMs !== null })
  }
  return found
}
