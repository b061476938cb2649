// What the catalogue and a few rows tell of a table that a profile is to be made for.

export interface TableShape {
  schema: string
  table: string
  primaryKey: string[]
  /** Empty where the table is not partitioned. */
  partitionColumns: string[]
  columns: Record<string, ShapeColumn>
}

export interface ShapeColumn {
  /** As `format_type` names it, without length. */
  type: string
  isNullable: boolean
  isGenerated: boolean
  /** Those of an enum, or of a CHECK over this column alone; null where any text may be written. */
  words: string[] | null
  /** The default, where it is a plain text. */
  defaultWord: string | null
}
