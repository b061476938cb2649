// Concurrent enqueue calls become one statement. Each resolves after its own commit, and none waits for others to arrive.
import type { NewJob } from '../../job/job.ts'
import { dedupeKeyOf } from '../../job/job-rules.ts'
import type { EnqueuedJob, Shard, Shards } from '../../store/job-store.ts'
import { createBatcher } from './batcher.ts'

type Send = (jobs: NewJob[]) => Promise<EnqueuedJob[]>
type Enqueue = (job: NewJob) => Promise<EnqueuedJob>

export function createEnqueuer(send: Send): Enqueue {
  const plain = createBatcher(send)
  // A dedupe key may have to wait for another transaction that holds it: only jobs with keys wait with it.
  const keyed = createBatcher(send)
  return (job) => (dedupeKeyOf(job) === undefined ? plain : keyed).add(job)
}

/** A shard is chosen before jobs are gathered, so that none waits for a shard that is down. */
export function createShardedEnqueuer<Tx>(
  shards: Shards<Tx>,
  send: (shard: Shard<Tx>, jobs: NewJob[]) => Promise<EnqueuedJob[]>,
): Enqueue {
  const enqueuers = new Map(shards.all.map((shard) => [shard, createEnqueuer((jobs) => send(shard, jobs))]))
  return (job) => {
    const enqueue = enqueuers.get(shards.forJob(job))
    return enqueue === undefined ? Promise.reject(new Error('a job has no shard')) : enqueue(job)
  }
}
