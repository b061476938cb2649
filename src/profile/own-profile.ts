// A team's own profile in the config file, and its defaults.
import { attachedPolicy, type PolicyOverride, withOverride } from '../policy/policy.ts'
import type { Profile, TableProfile, TeamEvents } from './profile.ts'

export interface OwnProfile extends Pick<Profile, 'breakerMode' | 'isPruned'> {
  /** Any word that is not the name of a shipped profile. */
  name: string
  tables: [OwnTable, ...OwnTable[]]
}

export interface OwnTable
  extends Pick<TableProfile, 'table' | 'idType'>,
    Partial<
      Pick<
        TableProfile,
        | 'attachment'
        | 'schema'
        | 'columns'
        | 'payload'
        | 'ignoredStatuses'
        | 'stateColumns'
        | 'features'
        | 'defaultType'
        | 'ageColumns'
        | 'teamAgeColumns'
        | 'timeZone'
        | 'epochUnit'
        | 'hasLockTime'
        | 'hasUniqueDedupeKey'
        | 'lastError'
        | 'documentIndexes'
      >
    > {
  /** Required, unless `stateColumns` are given. */
  statuses?: Omit<TableProfile['statuses'], 'cancelled'> & { cancelled?: string | null }
  teamEvents?: (Omit<TeamEvents, 'schema'> & { schema?: string }) | null
  /** Overrides the policy of attached tables. */
  policy?: PolicyOverride
}

const PUBLIC = 'public'
/** Leaves room for the longest function name before it: 24 characters now. */
const LONGEST_ATTACHMENT = 32

export function completeProfile({ tables: [first, ...others], ...profile }: OwnProfile): Profile {
  return { ...profile, tables: [completeTable(first), ...others.map(completeTable)] }
}

/** Words for a state that the table shows by its times. */
const stateWords = {
  waiting: 'waiting',
  running: ['running'] as [string],
  succeeded: 'succeeded',
  dead: 'dead',
}

export function completeTable({ policy, teamEvents, statuses, ...table }: OwnTable): TableProfile {
  return {
    attachment: attachmentName(table.table),
    schema: PUBLIC,
    columns: {},
    defaultType: null,
    ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
    ...table,
    statuses: { cancelled: null, ...(statuses ?? stateWords) },
    teamEvents: teamEvents == null ? null : { schema: PUBLIC, ...teamEvents },
    policy: withOverride(attachedPolicy, policy),
  }
}

/** A plain identifier for functions and policies. */
export function attachmentName(table: string): string {
  const plain = table
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d_]+/g, '_')
    .slice(0, LONGEST_ATTACHMENT)
  return /^(\d|pg_|native$|_*$)/.test(plain) ? `team_${plain}`.slice(0, LONGEST_ATTACHMENT) : plain
}
