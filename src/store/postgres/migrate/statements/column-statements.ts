import type { LogicalColumn } from '../../../../profile/profile.ts'
import { readSql } from '../../sql-files.ts'

export interface ColumnStatement {
  column: LogicalColumn
  type: string
  /** Not rendered yet. */
  sql: string
}

/** The statements of sql/attach/table/columns.sql with the column that each adds, without those the table does without. */
export function columnStatements(absent?: ReadonlySet<LogicalColumn>): ColumnStatement[] {
  const statements = readSql('attach/table', 'columns').matchAll(
    /^alter table .* add column if not exists "(\w+)" (\w+(?:\[\])?).*;$/gm,
  )
  return [...statements]
    .map(([sql, column, type]) => ({ column: column as LogicalColumn, type: String(type), sql }))
    .filter(({ column }) => absent?.has(column) !== true)
}
