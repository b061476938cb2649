// Queues that others made. A column that an older or newer version does not have is left out of the rule.
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

/** What the catalogue is searched with: a table of a known queue has one of the columns. */
export const rareColumns: readonly string[] = [
  ...new Set(knownQueues.flatMap(({ columns: [first] }) => first)),
]

export interface NamedColumns {
  table: string
  columns: Record<string, Pick<SightedColumn, 'type'>>
}

/** `isPart` where it is another table of the queue than that of its jobs. */
export function queueOf(found: NamedColumns): { queue: KnownQueue; isPart: boolean } | null {
  for (const queue of knownQueues) {
    // An archive has the columns of its queue, and more.
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
