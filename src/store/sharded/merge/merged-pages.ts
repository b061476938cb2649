// Pages of several shards, newest first. Each shard has a cursor of its own; a shard of which only some jobs fit on the page is
// asked once more for just these, because only it knows the cursor behind them.
import type { Shard, ShardedAnswer } from '../../job-store.ts'
import { readAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'
import { type CursorMap, readCursor, writeCursor } from './cursors.ts'

export interface ShardPage<Item> {
  items: Item[]
  next: string | null
  /** Everything newer was searched; null without a `next`. */
  searchedTo: Date | null
}

export interface PageReader<Tx, Item> {
  read: (shard: Shard<Tx>, cursor: string | undefined, limit: number) => Promise<ShardPage<Item>>
  timeOf: (item: Item) => Date
  idOf: (item: Item) => string
}

export async function readPages<Tx, Item>(
  shards: ShardSet<Tx>,
  { cursor, limit = 100 }: { cursor?: string | undefined; limit?: number | undefined },
  { read, timeOf, idOf }: PageReader<Tx, Item>,
): Promise<ShardPage<Item> & ShardedAnswer> {
  const cursors = readCursor(cursor, shards.all)
  const cursorOf = (shard: Shard<Tx>) => cursors.get(shard.number) ?? undefined
  const { answers, silence } = await readAll(shards, async (shard) =>
    cursors.has(shard.number)
      ? read(shard, cursorOf(shard), limit)
      : { items: [], next: null, searchedTo: null },
  )
  // An unread job of another shard may be newer than those behind this time.
  const searchedTo = Math.max(
    ...answers.map(({ answer }) => answer.searchedTo?.getTime() ?? Number.NEGATIVE_INFINITY),
  )
  const merged = answers
    .flatMap(({ shard, answer }) => answer.items.map((item) => ({ shard, item })))
    .filter(({ item }) => timeOf(item).getTime() >= searchedTo)
    .toSorted(
      (a, b) => timeOf(b.item).getTime() - timeOf(a.item).getTime() || (idOf(a.item) < idOf(b.item) ? 1 : -1),
    )
    .slice(0, limit)
  const next: CursorMap = new Map()
  // A shard that did not answer is asked again with the next page.
  for (const { number } of shards.all)
    if (cursors.has(number) && !answers.some(({ shard }) => shard.number === number))
      next.set(number, cursors.get(number) ?? null)
  let reachedMs = Number.NEGATIVE_INFINITY
  for (const { shard, answer } of answers) {
    const used = merged.filter((entry) => entry.shard === shard).length
    const behind =
      used === answer.items.length
        ? answer
        : used === 0
          ? { next: cursorOf(shard) ?? null, searchedTo: null, isUnread: true }
          : await read(shard, cursorOf(shard), used)
    if (behind.next !== null || 'isUnread' in behind) next.set(shard.number, behind.next)
    const firstLeft = answer.items[used]
    if (behind.searchedTo !== null) reachedMs = Math.max(reachedMs, behind.searchedTo.getTime())
    else if (firstLeft !== undefined) reachedMs = Math.max(reachedMs, timeOf(firstLeft).getTime())
  }
  // With only silent shards left, a next page would be the same forever.
  const isStuck = merged.length === 0 && answers.every(({ shard }) => !next.has(shard.number))
  return {
    items: merged.map(({ item }) => item),
    next: isStuck ? null : writeCursor(next),
    searchedTo:
      next.size === 0 || isStuck || reachedMs === Number.NEGATIVE_INFINITY ? null : new Date(reachedMs),
    ...silence,
  }
}

export interface HistoryReader<Tx, Item> extends Omit<PageReader<Tx, Item>, 'read'> {
  list: (
    shard: Shard<Tx>,
    cursor: string | undefined,
    limit: number,
  ) => Promise<{ items: Item[]; next: string | null }>
}

/** The same for lists whose pages are full: one with a next has searched up to its last item. */
export async function readHistory<Tx, Item>(
  shards: ShardSet<Tx>,
  request: { cursor?: string | undefined; limit?: number | undefined },
  { list, timeOf, idOf }: HistoryReader<Tx, Item>,
): Promise<Omit<ShardPage<Item>, 'searchedTo'> & ShardedAnswer> {
  const { searchedTo: _, ...page } = await readPages<Tx, Item>(shards, request, {
    async read(shard, cursor, limit) {
      const { items, next } = await list(shard, cursor, limit)
      const last = next === null ? undefined : items.at(-1)
      return { items, next, searchedTo: last === undefined ? null : timeOf(last) }
    },
    timeOf,
    idOf,
  })
  return page
}
