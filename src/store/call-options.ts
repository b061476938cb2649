// What several verbs of the port take and answer.
import type { PolicyOverride } from '../policy/policy.ts'

export interface TxOption<Tx> {
  /** Run inside this open transaction of the caller. */
  tx?: Tx
}

export interface PolicyOption {
  /** Over the stored policy, for this call only. */
  policy?: PolicyOverride
}

/** Who did it and why, written into the event. `owner` limits the call to jobs of that owner. */
export interface ManualOptions<Tx> extends TxOption<Tx> {
  owner?: string
  actor?: string
  reason?: string
}

export interface Settled<Outcome> {
  jobId: string
  outcome: Outcome
}
