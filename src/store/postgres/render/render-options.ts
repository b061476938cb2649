// Everything that a rendering depends on: the profile of the table, facts about it, and the purpose of the statement.
import type { DocumentIndex, LogicalColumn, TableProfile } from '../../../profile/profile.ts'
import type { TimeTypes } from '../../../profile/time-type.ts'
import type { StatusKind } from './pinned-operators.ts'

export interface RenderOptions {
  schema: string
  table: TableProfile
  /** Type of a status column that is not text, for a cast of every word: `"public"."job_status"`. */
  statusType?: string
  /** How the status column is compared, if its type is known. */
  statusKind?: StatusKind
  /** Types of the time columns that are not plain `timestamptz`. */
  timeTypes?: TimeTypes
  /** Columns that the table does without. */
  absent?: ReadonlySet<LogicalColumn>
  /** The partitions of a partitioned table. */
  partitions?: Partition[]
  /** The partition that "jobs" and its indexes stand for. */
  partition?: Partition
  /** Builds indexes without blocking writers. */
  isConcurrent?: boolean
  /** Number of the shard, in the ids that it makes. Default: 0. */
  shard?: number
  /** The profile of the table, for the registry of attached tables. */
  profile?: string
  /** The schema is distributed by Citus: its tables are on one node of a cluster. */
  isDistributed?: boolean
  /** Drops native jobs too. */
  isPurge?: boolean
  /** The grantee. */
  role?: string
  /** The index that "index" stands for, in the schema of the table. */
  index?: string
  /** The column that "sampled_column" and `sampled_time` stand for, by the table's name. */
  sampledColumn?: string
  /** The index that "document_index" and its columns stand for. */
  documentIndex?: DocumentIndex
}

export interface Partition {
  schema: string
  table: string
  oid: string
}
