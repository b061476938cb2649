// A profile of a team that differs from a shipped one in a few points (OPS-13): everything that is not given stays the document's.
import { withOverride } from '../policy/policy.ts'
import { attachmentName, completeProfile, type OwnProfile, type OwnTable } from './own-profile.ts'
import type { LastError, Profile, TableProfile, TeamEvents, TeamObject } from './profile.ts'
import { type ProfileName, shippedProfile } from './shipped.ts'

export interface ExtendedProfile extends Omit<OwnProfile, 'tables'> {
  extends: Exclude<ProfileName, 'native'>
  /** The first extends the first table of the shipped profile, and so on. Default: its tables. */
  tables?: [TableDifferences, ...TableDifferences[]]
}

export interface TableDifferences extends Partial<Omit<OwnTable, 'statuses' | 'teamEvents' | 'lastError'>> {
  statuses?: Partial<TableProfile['statuses']>
  /** Null: there is none. */
  teamEvents?: Partial<TeamEvents> | null
  lastError?: Partial<LastError> | null
  /** Another name for a function or view of the document, or false to leave it out. */
  teamObjects?: Record<string, string | false>
}

/** A profile as a config file defines it, completed. */
export const profileFrom = (given: OwnProfile | ExtendedProfile): Profile =>
  'extends' in given ? extendProfile(given) : completeProfile(given)

export function extendProfile({ extends: base, tables, ...profile }: ExtendedProfile): Profile {
  // The schema matters to the native profile only, which cannot be extended.
  const shipped = shippedProfile(base, 'unstuck')
  const [first, ...others] = (tables ?? shipped.tables.map(() => ({}))).map((differences, place) =>
    extendTable(shipped.tables[place] ?? shipped.tables[0], differences),
  )
  return { ...shipped, ...profile, extends: base, tables: [first ?? shipped.tables[0], ...others] }
}

function extendTable(base: TableProfile, differences: TableDifferences): TableProfile {
  const { columns, statuses, teamEvents, lastError, teamObjects, policy, ...given } = differences
  const { lastError: baseError, teamObjects: baseObjects, ...rest } = base
  const schema = given.schema ?? base.schema
  const isRenamed = given.table !== undefined && given.table !== base.table
  const error = lastError === null || baseError === undefined ? undefined : { ...baseError, ...lastError }
  const objects = extendObjects(baseObjects ?? [], teamObjects ?? {})
  return {
    ...rest,
    attachment: isRenamed ? attachmentName(given.table ?? base.table) : base.attachment,
    ...given,
    columns: { ...base.columns, ...columns },
    statuses: { ...base.statuses, ...statuses },
    teamEvents:
      teamEvents === null || base.teamEvents === null ? null : { ...base.teamEvents, schema, ...teamEvents },
    ...(error === undefined ? {} : { lastError: error }),
    ...(objects.length === 0 ? {} : { teamObjects: objects }),
    policy: withOverride(base.policy, policy),
  }
}

function extendObjects(objects: TeamObject[], names: Record<string, string | false>): TeamObject[] {
  return objects
    .filter(({ name }) => names[name] !== false)
    .map((object) => {
      const name = names[object.name]
      const calls = object.calls === undefined ? undefined : names[object.calls]
      return {
        ...object,
        ...(typeof name === 'string' ? { name, document: object.name } : {}),
        ...(typeof calls === 'string' ? { calls } : {}),
      }
    })
}
