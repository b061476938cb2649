// Ends of jobs, by the shard of their ids. A shard that does not answer in time has ended none yet: the next poll asks it again,
// and nobody who waits for a job of another shard waits for it.
import { isOutage } from '../../../errors/index.ts'
import type { JobEnd, ReportedProgress, Shard, WaitStore } from '../../job-store.ts'
import { inTime } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindWaits<Tx>(shards: ShardSet<Tx>): WaitStore {
  const onEach = async <T>(jobIds: string[], call: (shard: Shard<Tx>, ids: string[]) => Promise<T>) => {
    const parts = shards.split(jobIds, (jobId) => jobId)
    const answers = await Promise.all(
      Array.from(parts, ([shard, { items }]) =>
        shards.noted(shard, inTime(shard, call(shard, items))).catch((error: unknown) => {
          if (!isOutage(error)) throw error
          return undefined
        }),
      ),
    )
    return answers.filter((answer) => answer !== undefined)
  }
  return {
    readEnds: async (jobIds) =>
      (await onEach<JobEnd[]>(jobIds, ({ store }, ids) => store.readEnds(ids))).flat(),
    readProgress: async (jobIds) =>
      (await onEach<ReportedProgress[]>(jobIds, ({ store }, ids) => store.readProgress(ids))).flat(),
    async beginWaits(jobIds, channel, forMs) {
      await onEach(jobIds, async ({ store }, ids) => store.beginWaits?.(ids, channel, forMs))
    },
    async endWaits(jobIds, channel) {
      await onEach(jobIds, async ({ store }, ids) => store.endWaits?.(ids, channel))
    },
  }
}
