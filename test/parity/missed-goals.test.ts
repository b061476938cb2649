import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const words = 'none one two three four five six seven eight nine ten eleven twelve'.split(' ')

it('the README tells as many missed goals of speed as the last run has', () => {
  const rows = read('docs/performance.md')
    .split('\n')
    .filter((line) => /\| (missed by|reached)/.test(line))
  const missed = rows.filter((line) => line.includes('| missed by')).length
  expect(rows.length).toBeGreaterThan(0)
  expect(read('README.md')).toContain(`${words[missed]} of the ${rows.length} goals of speed`)
})
