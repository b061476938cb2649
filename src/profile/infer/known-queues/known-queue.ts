// What is known of a queue that others made: how its tables are recognised, which rows run, by what the queue itself judges that
// a worker is gone, and what brings such a job back there.
import type { Condition, EndRule, OwnerTable } from '../scan-target.ts'

/** Proves a table by its columns, in whatever schema and under whatever name. */
export interface TableShape {
  /** All must be there; of a list any one, for versions that name it differently. The first is rare: it is searched for. */
  columns: [ColumnSign, ...ColumnSign[]]
  /** Where the names of the columns prove too little. */
  table?: RegExp
  /** The same for their types: columns that must be whole numbers. */
  epochColumns?: string[]
}

export type ColumnSign = string | string[]

export interface KnownQueue extends TableShape {
  name: string
  /** Whose sources the rules were read from. */
  version: string
  /** Null where the rows do not say which of them run. */
  running: Condition[] | null
  /** The newest of them tells when the row was last touched by a worker. */
  timeColumns: string[]
  /** When the queue itself gives the worker up; the earliest counts. */
  ends: EndRule[]
  owners?: OwnerTable
  /** The rule in the words of the queue. */
  rule: string
  /** What would bring a stuck job back. */
  remedy: string
  /** The page on moving away from it, in docs/migrate. */
  page?: string
  /** Other tables of the queue that have a status: nothing is counted in them, and none is attached. */
  parts?: TableShape[]
}

export const HOUR_S = 3_600
