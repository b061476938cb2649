// The published results consist of sections, which begin with `### ` and a title. What comes before the first has no title.

const LAST = 'Settings'
const STALE = 'From an earlier run: this one has no result of it.'

/** Takes the sections in `fresh` from `measured`, and keeps the others as they were published. */
export function mergeSections(published: string, measured: string, fresh: ReadonlySet<string>): string {
  const before = sectionsOf(published)
  const after = sectionsOf(measured)
  const added = [...after.keys()].filter((title) => fresh.has(title) && !before.has(title))
  // A whole run has the order of the measures; one of a few measures leaves the order as it was published.
  const isWhole = fresh.has('')
  const titles = isWhole
    ? [...after.keys()]
    : [...[...before.keys()].filter((title) => title !== LAST), ...added, ...(before.has(LAST) ? [LAST] : [])]
  const textOf = (title: string) => {
    const kept = fresh.has(title) ? undefined : before.get(title)
    if (kept === undefined) return after.get(title)
    return isWhole && !kept.endsWith(STALE) ? `${kept}\n\n${STALE}` : kept
  }
  return titles.map(textOf).join('\n\n')
}

function sectionsOf(text: string): Map<string, string> {
  const sections = text.trim().split(/\n\n(?=### )/)
  return new Map(sections.map((section) => [/^### (.*)/.exec(section)?.[1] ?? '', section]))
}
