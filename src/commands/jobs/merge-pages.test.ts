import { describe, expect, it } from 'vitest'
import { isGreaterNumber, isLaterText, mergePages, type TablePage } from './merge-pages.ts'

const page = (items: string[], next: string | null = null): TablePage<string> => ({ items, next })
const merge = (pages: TablePage<string>[], limit: number) =>
  mergePages(pages, limit, (id) => id, isGreaterNumber)

describe('pages of several tables', () => {
  it('SEE-6 are one list, the newest first', () => {
    expect(merge([page(['10', '7']), page(['9', '8'])], 10)).toEqual(page(['10', '9', '8', '7']))
  })

  it('SEE-6 nothing is shown before what another table has not shown yet', () => {
    const newer = page(['100', '90'], '90')
    expect(merge([newer, page(['50', '40'], '40')], 2)).toEqual(newer)
    expect(merge([page([], '90'), page(['95', '50'])], 2)).toEqual(page(['95'], '90'))
  })

  it('SEE-6 walked to the end they show each item once', () => {
    const tables = [['30', '21', '20', '3'], '29 28 27 2 1'.split(' ')]
    const read = (before: string | null) =>
      tables.map((ids) => {
        const items = ids.filter((id) => before === null || Number(id) < Number(before)).slice(0, 2)
        return page(items, items.length < 2 ? null : (items.at(-1) ?? null))
      })
    const seen: string[] = []
    let merged = merge(read(null), 2)
    seen.push(...merged.items)
    while (merged.next !== null) {
      merged = merge(read(merged.next), 2)
      seen.push(...merged.items)
    }
    expect(seen).toEqual(['30', '29', '28', '27', '21', '20', '3', '2', '1'])
  })

  it('SEE-6 ids are compared as what they are', () => {
    expect(isGreaterNumber('10', '9')).toBe(true)
    expect([isLaterText('10', '9'), isLaterText('9', '10')]).toEqual([true, false])
  })
})
