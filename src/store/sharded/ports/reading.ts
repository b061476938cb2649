// Reads of one job go to its shard; all others ask every shard, and name those that did not answer in time.
import type { DeadJobGroup, JobPage, ReadingStore, Shard } from '../../job-store.ts'
import { mergeHealth, mergeSlo } from '../merge/merged-health.ts'
import { readPages } from '../merge/merged-pages.ts'
import { askFirst, readAll } from '../routing/fan-out.ts'
import { groupBy } from '../routing/group-by.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindReading<Tx>(shards: ShardSet<Tx>): ReadingStore<Tx> {
  const on = <T>(jobId: string, call: (shard: Shard<Tx>) => Promise<T>) => {
    const shard = shards.of(jobId)
    return shards.noted(shard, call(shard))
  }
  return {
    getJob: (jobId, options) => on(jobId, ({ store }) => store.getJob(jobId, options)),
    listEvents: (jobId) => on(jobId, ({ store }) => store.listEvents(jobId)),
    readJobFacts: (jobId, options) => on(jobId, ({ store }) => store.readJobFacts(jobId, options)),
    async listJobs(filter, { cursor, limit, ...options } = {}): Promise<JobPage> {
      const { items, ...page } = await readPages(
        shards,
        { cursor, limit },
        {
          read: async ({ store }, own, size) => {
            const { jobs, ...rest } = await store.listJobs(filter, {
              ...options,
              limit: size,
              ...(own === undefined ? {} : { cursor: own }),
            })
            return { items: jobs, ...rest }
          },
          timeOf: ({ createdAt }) => createdAt,
          idOf: ({ id }) => id,
        },
      )
      return { jobs: items, ...page }
    },
    async findJobIds(prefix, limit = 5) {
      const { answers } = await readAll(shards, ({ store }) => store.findJobIds(prefix, limit))
      return answers
        .flatMap(({ answer }) => answer)
        .toSorted()
        .slice(0, limit)
    },
    async groupDeadJobs(options) {
      const { answers, silence } = await readAll(shards, ({ store }) => store.groupDeadJobs(options))
      return {
        groups: mergeGroups(answers.flatMap(({ answer }) => answer.groups)).slice(0, options?.limit ?? 100),
        isComplete: answers.every(({ answer }) => answer.isComplete),
        ...silence,
      }
    },
    async readHealth(options) {
      const { answers, silence } = await readAll(shards, ({ store }) => store.readHealth(options))
      return { ...mergeHealth(answers.map(({ answer }) => answer)), ...silence }
    },
    async readHidden() {
      const { answers } = await readAll(shards, ({ store }) => store.readHidden())
      return answers.find(({ answer }) => answer !== null)?.answer ?? null
    },
    async readSlo(request) {
      const { answers, silence } = await readAll(shards, ({ store }) => store.readSlo(request))
      return { ...mergeSlo(answers.map(({ answer }) => answer)), ...silence }
    },
    // The same in every shard: writePolicy changes all of them.
    readPolicy: () => askFirst(shards, ({ store }) => store.readPolicy()),
  }
}

/** A cause is marked in all shards alike. */
function mergeGroups(groups: DeadJobGroup[]): DeadJobGroup[] {
  const byCause = groupBy(groups, ({ causeId }) => causeId)
  const merged = [...byCause.values()].map(({ items: parts }) => {
    const [newest = parts[0]] = parts.toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime())
    const backSince = parts.flatMap((part) => (part.backSince === null ? [] : [part.backSince.getTime()]))
    return {
      ...(newest as DeadJobGroup),
      jobs: parts.reduce((total, { jobs }) => total + jobs, 0),
      firstAt: new Date(Math.min(...parts.map(({ firstAt }) => firstAt.getTime()))),
      maxCrashes: Math.max(...parts.map(({ maxCrashes }) => maxCrashes)),
      backSince: backSince.length === 0 ? null : new Date(Math.min(...backSince)),
    }
  })
  return merged.toSorted((a, b) => b.jobs - a.jobs || b.lastAt.getTime() - a.lastAt.getTime())
}
