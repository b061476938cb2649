// What the checks judge. Everything was read in read-only transactions; null is what could not be read.
import type { AgeRule } from '../policy/lease/age-rule.ts'
import type { Policy, PolicyOverride } from '../policy/policy.ts'
import type { PolicyDifference } from '../policy/policy-differences.ts'
import type { Health, TableMode } from '../store/job-store.ts'
import type { Breaker, QueueStatus } from '../store/ports/dependency-store.ts'

export interface DoctorFacts {
  server: ServerFacts
  route: RouteFacts | null
  migrations: MigrationFacts | null
  horizon: HorizonHolder[] | null
  breakers: Breaker[] | null
  tables: TableFacts[]
  /** Why something is null above or below. */
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
  /** Of one question and its answer. */
  roundTripMs: number
  isStandby: boolean
  hasAutovacuum: boolean
  role: string
  canSeeOthers: boolean
  /** pg_cron is installed here. */
  hasCron: boolean
}

export interface RouteFacts {
  /** The address of the jobs leads to the server itself, not to a pooler. */
  isDirect: boolean
  /** Of UNSTUCK_DIRECT_URL; null if it is not set. */
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
  /** How many transactions ago the oldest row that it may still need was made. */
  xminAge: number | null
  fix: string
}

export interface TableFacts {
  /** With its schema. */
  name: string
  stored: Policy | null
  /** What the environment or the config file of this process sets over it. */
  override: PolicyOverride
  /** The statement that would store the override. */
  storeOverride: string | null
  /** Against the policy of a profile in the config file, with the statement that stores that; null of a shipped profile. */
  profileDrift: { differences: PolicyDifference[]; statement: string | null } | null
  /** Maxima in rows, or by the default of their column, that win over the policy's. Not of the native table: enqueue sets it. */
  ownMaxima: { maximum: number; jobs: number; isDefault: boolean; fix: string }[] | null
  /** By which running rows without a lease are judged. */
  ageRule: AgeRule | null
  health: Health | null
  mode: TableMode | null
  longOverdue: { jobs: number; ids: string[]; oldestMs: number | null } | null
  /** Those that were released most, of the waiting ones that something keeps sending back. */
  releasedOften: { jobs: number; ids: string[]; most: number } | null
  unknownWords: { word: string | null; jobs: number }[] | null
  relation: RelationFacts | null
  missingRights: { object: string; missing: string; fix: string }[] | null
  /** What row security may hide from this role, by command. */
  hiddenRows: HiddenRows[] | null
  exposedObjects: ExposedObject[] | null
  claim: IndexUse | null
  sweep: IndexUse | null
  dispatchesWaiting: number | null
  queues: QueueStatus[] | null
}

export interface HiddenRows {
  object: string
  commands: string
  /** No policy lets the role through at all. */
  isAll: boolean
  fix: string
}

/** A view, function or table of ours that shows a role more than the job table does. */
export interface ExposedObject {
  kind: 'view' | 'function' | 'table'
  object: string
  /** Null: it could show everything, but no such role may read it yet. */
  role: string | null
  /** By row security; otherwise the role has no right on the job table. */
  isHidden: boolean
  fix: string
}

export interface RelationFacts {
  isUnlogged: boolean
  hasPrimaryKey: boolean
  /** Null where it was never set, which means 100. */
  fillfactor: number | null
  hasAutovacuum: boolean
  scaleFactor: number
  liveRows: number
  deadRows: number
  /** Null where it was never vacuumed. */
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
  /** With pg_cron. */
  scheduleSweeps: string
}

export interface IndexUse {
  /** The index that attach made for it, and the statement that makes it. */
  expected: string
  create: string
  isThere: boolean
  /** How the planner would read the table: names of indexes, or `seq scan`. */
  used: string[]
}
