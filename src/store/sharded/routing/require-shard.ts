// Checks of a call that names its shard.
import { invalidArgument } from '../../../errors/index.ts'
import type { NewJob } from '../../../job/job.ts'
import { dedupeKeyOf } from '../../../job/job-rules.ts'
import type { EnqueuedJob, Shard, Shards } from '../../job-store.ts'
import { shardNumberOf } from '../../shards.ts'

/** A transaction of another server, or a schema under another number, shows in the ids: the caller's transaction rolls back. */
export function requireShard(shard: Pick<Shard, 'number' | 'name'>, enqueued: EnqueuedJob[]): EnqueuedJob[] {
  const stranger = enqueued.find(({ jobId }) => shardNumberOf(jobId) !== shard.number)
  if (stranger !== undefined)
    throw invalidArgument(
      'tx',
      `a transaction of shard ${shardNumberOf(stranger.jobId)}`,
      `a transaction of ${shard.name}`,
    )
  return enqueued
}

/** A dedupe key is looked for in its own shard: in another one it would find nothing. */
export function requireHome<Tx>(shards: Shards<Tx>, shard: Shard<Tx>, jobs: NewJob[]): void {
  const isStrange = (key: string | undefined) => key !== undefined && shards.forKey(key) !== shard
  const stranger = jobs.find((job) => isStrange(dedupeKeyOf(job)))
  if (stranger !== undefined)
    throw invalidArgument(
      'dedupeKey',
      dedupeKeyOf(stranger),
      `a key of ${shard.name}: call q.shard with the dedupe key`,
    )
}
