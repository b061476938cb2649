// Notes of a plan about the times and the state of a team's table (OPS-13).
import { timeZoneOf } from '../../../../profile/profile.ts'
import { isFixedZone } from '../../../../profile/time-type.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'

export function timeNotes(options: RenderOptions): string[] {
  const { table, timeTypes = {} } = options
  const names = (kind: string) => Object.keys(timeTypes).filter((name) => timeTypes[name]?.kind === kind)
  const [zoneless, epochs] = [names('zoneless'), names('epoch')]
  const place = `${table.schema}.${table.table}`
  const zone = timeZoneOf(table)
  const use = isFixedZone(zone) ? 'read and written' : 'read for ages only, with an hour of margin,'
  return [
    ...(zoneless.length === 0
      ? []
      : [`${place}: ${zoneless.join(', ')}: no time zone; ${use} as ${zone} (timeZone in the profile)`]),
    ...(zoneless.length > 0 && zone === 'UTC' ? changeNotes(options, zoneless) : []),
    ...(epochs.length === 0
      ? []
      : [
          `${place}: ${epochs.join(', ')}: ${table.epochUnit === 'ms' ? 'milliseconds' : 'seconds'} since 1970 (epochUnit in the profile)`,
        ]),
  ]
}

/** A status that is computed from times, and the statement that a team needs whose jobs the engine is to claim. */
export function stateNotes(options: RenderOptions): string[] {
  const { stateColumns, schema, table } = options.table
  if (stateColumns === undefined) return []
  const { running, succeeded, dead } = stateColumns
  const states = [
    `running while ${running} is set`,
    ...(succeeded === undefined ? [] : [`succeeded once ${succeeded} is`]),
    dead === undefined ? 'dead is not shown: such a row keeps its lock' : `dead once ${dead} is`,
  ]
  const note = `${schema}.${table}: no status; ${states.join(', ')} (stateColumns in the profile)`
  if (succeeded !== undefined) return [note]
  const statement = render(readSql('attach/table', 'add_status'), options).trim()
  return [
    note,
    '  Stuck jobs are requeued, but unstuck claims none: completed, a row would look like a waiting one. To let it claim, add a',
    '  status that your code writes, and name it and its words in the profile in place of stateColumns:',
    `    ${statement}`,
  ]
}

/** In a session whose zone is UTC, PostgreSQL changes the type without rewriting a row. */
function changeNotes(options: RenderOptions, names: string[]): string[] {
  const statements = names.map((sampledColumn) =>
    render(readSql('attach/table', 'change_time_type'), { ...options, sampledColumn }).trim(),
  )
  return [
    '  To give them a zone instead, before attaching. Locks the table exclusively; rewrites no row, but rebuilds their indexes:',
    ...["begin; set local timezone = 'UTC'; set local lock_timeout = '2s';", ...statements, 'commit;'].map(
      (line) => `    ${line}`,
    ),
  ]
}
