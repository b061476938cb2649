import { expect, it } from 'vitest'
import { showBound } from './show-duration.ts'

const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }

it('SEE-6 a bound is told in seconds where minutes would hide some', () => {
  expect([0, 999.5, 52_000, 362_000, 3_601_000].map(showBound)).toEqual([
    '0 ms',
    '1000 ms',
    '52 s',
    '362 s',
    '61 min',
  ])
})

it('SEE-6 a bound is never told smaller than it is', () => {
  for (let ms = 1; ms < 10_000_000_000; ms = Math.ceil(ms * 1.37)) {
    const [count, unit = ''] = showBound(ms).split(' ')
    expect(Number(count) * (UNITS_MS[unit] ?? 0)).toBeGreaterThanOrEqual(ms)
  }
})
