// Ends of jobs, by the shard of their ids. A shard that does not answer has ended none yet: the next poll asks it again.
// Without notifications: those would need a listener for each shard.
import type { JobEnd, WaitStore } from '../job-store.ts'
import { isOutage, type ShardSet } from './shard-set.ts'

export function bindWaits<Tx>(shards: ShardSet<Tx>): WaitStore {
  return {
    async readEnds(jobIds) {
      const parts = shards.split(jobIds, (jobId) => jobId)
      const ends = await Promise.all(
        Array.from(parts, ([shard, { items }]) =>
          shards.noted(shard, shard.store.readEnds(items)).catch((error: unknown): JobEnd[] => {
            if (!isOutage(error)) throw error
            return []
          }),
        ),
      )
      return ends.flat()
    },
  }
}
