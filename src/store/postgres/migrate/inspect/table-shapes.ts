// Reads the shape of tables as input for a profile.

import { statusColumn } from '../../../../profile/infer/infer-profile.ts'
import { mayHoldTime } from '../../../../profile/infer/infer-times.ts'
import type { ShapeColumn, TableShape } from '../../../../profile/infer/table-shape.ts'
import { completeTable } from '../../../../profile/own-profile.ts'
import { isEpoch } from '../../../../profile/time-type.ts'
import type { Row } from '../../connection/executor.ts'
import type { RenderOptions } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'
import type { MigrationSession } from '../session/migration-session.ts'
import { withReadingSession } from '../session/reading-session.ts'
import { readEpochUnit } from './inspect-times.ts'
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
      const shape = await withEpochUnits(session, shapeOf(row))
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

async function withEpochUnits(session: MigrationSession, shape: TableShape): Promise<TableShape> {
  const columns = { ...shape.columns }
  for (const [name, column] of Object.entries(columns)) {
    if (!isEpoch(column.type) || !mayHoldTime(name)) continue
    const epochUnit = await readEpochUnit(session, readOptions(shape), name)
    if (epochUnit !== undefined) columns[name] = { ...column, epochUnit }
  }
  return { ...shape, columns }
}

async function readWords(session: MigrationSession, shape: TableShape): Promise<string[]> {
  const status = statusColumn(shape)
  return status === undefined ? [] : wordsInRows(session, readOptions(shape, { status }))
}

/** The queries render only the names of the table and of one column: the rest of the profile is not known yet. */
function readOptions({ schema, table }: TableShape, columns: { status?: string } = {}): RenderOptions {
  const statuses = { waiting: '', running: [''] as [string], succeeded: '', dead: '' }
  return { schema: 'unstuck', table: completeTable({ schema, table, idType: 'text', columns, statuses }) }
}
