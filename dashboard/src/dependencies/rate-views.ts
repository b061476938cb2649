// Rate limits by what they limit: the bucket that all share, and those of owners, the emptiest first.
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

/** From 0, where nothing is left, to 1; null where the limit is not known. */
export function leftShare({ tokens, burst }: RateLimit): number | null {
  if (tokens === null || burst === null || burst === 0) return null
  return Math.min(1, Math.max(0, tokens / burst))
}
