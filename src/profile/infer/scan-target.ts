// What a scan sees of a table in the catalogue, and what it will look for in its rows. Data only: the store makes SQL of it.

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
  /** As `format_type` names it, without length. */
  type: string
  /** The words of an enum; null for every other type. */
  words: string[] | null
}

/** All conditions of a target hold for a running row. */
export type Condition =
  | { column: string; words: string[] }
  | { column: string; isNull: boolean }
  | { column: string; above: number }

/** A moment at which a worker is given up. */
export interface EndRule {
  column: string
  plusSeconds?: number
  plusSecondsColumn?: string
  plusIntervalColumn?: string
}

/** A table of the same schema with one row per worker, which beats there instead of in the jobs. */
export interface OwnerTable {
  table: string
  key: string
  /** The column of the job that names its worker. */
  jobColumn: string
  timeColumn: string
  aliveSeconds: number
}

/** As an argument of a command: quoted for SQL and for a shell where it must be. */
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
  /** `River`, `clip`, or how sure a guess is. */
  name: string
  certainty: Certainty
  /** The columns that told. */
  evidence: string[]
  primaryKey: string[]
  /** Null where the rows do not say which of them run. */
  running: Condition[] | null
  timeColumns: string[]
  /** Those of them that count seconds since 1970. */
  epochColumns: string[]
  ends: EndRule[]
  owners: OwnerTable | null
  /** By what a row is called stuck; null where only its age tells. */
  rule: string | null
  remedy: string
  /** The command to go on with; null where the queue has to help itself. */
  next: string | null
}
