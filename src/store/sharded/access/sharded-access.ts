// The state of an HTTP server over several shards. The audit log is read from all of them.
import type { AccessStore, AuditEntry } from '../../access-store.ts'
import type { Shard } from '../../job-store.ts'
import { readHistory } from '../merge/merged-pages.ts'
import { askFirst } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'
import { ShardedFeed } from './sharded-feed.ts'
import { bindTokens } from './sharded-tokens.ts'

export function createShardedAccess<Tx>(
  shards: ShardSet<Tx>,
  accessOf: (shard: Shard<Tx>) => AccessStore,
): AccessStore {
  const feed = new ShardedFeed(shards, accessOf)
  const first = <T>(ask: (access: AccessStore) => Promise<T>) =>
    askFirst(shards, (shard) => ask(accessOf(shard)))
  return {
    hasOrderedEvents: true,
    async readClock() {
      const { now } = await first((access) => access.readClock())
      return { now, lastEventId: await feed.lastId() }
    },
    findEventsStart: (events) => feed.findStart(events),
    lastEventIds: async () => [await feed.lastId()],
    listNewEvents: (afterId, limit) => feed.listAfter(BigInt(afterId), limit),
    // The feed hands out its own ids in order: none is late.
    listLateEvents: async () => [],
    readHorizon: () => first((access) => access.readHorizon()),
    async listAuditEntries({ cursor, limit, ...filter } = {}) {
      const { items, next } = await readHistory<Tx, AuditEntry>(
        shards,
        { cursor, limit },
        {
          async list(shard, own, size) {
            const request = { ...filter, limit: size, ...(own === undefined ? {} : { cursor: own }) }
            const page = await accessOf(shard).listAuditEntries(request)
            return { items: page.entries, next: page.next }
          },
          timeOf: ({ at }) => at,
          idOf: ({ entryId }) => entryId,
        },
      )
      return { entries: items, next }
    },
    ...bindTokens(shards, accessOf),
    beginRequest: (request) => first((access) => access.beginRequest(request)),
    finishRequest: (request) => first((access) => access.finishRequest(request)),
    forgetRequest: (request) => first((access) => access.forgetRequest(request)),
  }
}
