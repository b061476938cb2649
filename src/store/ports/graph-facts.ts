// Facts about jobs in Neo4j, for doctor. Null means unreadable.
import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import type { Breaker } from './dependency-store.ts'
import type { TableMode } from './mode-store.ts'
import type { Health } from './reading-store.ts'

export interface GraphFacts {
  server: {
    version: string
    /** The database's clock minus this host's. */
    clockSkewMs: number
    /** Round trip of one query. */
    roundTripMs: number
  }
  /** Names of constraints and indexes. */
  schema: { applied: string[]; pending: string[] } | null
  breakers: Breaker[] | null
  table: LabelFacts
  nodes: NodeFacts | null
  /** Read errors. */
  unreadable: { what: string; reason: string }[]
}

/** Facts that a label has in common with a table. */
export interface LabelFacts {
  name: string
  stored: Policy | null
  /** Overrides by the environment or the config file of this process. */
  override: PolicyOverride
  health: Health | null
  mode: TableMode | null
  longOverdue: { jobs: number; ids: string[]; oldestMs: number | null } | null
  unknownWords: { word: string | null; jobs: number }[] | null
}

export interface NodeFacts {
  /** Nodes that no sweep has adopted yet. */
  unknown: number
  numericIds: number
  /** Never claimed or reaped. */
  withoutStatus: { jobs: number; ids: string[] }
  oddNodes: OddNodes[]
  hasUniqueIds: boolean
}

/** Running nodes with a property that is not understood. */
export interface OddNodes {
  reason: string
  jobs: number
  ids: string[]
}
