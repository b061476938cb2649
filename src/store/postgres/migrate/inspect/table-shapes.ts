// Reads the shape of tables as input for a profile.

import { statusColumn } from '../../../../profile/infer/infer-profile.ts'
import type { ShapeColumn, TableShape } from '../../../../profile/infer/table-shape.ts'
import { completeTable } from '../../../../profile/own-profile.ts'
import type { Row } from '../../connection/executor.ts'
import { readSql } from '../../sql-files.ts'
import type { MigrationSession } from '../session/migration-session.ts'
import { withReadingSession } from '../session/reading-session.ts'
import { wordsInRows } from './inspect-words.ts'

export interface ShapedTable extends TableShape {
  /** relkind: `r` or `p` for a table. */
  kind: string
  /** Values of the status column, if there is one. */
  wordsInRows: string[]
}

/** All tables of this name, in one schema or (null) in any. */
export function readTableShapes(
  databaseUrl: string,
  { schema, table }: { schema: string | null; table: string },
): Promise<ShapedTable[]> {
  return withReadingSession(databaseUrl, async (session) => {
    const rows = await session.run(readSql('attach/table', 'table_shape'), [schema, table])
    const shapes: ShapedTable[] = []
    for (const row of rows) {
      const shape = shapeOf(row)
      shapes.push({ ...shape, kind: String(row['kind']), wordsInRows: await readWords(session, shape) })
    }
    return shapes
  })
}

function shapeOf(row: Row): TableShape {
  return {
    schema: String(row['schema']),
    table: String(row['table']),
    primaryKey: row['primary_key'] as string[],
    partitionColumns: row['partition_columns'] as string[],
    columns: row['columns'] as Record<string, ShapeColumn>,
  }
}

/** The query renders only the names of table and status column: the rest of the profile is not known yet. */
async function readWords(session: MigrationSession, shape: TableShape): Promise<string[]> {
  const status = statusColumn(shape)
  if (status === undefined) return []
  const table = completeTable({
    schema: shape.schema,
    table: shape.table,
    idType: 'text',
    columns: { status },
    statuses: { waiting: '', running: [''], succeeded: '', dead: '' },
  })
  return wordsInRows(session, { schema: 'unstuck', table })
}
