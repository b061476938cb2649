import { expect, it } from 'vitest'
import { showCount } from './show-count.ts'

it('OPS-16 a count that stopped at its limit is shown as a lower bound, others are not', () => {
  const counts = { waiting: 100_000, running: 12, atLeast: ['waiting'] }
  expect(showCount(counts, 'waiting')).toBe('≥ 100,000')
  expect(showCount(counts, 'running')).toBe('12')
})
