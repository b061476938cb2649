// Which columns attach adds to a table and what for, and which features it leaves out.
import { featureOf, featuresWithout, whyColumn } from '../../../../profile/features.ts'
import { columnName, type Feature } from '../../../../profile/profile.ts'
import type { RenderOptions } from '../../render/render.ts'
import { columnStatements } from './column-statements.ts'

export interface PlannedTable {
  table: string
  columns: PlannedColumn[]
  /** Features whose columns neither exist nor are added. */
  leftOut: Feature[]
}

export interface PlannedColumn {
  /** By the team's name. */
  column: string
  /** Null for columns that every attached table has. */
  feature: Feature | null
  why: string
}

export function plannedColumns(options: RenderOptions, present: Record<string, unknown>): PlannedTable {
  const { table, absent = new Set() } = options
  const columns = columnStatements(absent).flatMap(({ column }) => {
    const name = columnName(table, column)
    return name in present ? [] : [{ column: name, feature: featureOf(column), why: whyColumn(column) }]
  })
  return { table: `${table.schema}.${table.table}`, columns, leftOut: featuresWithout(absent) }
}
