/** A page of one table, newest first. */
export interface TablePage<Item> {
  items: Item[]
  /** Older items have not been read. Null: there are none. */
  next: string | null
}

/**
 * One page of several tables, newest first. An item older than the end of any table's page waits for the next page: that
 * table may have a newer one that was not read yet.
 */
export function mergePages<Item>(
  pages: readonly TablePage<Item>[],
  limit: number,
  idOf: (item: Item) => string,
  isNewer: (a: string, b: string) => boolean,
): TablePage<Item> {
  const ends = pages.flatMap(({ next }) => (next === null ? [] : [next]))
  const newestEnd = ends.reduce<string | null>(
    (newest, end) => (newest === null || isNewer(end, newest) ? end : newest),
    null,
  )
  const seen = pages
    .flatMap(({ items }) => items)
    .filter((item) => newestEnd === null || !isNewer(newestEnd, idOf(item)))
    .toSorted((a, b) => (isNewer(idOf(a), idOf(b)) ? -1 : 1))
  const last = seen[limit - 1]
  if (seen.length > limit && last !== undefined) return { items: seen.slice(0, limit), next: idOf(last) }
  return { items: seen, next: newestEnd }
}

/** For numeric ids. */
export const isGreaterNumber = (a: string, b: string) => BigInt(a) > BigInt(b)
/** For ids whose text sorts by time. */
export const isLaterText = (a: string, b: string) => a.padStart(36, '0') > b.padStart(36, '0')
