// Whoever comes from a firing alert finds the same five sections in every runbook, in the order in which they are needed.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const operations = new URL('../../../docs/operations/', import.meta.url)
const overview = readFileSync(new URL('alerts.md', operations), 'utf8')
const runbooks = [...overview.matchAll(/\]\(([a-z0-9-]+\.md)\)/g)].map(([, file = '']) => file)

it.each(runbooks)('SEE-6 %s says what it means, where to look, how to act, verify and prevent', (file) => {
  const text = readFileSync(new URL(file, operations), 'utf8')
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(['Means', 'Look', 'Act', 'Verify', 'Prevent'])
})

it('SEE-6 there is a runbook for every alert, and for what doctor alone sees', () => {
  const rules = readFileSync(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url), 'utf8')
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
  expect(alerts.filter((name) => !overview.includes(`[\`${name}\`](`))).toEqual([])
  expect(runbooks).toEqual(expect.arrayContaining(['clock-skew.md', 'table-bloat.md']))
})
