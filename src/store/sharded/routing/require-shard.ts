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

/** The key that fixes the shard of a job. Its limits and order hold within a shard, so all jobs of a group are in one. */
export const homeKeyOf = (job: NewJob): string | undefined => job.group ?? dedupeKeyOf(job)

/** A group is limited in its own shard, and a dedupe key is looked for there: in another one they would find nothing. */
export function requireHome<Tx>(shards: Shards<Tx>, shard: Shard<Tx>, jobs: NewJob[]): void {
  const isStrange = (key: string | undefined) => key !== undefined && shards.forKey(key) !== shard
  const stranger = jobs.find((job) => isStrange(homeKeyOf(job)))
  if (stranger === undefined) return
  const [field, name] = stranger.group === undefined ? ['dedupeKey', 'dedupe key'] : ['group', 'group']
  throw invalidArgument(field, homeKeyOf(stranger), `a key of ${shard.name}: call q.shard with the ${name}`)
}
