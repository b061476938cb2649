// The state of an HTTP server over several shards. Tokens are in all of them, so that any shard can check one; the audit log is
// read from all of them.
import type { AccessStore, AuditEntry, TokenRecord } from '../../access-store.ts'
import type { Shard } from '../../job-store.ts'
import { readPages } from '../merge/merged-pages.ts'
import { askFirst, readAll, writeAll } from '../routing/fan-out.ts'
import { groupBy } from '../routing/group-by.ts'
import type { ShardSet } from '../routing/shard-set.ts'
import { ShardedFeed } from './sharded-feed.ts'

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
    listNewEvents: (afterId, limit) => feed.listAfter(BigInt(afterId), limit),
    // The feed hands out its own ids in order: none is late.
    listLateEvents: async () => [],
    readHorizon: () => first((access) => access.readHorizon()),
    async listAuditEntries({ cursor, limit, ...filter } = {}) {
      const { items, next } = await readPages<Tx, AuditEntry>(
        shards,
        { cursor, limit },
        {
          async read(shard, own, size) {
            const page = await accessOf(shard).listAuditEntries({
              ...filter,
              limit: size,
              ...(own === undefined ? {} : { cursor: own }),
            })
            const searchedTo = page.next === null ? null : (page.entries.at(-1)?.at ?? null)
            return { items: page.entries, next: page.next, searchedTo }
          },
          timeOf: ({ at }) => at,
          idOf: ({ entryId }) => entryId,
        },
      )
      return { entries: items, next }
    },
    createToken: async (token) =>
      (await writeAll(shards, (shard) => accessOf(shard).createToken(token))).every(Boolean),
    findToken: (sha256) => first((access) => access.findToken(sha256)),
    async listTokens() {
      const { answers } = await readAll(shards, (shard) => accessOf(shard).listTokens())
      const byName = groupBy(
        answers.flatMap(({ answer }) => answer),
        ({ name }) => name,
      )
      return Array.from(byName.values(), ({ items }) => mergeToken(items))
    },
    revokeToken: async (name, actor) =>
      (await writeAll(shards, (shard) => accessOf(shard).revokeToken(name, actor))).some(Boolean),
    beginRequest: (request) => first((access) => access.beginRequest(request)),
    finishRequest: (request) => first((access) => access.finishRequest(request)),
    forgetRequest: (request) => first((access) => access.forgetRequest(request)),
  }
}

/** Revoked in one shard is revoked. */
function mergeToken(parts: TokenRecord[]): TokenRecord {
  const [newest = parts[0]] = parts.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  const revokedAt = parts.find((part) => part.revokedAt !== null)?.revokedAt ?? null
  return { ...(newest as TokenRecord), revokedAt }
}
