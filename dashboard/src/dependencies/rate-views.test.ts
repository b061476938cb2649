import { describe, expect, it } from 'vitest'
import type { RateLimit } from '../../../src/http/contract/index.ts'
import { leftShare, rateViews } from './rate-views.ts'

const limit = (name: string, owner: string | null, tokens: number | null) =>
  ({ key: owner === null ? name : `${name}:${owner}`, name, owner, tokens, burst: 50 }) as RateLimit

describe('rateViews', () => {
  it('SEE-5 the bucket of all stands before those of owners, the emptiest first', () => {
    const [gateway, other] = rateViews([
      limit('smtp', null, 50),
      limit('gateway', 'ana', 40),
      limit('gateway', 'ben', 0),
      limit('gateway', null, 12),
    ])
    expect(gateway?.shared?.tokens).toBe(12)
    expect(gateway?.owners.map(({ owner }) => owner)).toEqual(['ben', 'ana'])
    expect(other).toMatchObject({ name: 'smtp', owners: [] })
  })

  it('SEE-5 what is left is unknown where the limit is', () => {
    expect(leftShare(limit('a', null, 25))).toBe(0.5)
    expect(leftShare(limit('a', null, null))).toBeNull()
  })
})
