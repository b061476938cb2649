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
  const ranked = known
    .map((candidate) => {
      // The difference in length is a lower bound: skips most of a process's environment variables.
      const atLeast = Math.abs(name.length - candidate.length)
      const edits = atLeast > maxEdits ? atLeast : countEdits(upper, candidate.toUpperCase(), maxEdits)
      return { candidate, edits }
    })
    .toSorted((a, b) => a.edits - b.edits)
  const closest = ranked[0]
  if (closest !== undefined && closest.edits <= maxEdits) return closest.candidate
  if (!allowsEndings) return undefined
  return ranked.find(({ candidate }) => hasEnding(upper, candidate) || hasEnding(candidate, upper))?.candidate
}

function hasEnding(longer: string, shorter: string): boolean {
  return longer.startsWith(`${shorter}_`)
}

/**
 * Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. Ends once it is certain that there
 * are more than `most`: at every start of an application each environment variable is compared with each name.
 */
function countEdits(from: string, to: string, most: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  let leastOfLast = 0
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        row > 1 && column > 1 && isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    const least = Math.min(...current)
    if (least > most && leastOfLast > most) return least
    beforeLast = last
    last = current
    leastOfLast = least
  }
  return last[to.length] ?? 0
}
