// Formats a Neo4j query profile, operator by operator.
export interface Profile {
  operatorType: string
  rows: number
  dbHits: number
  arguments: { [name: string]: unknown }
  children: Profile[]
}

export function profileHits({ dbHits, children }: Profile): number {
  return children.reduce((sum, child) => sum + profileHits(child), dbHits)
}

/** Last operator first, as in Neo4j's own tools. */
export function profileText(profile: Profile): string {
  const lines = linesOf(profile, 0)
  const width = Math.max(...lines.map(([name]) => name.length))
  return [['operator', 'rows', 'db hits', 'details'] as const, ...lines]
    .map(([name, rows, hits, details]) =>
      `${name.padEnd(width)}  ${rows.padStart(5)}  ${hits.padStart(7)}  ${details}`.trimEnd(),
    )
    .join('\n')
}

function linesOf({ operatorType, rows, dbHits, children, ...more }: Profile, depth: number): Line[] {
  const shown = more.arguments['Details']
  const details = typeof shown === 'string' ? shown.replaceAll(/\s+/g, ' ') : ''
  const name = '  '.repeat(depth) + operatorType.replace(/@.*$/, '')
  const line: Line = [name, String(rows), String(dbHits), shortened(details)]
  // The right child is indented, the left one continues below.
  const [left, right] = children
  return [
    line,
    ...(right === undefined ? [] : linesOf(right, depth + 1)),
    ...(left === undefined ? [] : linesOf(left, depth)),
  ]
}

type Line = readonly [name: string, rows: string, hits: string, details: string]

const MAX_DETAILS = 90

function shortened(text: string): string {
  return text.length <= MAX_DETAILS ? text : `${text.slice(0, MAX_DETAILS - 1)}…`
}
