import { requireHome, requireShard, type SqlClient } from '../../compose/index.ts'
import type { NewJob } from '../../job/job.ts'
import type { EnqueuedJob, JobStore } from '../../store/job-store.ts'
import type { EnqueueOptions, ShardHandle } from '../unstuck-api.ts'

type Send = (jobs: NewJob[], options: EnqueueOptions, store: JobStore<SqlClient>) => Promise<EnqueuedJob[]>
type Trace = (job: NewJob, send: (jobs: NewJob[]) => Promise<EnqueuedJob>) => Promise<EnqueuedJob>

/** The shard of a key. Its jobs are enqueued there or refused. */
export function shardHandle(
  shards: NonNullable<JobStore<SqlClient>['shards']>,
  key: string,
  trace: Trace,
  send: Send,
): ShardHandle {
  const shard = shards.forKey(key)
  return {
    number: shard.number,
    store: shard.store,
    enqueue: (job, options = {}) =>
      trace(job, async (jobs) => {
        requireHome(shards, shard, jobs)
        const [enqueued] = requireShard(shard, await send(jobs, options, shard.store))
        if (enqueued === undefined) throw new Error('an enqueue was not answered')
        return enqueued
      }),
  }
}
