import { describe, expect, it } from 'vitest'
import { fitTable } from './fit-table.ts'

const ID = '019a9b6e-5c1f-7c3a-8d2e-3f4d2f6f2a10'
const rows = [
  ['TABLE', 'JOB', 'TYPE', 'STATUS', 'ATTEMPT', 'CREATED', ''],
  [
    'jobs',
    ID,
    'transcribe_audio',
    'dead',
    '3',
    '2026-11-18T02:14:19Z',
    'GW_5XX: the gateway did not answer in time',
  ],
  [
    'jobs',
    ID,
    'a_type_with_a_name_of_more_than_forty_characters',
    'waiting',
    '1',
    '2026-11-18T02:14:19Z',
    '',
  ],
]
const fit = { whole: ['JOB', 'STATUS', 'CREATED'], spare: ['ATTEMPT', 'TABLE', 'CREATED'] }

/** As `printTable` joins them. */
const widthOf = (table: string[][]) =>
  (table[0] ?? [])
    .map((_, at) => Math.max(...table.map((row) => Array.from(row[at] ?? '').length)))
    .reduce((sum, width) => sum + width + 2, -2)

describe('a table in the width of a terminal', () => {
  it.each([60, 80, 120, 200])('OPS-8 fits %i columns, with whole ids', (width) => {
    const table = fitTable(rows, fit, width)
    expect(widthOf(table)).toBeLessThanOrEqual(width)
    for (const row of table.slice(1)) expect(row).toContain(ID)
  })

  it('OPS-8 leaves out spare columns in their order, and as few as possible', () => {
    expect(fitTable(rows, fit, 200)[0]).toEqual(rows[0])
    expect(fitTable(rows, fit, 80)[0]).toEqual(['JOB', 'TYPE', 'STATUS', ''])
    expect(fitTable(rows, fit, 106)[0]).toEqual(['JOB', 'TYPE', 'STATUS', 'CREATED', ''])
  })

  it('OPS-8 leaves out the name of a single table before it cuts a cell', () => {
    expect(fitTable(rows, fit, 160)[0]).toEqual(['JOB', 'TYPE', 'STATUS', 'ATTEMPT', 'CREATED', ''])
  })

  it('OPS-8 a table that fits is unchanged', () => {
    expect(fitTable(rows, fit, 1_000)).toEqual(rows)
  })

  it('OPS-8 a cut cell says so', () => {
    expect(fitTable(rows, fit, 80)[2]?.[1]).toMatch(/^a_type_.*…$/)
  })

  it('OPS-8 an id is whole even on a terminal that is narrower', () => {
    expect(fitTable(rows, fit, 20)[1]).toContain(ID)
  })
})
