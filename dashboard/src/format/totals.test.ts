import { expect, it } from 'vitest'
import { showTotal, showTotalOf, totalOf } from './totals.ts'

it('OPS-16 a sum with one count that stopped at its limit is a lower bound', () => {
  const tables = [
    { waiting: 100_000, running: 1, at_least: ['waiting'] },
    { waiting: 5, running: 0, at_least: [] },
  ]
  expect(showTotal(totalOf(tables, 'waiting'))).toBe('≥ 100,005')
  expect(showTotalOf(totalOf(tables, 'waiting'), 'job')).toBe('≥ 100,005 jobs')
  expect(showTotalOf(totalOf(tables, 'running'), 'job')).toBe('1 job')
})
