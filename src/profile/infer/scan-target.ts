// A table as a scan finds it in the catalogue, and what to look for in its rows. Data only: the store turns it into SQL.
import type { TimeTypes } from '../time-type.ts'

/** A table of the catalogue that might hold jobs. */
export interface SightedTable {
  schema: string
  table: string
  columns: Record<string, SightedColumn>
  primaryKey: string[]
  canRead: boolean
  /** Row-level security hides rows from this role. */
  isFiltered: boolean
}

export interface SightedColumn {
  /** Name from `format_type`, without length. */
  type: string
  /** The words of an enum; null for every other type. */
  words: string[] | null
  /** A B-tree index starts with it, in its own order. */
  hasIndex?: boolean
}

/** A running row meets all conditions of a target. */
export type Condition =
  | { column: string; words: string[] }
  | { column: string; isNull: boolean }
  | { column: string; above: number }

/** When a worker is considered dead. */
export interface EndRule {
  column: string
  plusSeconds?: number
  plusSecondsColumn?: string
  plusIntervalColumn?: string
}

/** A table in the same schema with one row per worker, which holds its heartbeat instead of the jobs. */
export interface OwnerTable {
  table: string
  key: string
  /** The column of the job that names its worker. */
  jobColumn: string
  timeColumn: string
  aliveSeconds: number
}

/** As a command argument, quoted for SQL and for a shell if needed. */
export function tableArgument(schema: string, table: string): string {
  const name = [schema, table]
    .map((part) => (/^\w+$/.test(part) ? part : `"${part.replaceAll('"', '""')}"`))
    .join('.')
  return /^[\w.]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`
}

export type Certainty = 'sure' | 'likely' | 'unsure'

export interface ScanTarget {
  schema: string
  table: string
  kind: 'known queue' | 'profile' | 'hand-rolled'
  /** `River`, `clip`, or the certainty of a guess. */
  name: string
  certainty: Certainty
  /** The shipped profile whose table it resembles: `attach` drafts one that extends it. */
  nearly: string | null
  /** The columns that identified it. */
  evidence: string[]
  primaryKey: string[]
  /** Null if rows do not show which of them run. */
  running: Condition[] | null
  /** The status and the words of it that have a meaning; null for those in common use. Null without a status to read. */
  status: { column: string; words: string[] | null } | null
  timeColumns: string[]
  /** Time columns in seconds or milliseconds since 1970: their values tell which. */
  epochColumns: string[]
  /** How the table of a profile holds its times. Others without a zone are read as UTC. */
  timeTypes?: TimeTypes
  ends: EndRule[]
  owners: OwnerTable | null
  /** Rule for a stuck row; null if only its age counts. */
  rule: string | null
  remedy: string
  /** The next command; null if the queue has to recover by itself. */
  next: string | null
}
