import { closestName } from '../../../../errors/index.ts'
import { columnName } from '../../../../profile/profile.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'
import type { MigrationSession } from '../session/migration-session.ts'
import { unsupported } from './unsupported.ts'

/** Values of the status column in rows of the table. */
export async function wordsInRows(session: MigrationSession, options: RenderOptions): Promise<string[]> {
  const sql = render(readSql('attach/table', 'words_in_rows'), options)
  const rows = await session.run(sql, [columnName(options.table, 'status')])
  return rows.map(({ word }) => String(word))
}

/** An unknown status may mean running: its jobs would stay stuck unnoticed. */
export async function assertKnownWords(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { statuses, ignoredStatuses = [], stateColumns } = options.table
  if (stateColumns !== undefined) return
  const { running, cancelled, ...others } = statuses
  const known = [...running, ...Object.values(others), ...(cancelled === null ? [] : [cancelled])]
  const strangers = (await wordsInRows(session, options)).filter(
    (word) => !known.includes(word) && !ignoredStatuses.includes(word),
  )
  if (strangers.length === 0) return
  const near = strangers.map((word) => closestName(word, known)).find((word) => word !== undefined)
  const meant = near === undefined ? '' : ` Did you mean '${near}'?`
  throw unsupported(
    options.table,
    `its rows have ${strangers.map((word) => `'${word}'`).join(', ')} as their status, which the profile does not know`,
    `Give each a role in statuses, or name it in ignoredStatuses of a profile of your own.${meant}`,
  )
}
