// A shard is a complete engine in one schema of one server. Several of them behind one store are store/sharded; the runtime
// needs to know them where one that is down must not delay the others (docs/adr/0038).

/** How a job without a dedupe key is placed: with others of its owner, of its queue, or anywhere. */
export type ShardRoute = 'owner' | 'queue' | 'spread'

export const shardRoutes: readonly ShardRoute[] = ['owner', 'queue', 'spread']
/** As many as fit into 12 bits of an id. */
export const MAX_SHARDS = 4_096

/** Shard of a native id: the last three digits of the fourth group (docs/adr/0024). NaN if it is another text. */
export function shardNumberOf(jobId: string): number {
  return Number.parseInt(jobId.slice(20, 23), 16)
}
