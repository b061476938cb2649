// Breakers, pauses and bindings are kept by every shard, whose claims look at them. The tokens of a rate limit are in one shard, the
// first that answers, so that it holds for the whole installation; those of a divided one are in the shard of the job.
import type { Breaker, DependencyCall, DependencyStore } from '../../job-store.ts'
import { mergeQueues } from '../merge/merged-health.ts'
import { askFirst, inTime, readAll, writeAll, writeAnswering } from '../routing/fan-out.ts'
import { groupBy } from '../routing/group-by.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindDependencies<Tx>(shards: ShardSet<Tx>): DependencyStore {
  return {
    async mapDependency(queue, name) {
      return (await writeAnswering(shards, ({ store }) => store.mapDependency(queue, name))).some(Boolean)
    },
    writeBreaker: async (name, change) =>
      mergeBreakers(await writeAnswering(shards, ({ store }) => store.writeBreaker(name, change))),
    recordCalls: (name, calls) => recordCalls(shards, name, calls),
    recordProbe: async (name, isHealthy) =>
      mergeBreakers(await writeAnswering(shards, ({ store }) => store.recordProbe(name, isHealthy))),
    holdBreaker: async (name, options) =>
      mergeBreakers(await writeAll(shards, ({ store }) => store.holdBreaker(name, options))),
    resumeBreaker: async (name, options) =>
      mergeBreakers(await writeAll(shards, ({ store }) => store.resumeBreaker(name, options))),
    async deleteBreaker(name) {
      const outcomes = await writeAll(shards, ({ store }) => store.deleteBreaker(name))
      return (
        (['in-use', 'deleted', 'not-found'] as const).find((each) => outcomes.includes(each)) ?? 'not-found'
      )
    },
    async listBreakers() {
      const { answers } = await readAll(shards, ({ store }) => store.listBreakers())
      const byName = groupBy(
        answers.flatMap(({ answer }) => answer),
        ({ name }) => name,
      )
      return [...byName.keys()]
        .toSorted()
        .map((name) => mergeBreakers(byName.get(name)?.items as [Breaker, ...Breaker[]]))
    },
    pauseQueue: async (queue, options) =>
      (await writeAll(shards, ({ store }) => store.pauseQueue(queue, options))).some(Boolean),
    resumeQueue: async (queue, options) =>
      (await writeAll(shards, ({ store }) => store.resumeQueue(queue, options))).some(Boolean),
    limitQueue: async (queue, limits, options) =>
      (await writeAll(shards, ({ store }) => store.limitQueue(queue, limits, options))).some(Boolean),
    async listQueues(request) {
      const { answers, silence } = await readAll(shards, ({ store }) => store.listQueues(request))
      return {
        queues: mergeQueues(answers.map(({ answer }) => answer.queues)),
        isComplete: answers.every(({ answer }) => answer.isComplete),
        ...silence,
      }
    },
    takeTokens(limits, tokens) {
      const number = limits.find(({ shard }) => shard !== undefined)?.shard
      const home = shards.all.find((shard) => shard.number === number)
      if (home === undefined) return askFirst(shards, ({ store }) => store.takeTokens(limits, tokens))
      return shards.noted(home, inTime(home, home.store.takeTokens(limits, tokens)))
    },
    async listRateLimits(request) {
      const { answers } = await readAll(shards, ({ store }) => store.listRateLimits(request))
      const usedMs = (usedAt: Date | null) => usedAt?.getTime() ?? 0
      const all = answers
        .flatMap(({ answer }) => answer)
        .toSorted((a, b) => usedMs(b.usedAt) - usedMs(a.usedAt))
      const isNewest = (key: string, place: number) => all.findIndex((each) => each.key === key) === place
      return all.filter(({ key }, place) => isNewest(key, place)).slice(0, request?.limit ?? 100)
    },
    async pruneRateLimits(limit) {
      const counts = await writeAnswering(shards, ({ store }) => store.pruneRateLimits(limit))
      return counts.reduce((total, count) => total + count, 0)
    },
  }
}

const severity = (breaker: Breaker) => ['closed', 'half-open', 'open', 'held'].indexOf(breaker.state)

/** Each shard judges the calls of its own jobs; the state that holds back most jobs is shown. */
function mergeBreakers(breakers: [Breaker, ...Breaker[]]): Breaker {
  const [worst] = breakers.toSorted((a, b) => severity(b) - severity(a)) as [Breaker, ...Breaker[]]
  const queues = breakers.flatMap((breaker) => breaker.queues)
  const isFirst = (place: number) =>
    queues.findIndex(
      (each) => each.attachment === queues[place]?.attachment && each.queue === queues[place]?.queue,
    ) === place
  return {
    ...worst,
    successes: Math.max(...breakers.map(({ successes }) => successes)),
    unheard: Math.max(...breakers.map(({ unheard }) => unheard)),
    probing: breakers.reduce((total, { probing }) => total + probing, 0),
    queues: queues.filter((_, place) => isFirst(place)),
  }
}

/** Calls of a job go to its shard, others to all of them. */
async function recordCalls<Tx>(
  shards: ShardSet<Tx>,
  name: string,
  calls: DependencyCall[],
): Promise<Breaker> {
  const parts = groupBy(calls, ({ jobId }) => (jobId === undefined ? undefined : shards.of(jobId)))
  const breakers = await Promise.all(
    Array.from(parts, ([shard, { items }]) =>
      shard === undefined
        ? writeAnswering(shards, ({ store }) => store.recordCalls(name, items))
        : shards.noted(shard, shard.store.recordCalls(name, items)).then((breaker) => [breaker]),
    ),
  )
  const [first, ...others] = breakers.flat()
  return first === undefined
    ? askFirst(shards, ({ store }) => store.recordCalls(name, []))
    : mergeBreakers([first, ...others])
}
