// Where a viewer is in the stream of events, as the id of a message: the newest event it was sent, and those before it that
// nobody could see yet.

export interface StreamPlace {
  newest: bigint
  missing: readonly bigint[]
}

/** Missing ones in one place. */
export const MAX_NAMED = 30
export const MAX_PLACE_LENGTH = (MAX_NAMED + 1) * 20

/** `1050`, or `1050~1017~1020`. With too many to name it is the place before all of them, and some events come twice. */
export function writePlace({ newest, missing }: StreamPlace): string {
  const ids = [...new Set(missing)].toSorted((a, b) => (a < b ? -1 : 1))
  const [lowest] = ids
  if (lowest !== undefined && ids.length > MAX_NAMED) return String(lowest - 1n)
  return [newest, ...ids].join('~')
}

export function readPlace(text: string): StreamPlace | null {
  if (text.length > MAX_PLACE_LENGTH || !/^\d{1,18}(?:~\d{1,18})*$/.test(text)) return null
  const [newest = 0n, ...missing] = text.split('~').map(BigInt)
  return { newest, missing }
}
