// Changes by people: of jobs in their shards, of causes and the policy in all of them.
import type { JobOutcome, OperatingStore, Shard } from '../../job-store.ts'
import { callParts, writeAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindOperating<Tx>(shards: ShardSet<Tx>): OperatingStore<Tx> {
  const onEach = <T>(jobIds: string[], call: (shard: Shard<Tx>, ids: string[]) => Promise<JobOutcome<T>[]>) =>
    callParts(
      shards,
      shards.split(jobIds, (jobId) => jobId),
      call,
    )
  return {
    cancelJobs: (jobIds, options) => onEach(jobIds, ({ store }, ids) => store.cancelJobs(ids, options)),
    retryJobs: (jobIds, options) => onEach(jobIds, ({ store }, ids) => store.retryJobs(ids, options)),
    runJobsNow: (jobIds, options) => onEach(jobIds, ({ store }, ids) => store.runJobsNow(ids, options)),
    discardJobs: (jobIds, options) => onEach(jobIds, ({ store }, ids) => store.discardJobs(ids, options)),
    async markCause(causeId, mark) {
      await writeAll(shards, ({ store }) => store.markCause(causeId, mark))
    },
    writePolicy: async (change) => (await writeAll(shards, ({ store }) => store.writePolicy(change)))[0],
  }
}
