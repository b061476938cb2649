import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

it('the README has the number of missed targets of the last benchmark run', () => {
  const rows = read('docs/performance.md')
    .split('\n')
    .filter((line) => /\| (missed by|reached)/.test(line))
  const missed = rows.filter((line) => line.includes('| missed by')).length
  expect(rows.length).toBeGreaterThan(0)
  expect(read('README.md')).toContain(`${missed} of ${rows.length} performance targets`)
})
