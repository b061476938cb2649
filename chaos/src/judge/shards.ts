// Several shards: each has a history of its own, which the ids of the jobs part. A fault of one shard excuses nothing in another.
import type { History, Violation } from './history.ts'
import { areAllStarved } from './starvation.ts'

/** Shard number in a native id (docs/adr/0024). */
export function shardOf(jobId: string): number {
  return Number.parseInt(jobId.slice(20, 23), 16)
}

/** Name of a server in the stalls. */
export function databaseName(shard: number): string {
  return shard === 0 ? 'database' : `database ${shard}`
}

type Common = Pick<History, 'disturbances' | 'stalls' | 'ledger' | 'enqueuedIds'> & {
  webhooks: (History['webhooks'][number] & { shard?: number })[]
}

/** The part of one shard of what a run recorded outside of the databases. */
export function partOf<Recorded extends Common>(recorded: Recorded, shard: number): Recorded {
  const isOwn = ({ shard: hit = shard }: { shard?: number }) => hit === shard
  return {
    ...recorded,
    webhooks: recorded.webhooks.filter(isOwn),
    disturbances: recorded.disturbances.filter(isOwn),
    ledger: recorded.ledger.filter(({ job }) => job === undefined || shardOf(job) === shard),
    enqueuedIds: recorded.enqueuedIds.filter((id) => shardOf(id) === shard),
    stalls: recorded.stalls.flatMap((stall) => {
      if (!stall.who?.startsWith('database')) return [stall]
      return stall.who === databaseName(shard) ? [{ ...stall, who: 'database' }] : []
    }),
  }
}

/** Rows and events of all shards, for the summary. */
export function joinHistories(histories: [History, ...History[]], recorded: Common): History {
  const all = <Key extends 'jobs' | 'events' | 'txEffects' | 'deliveries' | 'samples' | 'holds'>(key: Key) =>
    histories.flatMap((history) => history[key] as unknown[]) as History[Key]
  return {
    ...histories[0],
    ...recorded,
    jobs: all('jobs'),
    events: all('events'),
    txEffects: all('txEffects'),
    deliveries: all('deliveries'),
    samples: all('samples'),
    holds: all('holds'),
  }
}

/** New jobs, claims and completions. */
const GOING_ON = ['queued', 'processing', 'complete']

export interface Progress {
  /** Outages of a shard that were long enough to judge. */
  outages: number
  /** The fewest events of another shard during one of them. */
  least: Record<string, number>
  violations: Violation[]
}

/** While a server was down for longer than two leases, jobs of every other shard must have been enqueued, claimed and completed. */
export function checkOthersGoOn(histories: History[]): Progress {
  const least: Record<string, number> = {}
  const violations: Violation[] = []
  const outages = histories.flatMap(({ disturbances, times }, shard) =>
    disturbances
      .filter(({ kind, from, to }) => kind === 'database-stopped' && to - from > 2 * times.leaseMs)
      .map(({ from, to }) => ({ shard, from, to })),
  )
  for (const { shard, from, to } of outages)
    for (const [other, history] of histories.entries()) {
      if (other === shard) continue
      for (const type of GOING_ON) {
        const count = history.events.filter(
          (event) => event.type === type && event.at >= from && event.at <= to,
        )
        least[type] = Math.min(least[type] ?? Number.POSITIVE_INFINITY, count.length)
        if (count.length === 0)
          violations.push({
            invariant: 'shards',
            message: `shard ${other} had no event ${type} in the ${to - from} ms in which shard ${shard} was down`,
            isStarved: areAllStarved(history, from, to),
          })
      }
    }
  return { outages: outages.length, least, violations }
}
