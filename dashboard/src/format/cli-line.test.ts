import { describe, expect, it } from 'vitest'
import { cliLine, exportLine } from './cli-line.ts'

describe('exportLine', () => {
  it('OPS-9 every key of a search is a flag', () => {
    const q = 'status:dead error:"GW 5XX" older:2h lease:<0'
    expect(exportLine(q, { table: 'jobs', payload: true })).toBe(
      "unstuck jobs export --status dead --code 'GW 5XX' --older-than 2h --overdue --table jobs --payload",
    )
  })
})

describe('cliLine', () => {
  it('OPS-9 what a shell would read as more than text is quoted', () => {
    expect(cliLine(['jobs', 'retry', '0198-a'], { reason: "it's $(back)" })).toBe(
      `unstuck jobs retry 0198-a --reason 'it'\\''s $(back)'`,
    )
    expect(cliLine(['jobs', 'cancel'], { where: 'status:dead worker:a b' })).toBe(
      "unstuck jobs cancel --where 'status:dead worker:a b'",
    )
  })

  it('OPS-9 a flag without a value is left out, and one that is on has none', () => {
    expect(cliLine(['jobs', 'retry', 'a'], { reason: '', now: true, table: null, expect: 0 })).toBe(
      'unstuck jobs retry a --now --expect 0',
    )
  })
})
