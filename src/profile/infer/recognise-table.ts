// Finds the queue of a table by name and columns alone: known queues first, then shipped profiles, then a guess by the words
// and columns that hand-made job tables use.

import { ageColumnNames, columnName, type Profile, type StateColumns, type TableProfile } from '../profile.ts'
import { isEpoch, timeTypesOf } from '../time-type.ts'
import { guessTable, whyNotUnderstood } from './guess-table.ts'
import { type KnownQueue, queueOf } from './known-queues/index.ts'
import {
  type Condition,
  type EndRule,
  type OwnerTable,
  type ScanTarget,
  type SightedTable,
  tableArgument,
} from './scan-target.ts'

/** Null without any evidence of jobs. */
export function recogniseTable(
  sighted: SightedTable,
  all: SightedTable[],
  profiles: Profile[],
): ScanTarget | null {
  const known = queueOf(sighted)
  if (known !== null) return known.isPart ? null : knownTarget(known.queue, sighted, all)
  for (const profile of profiles) {
    const table = profile.tables.find((candidate) => isOfProfile(candidate, sighted))
    if (table !== undefined) return profileTarget(profile, table, sighted)
  }
  return guessTable(sighted)
}

/** Why a table is not counted that may hold jobs; null if it is counted, or holds none. */
export function unrecognised(sighted: SightedTable, all: SightedTable[], profiles: Profile[]): string | null {
  const isPart = queueOf(sighted) !== null
  return isPart || recogniseTable(sighted, all, profiles) !== null ? null : whyNotUnderstood(sighted)
}

function knownTarget(queue: KnownQueue, sighted: SightedTable, all: SightedTable[]): ScanTarget {
  const { name, columns, running, timeColumns, epochColumns = [], ends, owners, rule, remedy } = queue
  return {
    schema: sighted.schema,
    table: sighted.table,
    kind: 'known queue',
    name,
    certainty: 'sure',
    nearly: null,
    evidence: columns.map((sign) => [sign].flat().find((column) => column in sighted.columns) ?? ''),
    primaryKey: sighted.primaryKey,
    running,
    status: null,
    timeColumns: timeColumns.filter((column) => column in sighted.columns),
    epochColumns,
    ends: ends.filter((end) => hasColumns(end, sighted)),
    owners: usableOwners(owners, sighted, all),
    rule,
    remedy,
    next: null,
  }
}

function hasColumns(end: EndRule, { columns }: SightedTable): boolean {
  return [end.column, end.plusSecondsColumn, end.plusIntervalColumn].every(
    (column) => column === undefined || column in columns,
  )
}

function usableOwners(
  owners: OwnerTable | undefined,
  sighted: SightedTable,
  all: SightedTable[],
): OwnerTable | null {
  if (owners === undefined || !(owners.jobColumn in sighted.columns)) return null
  // Applications may prefix all their tables.
  const found = all.find(({ schema, table }) => schema === sighted.schema && table.endsWith(owners.table))
  return found !== undefined && owners.timeColumn in found.columns ? { ...owners, table: found.table } : null
}

/** The name alone proves little: one of the profile's age columns must exist too. */
function isOfProfile(profile: TableProfile, { schema, table, columns }: SightedTable): boolean {
  if (profile.schema !== schema || profile.table !== table) return false
  const words = columns[columnName(profile, 'status')]?.words
  const hasStatus =
    profile.stateColumns === undefined
      ? columnName(profile, 'status') in columns &&
        (words == null || profile.statuses.running.some((word) => words.includes(word)))
      : profile.stateColumns.running in columns
  return hasStatus && ageColumnNames(profile).some((column) => column in columns)
}

const runningByTimes = ({ running, ...ended }: StateColumns): Condition[] => [
  { column: running, isNull: false },
  ...Object.values(ended).map((column) => ({ column, isNull: true })),
]

function wordsOf({ statuses, ignoredStatuses = [] }: TableProfile): string[] {
  const { running, cancelled, ...others } = statuses
  return [
    ...running,
    ...Object.values(others),
    ...(cancelled === null ? [] : [cancelled]),
    ...ignoredStatuses,
  ]
}

function profileTarget({ name }: Profile, profile: TableProfile, sighted: SightedTable): ScanTarget {
  const status = columnName(profile, 'status')
  const lease = columnName(profile, 'lease_expires_at')
  const words = sighted.columns[status]?.words ?? null
  const hasLease = lease in sighted.columns
  const timeColumns = [...ageColumnNames(profile), columnName(profile, 'started_at')].filter(
    (column) => column in sighted.columns,
  )
  const running: Condition[] =
    profile.stateColumns === undefined
      ? [{ column: status, words: profile.statuses.running.filter((word) => words?.includes(word) ?? true) }]
      : runningByTimes(profile.stateColumns)
  const typeOf = (column: string) => sighted.columns[column]?.type ?? ''
  return {
    schema: sighted.schema,
    table: sighted.table,
    kind: 'profile',
    name,
    certainty: 'sure',
    nearly: null,
    evidence: [...new Set([...running.map(({ column }) => column), ...timeColumns])],
    primaryKey: sighted.primaryKey,
    running,
    status: profile.stateColumns === undefined ? { column: status, words: wordsOf(profile) } : null,
    timeColumns: [...new Set(timeColumns)],
    epochColumns: [...timeColumns, lease].filter((column) => isEpoch(typeOf(column))),
    timeTypes: timeTypesOf(profile, [...timeColumns, lease], sighted.columns),
    ends: hasLease ? [{ column: lease }] : [],
    owners: null,
    rule: hasLease ? `${lease} has passed` : null,
    remedy: hasLease
      ? 'A reaper requeues jobs whose lease has expired: start a worker, or unstuck reaper.'
      : 'None: without a lease, a dead worker looks like a slow one.',
    next: hasLease
      ? `unstuck reap --dry-run --profile ${name}`
      : `unstuck attach --plan --table ${tableArgument(sighted.schema, sighted.table)} --profile ${name}`,
  }
}
