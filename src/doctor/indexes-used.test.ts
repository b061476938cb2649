import { expect, it } from 'vitest'
import { indexesUsed } from './indexes-used.ts'

it('OPS-8 the names of the indexes of a plan are found, however deep, and a read of the whole table', () => {
  const scan = (type: string, more: object) => ({ 'Node Type': type, ...more })
  const plan = scan('Limit', {
    Plans: [
      scan('Bitmap Heap Scan', {
        'Relation Name': 'jobs',
        Plans: [scan('Bitmap Index Scan', { 'Index Name': 'jobs_ready' })],
      }),
      scan('Seq Scan', { 'Relation Name': 'jobs' }),
      scan('Seq Scan', { 'Relation Name': 'policies' }),
      scan('Index Only Scan', { 'Relation Name': 'jobs', 'Index Name': 'jobs_running' }),
    ],
  })
  expect(indexesUsed([{ Plan: plan }], 'jobs')).toEqual(['jobs_ready', 'seq scan', 'jobs_running'])
  expect(indexesUsed([], 'jobs')).toEqual([])
})
