// Other queue libraries. Columns that an older or newer version lacks are left out of the rules.
import type { SightedColumn } from '../scan-target.ts'
import { databaseQueues } from './in-database.ts'
import { javascriptQueues } from './javascript.ts'
import type { KnownQueue, TableShape } from './known-queue.ts'
import { otherQueues } from './other-languages.ts'
import { rubyQueues } from './ruby.ts'

export type { KnownQueue } from './known-queue.ts'

export const knownQueues: readonly KnownQueue[] = [
  ...javascriptQueues,
  ...rubyQueues,
  ...otherQueues,
  ...databaseQueues,
]

/** Columns to search the catalogue for: every table of a known queue has one of them. */
export const rareColumns: readonly string[] = [
  ...new Set(knownQueues.flatMap(({ columns: [first] }) => first)),
]

export interface NamedColumns {
  table: string
  columns: Record<string, Pick<SightedColumn, 'type'>>
}

/** `isPart` if it is not the queue's table of jobs. */
export function queueOf(found: NamedColumns): { queue: KnownQueue; isPart: boolean } | null {
  for (const queue of knownQueues) {
    // An archive has all columns of its queue, and more.
    if (queue.parts?.some((part) => hasShape(part, found))) return { queue, isPart: true }
    if (hasShape(queue, found)) return { queue, isPart: false }
  }
  return null
}

const NUMBERS = new Set(['integer', 'bigint'])

function hasShape({ columns, table, epochColumns = [] }: TableShape, found: NamedColumns): boolean {
  return (
    (table?.test(found.table) ?? true) &&
    columns.every((sign) => [sign].flat().some((name) => name in found.columns)) &&
    epochColumns.every((name) => NUMBERS.has(found.columns[name]?.type ?? ''))
  )
}
