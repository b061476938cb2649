/** `allowsEndings` also accepts the same name with a part missing or added at its end. */
export interface ClosestNameOptions {
  maxEdits?: number
  allowsEndings?: boolean
}

/** The name that was probably meant: few edits away, ignoring case. */
export function closestName(
  name: string,
  known: readonly string[],
  { maxEdits = 2, allowsEndings = false }: ClosestNameOptions = {},
): string | undefined {
  const upper = name.toUpperCase()
  let closest: string | undefined
  let least = maxEdits + 1
  for (const candidate of known) {
    // The difference in length is a lower bound: skips most of a process's environment variables.
    if (Math.abs(name.length - candidate.length) >= least) continue
    const edits = countEdits(upper, candidate.toUpperCase(), least - 1)
    if (edits < least) [closest, least] = [candidate, edits]
  }
  if (closest !== undefined || !allowsEndings) return closest
  return known
    .filter((candidate) => hasEnding(upper, candidate) || hasEnding(candidate, upper))
    .toSorted((a, b) => Math.abs(a.length - name.length) - Math.abs(b.length - name.length))[0]
}

function hasEnding(longer: string, shorter: string): boolean {
  return longer.startsWith(`${shorter}_`)
}

/**
 * Optimal string alignment: insertions, deletions, replacements and swaps of neighbours; exact up to `most`. At every start
 * each environment variable is compared with each name, so cells that take more than `most` edits are skipped.
 */
function countEdits(from: string, to: string, most: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  let leastOfLast = 0
  for (let row = 1; row <= from.length; row++) {
    const current = row <= most ? [row] : []
    let least = current[0] ?? Number.POSITIVE_INFINITY
    for (let column = Math.max(1, row - most); column <= Math.min(to.length, row + most); column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const edits = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        row > 1 && column > 1 && isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
      current[column] = edits
      least = Math.min(least, edits)
    }
    if (least > most && leastOfLast > most) return least
    beforeLast = last
    last = current
    leastOfLast = least
  }
  return at(last, to.length)
}

const at = (line: number[], column: number): number => line[column] ?? Number.POSITIVE_INFINITY
