// A table in the width of a terminal: a line that wraps cannot be read as a row, and an id that wraps cannot be copied.
import { cutText } from './line.ts'

export interface TableFit {
  /** Titles of columns that are never cut. */
  whole: string[]
  /** Titles of columns that a narrow terminal leaves out, in this order. */
  spare: string[]
}

const GAP = 2
/** A cut column keeps at least this much while there is a spare one. */
const READABLE = 16
const MIN = 4

/** The rows, the first with the titles, with columns left out and cells cut to the width. */
export function fitTable(rows: string[][], { whole, spare }: TableFit, width: number): string[][] {
  const [titles = []] = rows
  let columns = titles.map((title, at) => ({
    title,
    at,
    width: Math.max(...rows.map((row) => Array.from(row[at] ?? '').length)),
  }))
  const isWhole = ({ title }: { title: string }) => whole.includes(title)
  const isTooWide = (widthOf: (column: (typeof columns)[number]) => number) =>
    columns.reduce((sum, column) => sum + widthOf(column), (columns.length - 1) * GAP) > width
  // A single table needs no name.
  if (isTooWide((column) => column.width))
    columns = columns.filter(({ title, at }) => title !== 'TABLE' || isVaried(rows, at))
  for (const title of spare) {
    if (!isTooWide((column) => (isWhole(column) ? column.width : Math.min(column.width, READABLE)))) break
    columns = columns.filter((column) => column.title !== title)
  }
  while (isTooWide((column) => column.width)) {
    const widest = columns
      .filter((column) => !isWhole(column) && column.width > MIN)
      .reduce<(typeof columns)[number] | null>((a, b) => (a === null || b.width >= a.width ? b : a), null)
    if (widest === null) break
    widest.width -= 1
  }
  return rows.map((row) => columns.map(({ at, width: room }) => cutText(row[at] ?? '', room)))
}

const isVaried = (rows: string[][], at: number) => new Set(rows.slice(1).map((row) => row[at])).size > 1
