// A viewer's position in the event stream, encoded in the message id: the newest event sent, and earlier ids that were not
// visible yet.

export interface StreamPlace {
  newest: bigint
  missing: readonly bigint[]
}

/** Maximum number of missing ids in one position. */
export const MAX_NAMED = 30
export const MAX_PLACE_LENGTH = (MAX_NAMED + 1) * 20

/** `1050`, or `1050~1017~1020`. With too many missing ids it is the position before them, and some events repeat. */
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
