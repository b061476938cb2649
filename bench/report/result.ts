// What a measure found: a table with a row for each variant.
import type { Spread } from './statistics.ts'

export interface MeasureResult {
  /** `process-off` belongs to `process`. */
  id: string
  title: string
  method: string
  columns: Column[]
  rows: Row[]
  /** Which values the graph shows. */
  chart?: { kind: 'bars'; column: string } | { kind: 'lines'; columns: string[]; axis: string }
  /** Behind the table, as Markdown. */
  notes?: string[]
  /** The values down, the variants across. */
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
  /** What was set. */
  settings: string | null
  values: Record<string, Spread>
  /** Cores that other processes used meanwhile. */
  othersCpu: Spread | null
  /** Why it was left out. */
  problem: string | null
}
