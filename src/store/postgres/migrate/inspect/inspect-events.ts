// A team's own events table is written in the transaction of every change: a row that it refuses would break sweeps.
import { UnstuckError } from '../../../../errors/index.ts'
import type { IdType, TeamEvents } from '../../../../profile/profile.ts'
import type { RenderOptions } from '../../render/render.ts'
import type { MigrationSession } from '../session/migration-session.ts'

interface EventColumn {
  type: string
  is_generated: boolean
  is_required: boolean
}

interface ForeignKey {
  name: string
  table: string
  /** The statement that drops it. */
  drop: string
}

export async function assertTeamEvents(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { teamEvents, idType } = options.table
  if (teamEvents === null) return
  const { schema, table, jobIdColumn } = teamEvents
  const [row] = await session.query('inspect_events', options, [schema, table, jobIdColumn])
  if (row === undefined) {
    throw refused(teamEvents, 'not found in this database', 'Correct teamEvents in the profile.')
  }
  if (!['r', 'p'].includes(String(row['kind']))) {
    throw refused(teamEvents, 'it is not a table', 'Name the table behind it.')
  }
  assertColumns(teamEvents, idType, row['columns'] as Record<string, EventColumn>)
  const [stranger] = row['foreign_keys'] as ForeignKey[]
  if (stranger === undefined) return
  throw refused(
    teamEvents,
    `its constraint ${stranger.name} lets ${jobIdColumn} name rows of ${stranger.table} only, ` +
      `and ${options.table.schema}.${options.table.table} writes into it too`,
    `${stranger.drop};`,
  )
}

const jobIdTypes: Record<IdType, string[]> = {
  uuid: ['uuid', 'text', 'character varying'],
  bigint: ['bigint', 'integer', 'text', 'character varying'],
  text: ['text', 'character varying'],
}

function assertColumns(events: TeamEvents, idType: IdType, columns: Record<string, EventColumn>): void {
  assertColumn(events, events.jobIdColumn, columns, jobIdTypes[idType])
  assertColumn(events, events.dataColumn, columns, ['jsonb', 'json'])
  const required = Object.keys(columns).filter(
    (name) =>
      columns[name]?.is_required === true && name !== events.jobIdColumn && name !== events.dataColumn,
  )
  if (required.length === 0) return
  const names = required.toSorted().join(', ')
  throw refused(events, `it wants a value for ${names} too`, `Give a default to ${names}, or allow NULL.`)
}

function assertColumn(
  events: TeamEvents,
  name: string,
  columns: Record<string, EventColumn>,
  types: string[],
): void {
  const column = columns[name]
  if (column === undefined) {
    throw refused(events, `it has no column ${name}`, 'Correct teamEvents in the profile.')
  }
  if (column.is_generated || !types.includes(column.type)) {
    const what = column.is_generated ? 'generated' : column.type
    throw refused(events, `its column ${name} is ${what}`, `It has to be ${types.join(' or ')}.`)
  }
}

function refused({ schema, table }: TeamEvents, problem: string, hint: string): UnstuckError {
  return new UnstuckError('TABLE_UNSUPPORTED', `events table ${schema}.${table}: ${problem}`, { hint })
}
