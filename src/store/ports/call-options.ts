// What several verbs of the port take and answer.
import type { PolicyOverride } from '../../policy/policy.ts'

export interface TxOption<Tx> {
  /** Run inside this open transaction of the caller. */
  tx?: Tx
}

export interface PolicyOption {
  /** Over the stored policy, for this call only. */
  policy?: PolicyOverride
}

export interface ActorOption {
  /** Who sent the call, for its events, where that is not known by the worker alone. */
  actor?: string
}

/** Who did it and why, written into the event. `owner` limits the call to jobs of that owner. */
export interface ManualOptions<Tx> extends TxOption<Tx> {
  owner?: string
  actor?: string
  reason?: string
  /** Only if the job still has this generation. */
  generation?: number
}

export interface Settled<Outcome> {
  jobId: string
  outcome: Outcome
}
