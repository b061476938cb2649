// Functions and views under names that the team's own SQL calls, in the schema of its table. An existing object of such a
// name is renamed, and restored when the table is detached.
import type { TeamObject } from '../../../profile/profile.ts'
import { type RenderOptions, render, teamName } from '../render/render.ts'
import { readSql } from '../sql-files.ts'
import type { MigrationSession } from './session/migration-session.ts'

/** Arguments of place_team_object: the description as JSON, and the statement, empty for a wrapper. */
export type TeamObjectValues = [object: string, statement: string]

/** Phase 1 is always included: the others depend on it. */
export function teamObjectValues(options: RenderOptions, phases?: number[]): TeamObjectValues[] {
  const objects = options.table.teamObjects ?? []
  const isWanted = ({ phase }: TeamObject) => phases === undefined || phase === 1 || phases.includes(phase)
  return objects
    .map((object, ordinal) => ({ object, ordinal }))
    .filter(({ object }) => isWanted(object))
    .sort((a, b) => a.object.phase - b.object.phase)
    .map(({ object, ordinal }): TeamObjectValues => {
      const { document, ...described } = object
      const name = teamName(options.table, document ?? object.name)
      const statement =
        object.kind === 'wrapper' ? '' : render(readSql('team', document ?? object.name), options)
      const description = { ...described, name, ordinal }
      return [JSON.stringify(description), statement]
    })
}

/** Call in a transaction, after the functions of the table. Updates phases that were installed before. */
export async function installTeamObjects(
  session: MigrationSession,
  options: RenderOptions,
  phases: number[] | undefined,
): Promise<void> {
  if (options.table.teamObjects === undefined) return
  const installed = (await session.query('list_team_phases', options)).map(({ phase }) => Number(phase))
  const wanted = phases && [...phases, ...installed]
  for (const values of teamObjectValues(options, wanted)) {
    await session.query('place_team_object', options, values)
  }
}
