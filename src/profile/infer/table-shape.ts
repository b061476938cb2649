// Facts from the catalogue and a few rows of a table, to draft a profile from.
import type { EpochUnit } from '../time-type.ts'

export interface TableShape {
  schema: string
  table: string
  primaryKey: string[]
  /** Empty if the table is not partitioned. */
  partitionColumns: string[]
  columns: Record<string, ShapeColumn>
}

export interface ShapeColumn {
  /** Name from `format_type`, without length. */
  type: string
  isNullable: boolean
  isGenerated: boolean
  /** Words of an enum, or of a CHECK on this column alone; null if any text is allowed. */
  words: string[] | null
  /** The default, if it is a text literal. */
  defaultWord: string | null
  /** Unit of an integer whose values are times; null if they are none, undefined without any value. */
  epochUnit?: EpochUnit | null
}
