// Rate limits by name: the shared bucket, and those of owners, emptiest first.
import type { RateLimit } from '../../../src/http/contract/index.ts'
import { groupBy } from '../format/group-by.ts'

export interface RateView {
  name: string
  shared: RateLimit | null
  owners: RateLimit[]
}

export function rateViews(limits: RateLimit[]): RateView[] {
  return [...groupBy(limits, ({ name }) => name)]
    .map(([name, found]) => ({
      name,
      shared: found.find(({ owner }) => owner === null) ?? null,
      owners: found
        .filter(({ owner }) => owner !== null)
        .toSorted((a, b) => (leftShare(a) ?? 1) - (leftShare(b) ?? 1)),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** From 0, empty, to 1; null if the limit is unknown. */
export function leftShare({ tokens, burst }: RateLimit): number | null {
  if (tokens === null || burst === null || burst === 0) return null
  return Math.min(1, Math.max(0, tokens / burst))
}
