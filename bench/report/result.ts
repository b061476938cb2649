// The result of a measure: a table with a row for each variant.
import type { Spread } from './statistics.ts'

export interface MeasureResult {
  /** `process-off` belongs to `process`. */
  id: string
  title: string
  method: string
  columns: Column[]
  rows: Row[]
  /** Values shown by the graph. */
  chart?: { kind: 'bars'; column: string } | { kind: 'lines'; columns: string[]; axis: string }
  /** Markdown after the table. */
  notes?: string[]
  /** Values as rows, variants as columns. */
  isUpright?: boolean
}

export interface Column {
  key: string
  title: string
  digits?: number
}

export interface Row {
  id: string
  name: string
  /** Settings. */
  settings: string | null
  values: Record<string, Spread>
  /** Cores used by other processes meanwhile. */
  othersCpu: Spread | null
  /** Why it was left out. */
  problem: string | null
}
