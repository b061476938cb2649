// Facts for the checks, read in read-only transactions. Null means unreadable.
import type { AgeRule } from '../policy/lease/age-rule.ts'
import type { Policy, PolicyOverride } from '../policy/policy.ts'
import type { PolicyDifference } from '../policy/policy-differences.ts'
import type { TimeAhead } from '../profile/time-type.ts'
import type { UnhandledType } from '../store/find-unhandled-types.ts'
import type { Health, TableMode, WorkerStatus } from '../store/job-store.ts'
import type { Breaker } from '../store/ports/dependency-store.ts'

export interface DoctorFacts {
  server: ServerFacts
  route: RouteFacts | null
  /** Most connections of a worker for its calls, as this process is configured. */
  connections: number
  migrations: MigrationFacts | null
  horizon: HorizonHolder[] | null
  breakers: Breaker[] | null
  tables: TableFacts[]
  /** Read errors. */
  unreadable: Unreadable[]
}

export interface Unreadable {
  what: string
  reason: string
}

export interface ServerFacts {
  version: string
  versionNumber: number
  /** By the database's clock. */
  now: Date
  /** The database's clock minus this host's. */
  clockSkewMs: number
  /** Round trip of one query. */
  roundTripMs: number
  isStandby: boolean
  hasAutovacuum: boolean
  role: string
  canSeeOthers: boolean
  /** pg_cron is installed here. */
  hasCron: boolean
  /** `max_connections` without those that are reserved. */
  connectionSlots: number
}

export interface RouteFacts {
  /** The database URL leads to the server itself, not to a pooler. */
  isDirect: boolean
  /** The connection of UNSTUCK_DIRECT_URL; null if it is not set. */
  direct: { isDirect: boolean; isSameDatabase: boolean } | null
}

export interface MigrationFacts {
  isInstalled: boolean
  applied: string[]
  pending: string[]
  unknown: string[]
  engine: string
  tables: { table: string; state: string }[]
  isCurrent: boolean
}

export interface HorizonHolder {
  kind: 'transaction' | 'prepared transaction' | 'replication slot'
  name: string
  state: string
  ageMs: number | null
  /** Age, in transactions, of the oldest row that it may still need. */
  xminAge: number | null
  fix: string
}

export interface TableFacts {
  /** Qualified by its schema. */
  name: string
  stored: Policy | null
  /** Overrides by the environment or the config file of this process. */
  override: PolicyOverride
  /** The statement that would store the override. */
  storeOverride: string | null
  /** Drift from the policy of a profile in the config file, and the statement that stores it; null for a shipped profile. */
  profileDrift: { differences: PolicyDifference[]; statement: string | null } | null
  /** Maxima in rows, or from a column default, that win over the policy. Null for the native table: enqueue sets it. */
  ownMaxima: { maximum: number; jobs: number; isDefault: boolean; fix: string }[] | null
  /** Rule for running rows without a lease. */
  ageRule: AgeRule | null
  health: Health | null
  mode: TableMode | null
  longOverdue: { jobs: number; ids: string[]; oldestMs: number | null } | null
  /** Waiting jobs that are released again and again, the most released first. */
  releasedOften: { jobs: number; ids: string[]; most: number } | null
  /** Times without a zone that would be in the future. */
  timesAhead: TimeAhead[] | null
  unknownWords: { word: string | null; jobs: number }[] | null
  relation: RelationFacts | null
  missingRights: { object: string; missing: string; fix: string }[] | null
  /** Rows that row security may hide from this role, by command. */
  hiddenRows: HiddenRows[] | null
  exposedObjects: ExposedObject[] | null
  claim: IndexUse | null
  sweep: IndexUse | null
  /** Missing indexes for searches, which cost every job. */
  searchIndexes: { column: string; create: string }[] | null
  dispatchesWaiting: number | null
  /** Types whose jobs wait while no worker handles them. Queues on hold are left out. */
  unhandled: UnhandledType[] | null
  /** Workers that have not ended. */
  workers: Pick<WorkerStatus, 'presence'>[] | null
}

export interface HiddenRows {
  object: string
  commands: string
  /** No row security policy applies to the role. */
  isAll: boolean
  fix: string
}

/** A view, function or table of unstuck that shows a role more than the job table does. */
export interface ExposedObject {
  kind: 'view' | 'function' | 'table'
  object: string
  /** Null: it could show everything, but no such role may read it yet. */
  role: string | null
  /** Hidden by row security; otherwise the role has no permission on the job table. */
  isHidden: boolean
  fix: string
}

export interface RelationFacts {
  isUnlogged: boolean
  hasPrimaryKey: boolean
  /** Null if never set, which means 100. */
  fillfactor: number | null
  hasAutovacuum: boolean
  scaleFactor: number
  liveRows: number
  deadRows: number
  /** Null if never vacuumed. */
  vacuumAgeMs: number | null
  beatIndexes: { name: string; columns: string[]; drop: string }[]
  fixes: RelationFixes
}

export interface RelationFixes {
  setLogged: string
  addPrimaryKey: string
  setFillfactor: string
  enableAutovacuum: string
  setScaleFactor: string
  vacuum: string
  analyze: string
  /** Statement that schedules sweeps with pg_cron. */
  scheduleSweeps: string
}

export interface IndexUse {
  /** The index that attach created, and the statement that creates it. */
  expected: string
  create: string
  isThere: boolean
  /** How the planner would read the table: names of indexes, or `seq scan`. */
  used: string[]
}
