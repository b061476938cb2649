// A queue library: how its tables are recognised, which rows run, when it considers a worker dead, and how it recovers a job.
import type { Condition, EndRule, OwnerTable } from '../scan-target.ts'

/** Identifies a table by its columns, in any schema and under any name. */
export interface TableShape {
  /** All are required; of a list any one, for versions with other names. The first is rare and used for the search. */
  columns: [ColumnSign, ...ColumnSign[]]
  /** Table name, if the columns are not specific enough. */
  table?: RegExp
  /** Columns that must be integers, for the same reason. */
  epochColumns?: string[]
}

export type ColumnSign = string | string[]

export interface KnownQueue extends TableShape {
  name: string
  /** The version whose sources the rules come from. */
  version: string
  /** Null if rows do not show which of them run. */
  running: Condition[] | null
  /** The newest of them is the last sign of life of the worker. */
  timeColumns: string[]
  /** When the queue considers the worker dead; the earliest counts. */
  ends: EndRule[]
  owners?: OwnerTable
  /** The rule in the queue's own terms. */
  rule: string
  /** How to recover a stuck job. */
  remedy: string
  /** Migration guide in docs/migrate. */
  page?: string
  /** Other tables of the queue with a status: not counted, and never attached. */
  parts?: TableShape[]
}

export const HOUR_S = 3_600
