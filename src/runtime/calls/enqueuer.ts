// Concurrent enqueue calls become one statement. Each resolves after its own commit, and none waits for others to arrive.
import type { NewJob } from '../../job/job.ts'
import type { EnqueuedJob } from '../../store/job-store.ts'
import { createBatcher } from './batcher.ts'

type Send = (jobs: NewJob[]) => Promise<EnqueuedJob[]>

export function createEnqueuer(send: Send): (job: NewJob) => Promise<EnqueuedJob> {
  const plain = createBatcher(send)
  // A dedupe key may have to wait for another transaction that holds it: only jobs with keys wait with it.
  const keyed = createBatcher(send)
  return (job) => (job.dedupeKey === undefined ? plain : keyed).add(job)
}
