// Options and results that several ports share.
import type { PolicyOverride } from '../../policy/policy.ts'

export interface TxOption<Tx> {
  /** Runs inside this open transaction of the caller. */
  tx?: Tx
}

export interface PolicyOption {
  /** Overrides the stored policy, for this call only. */
  policy?: PolicyOverride
}

/** A read of several shards. */
export interface ShardedAnswer {
  /** Names of the shards that did not answer in time: their part is missing. Absent if all did. */
  silentShards?: string[]
}

export interface CountOption {
  /** Counts stop at about this many rows. Default: 100,000. */
  countLimit?: number
}

/** Default of `countLimit`, and of the SQL functions: reading as many rows costs about 40 ms. */
export const COUNT_LIMIT = 100_000

export interface ActorOption {
  /** Recorded in events. Default: the worker of the lease. */
  actor?: string
}

/** Recorded with the change. */
export interface ActorOptions {
  actor?: string
  reason?: string
}

export interface ManualOptions<Tx> extends TxOption<Tx>, ActorOptions {
  /** Limits the call to jobs of this owner. */
  owner?: string
  /** Changes the job only if it still has this generation. */
  generation?: number
}

export interface JobOutcome<Outcome> {
  jobId: string
  outcome: Outcome
}
