// Notes of a plan about the times of a team's table (OPS-13).
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
