// Results of the rescue calculator. Backoff and the heartbeat check are the engine's own functions.

import { judgeBeat } from '../src/policy/lease/beat-check.ts'
import type { Policy } from '../src/policy/policy.ts'
import { backoffMs, reapBackoff } from '../src/policy/retry/backoff.ts'

export interface RescueInput {
  policy: Policy
  /** Maximum poll interval of an idle worker. */
  pollMs: number
  runningJobs: number
  workers: number
}

export interface RescuePlan {
  /** From the last heartbeat of a dying worker to the next claim of the last of its jobs. */
  worstMs: number
  /** The worst case without the backoff and spread of the policy: the promise in metrics. */
  promiseMs: number
  backoffMs: number
  /** Period over which the jobs of one worker come back, on top of their backoff (REAP-14, REAP-15). */
  spreadMs: number
  beatsPerLease: number
  /** Consecutive heartbeats that may fail without losing the lease. */
  sparedBeats: number
  rowWritesPerS: number
  statementsPerS: number
  walBytesPerS: number
  /** Why a worker would not start. */
  refusal: string | undefined
  warnings: string[]
}

/** WAL of one heartbeat of one job, measured with 5,000 running jobs (docs/performance.md). */
const WAL_BYTES_PER_BEAT = 110

export function planRescue({ policy, pollMs, runningJobs, workers }: RescueInput): RescuePlan {
  const { defaultLeaseMs, heartbeatMs, sweepIntervalMs } = policy
  const promiseMs = defaultLeaseMs + sweepIntervalMs + pollMs
  const firstBackoffMs = backoffMs(reapBackoff(policy), 1, 0)
  const jobsPerWorker = Math.ceil(runningJobs / Math.max(workers, 1))
  const cohortMs = jobsPerWorker > 1 ? firstBackoffMs : 0
  const { requeueRatePerS } = policy
  const spreadMs = requeueRatePerS > 0 ? Math.max(cohortMs, (jobsPerWorker * 1_000) / requeueRatePerS) : 0
  const rowWritesPerS = (runningJobs * 1_000) / heartbeatMs
  const { refusal, warnings } = judgeBeat(policy)
  return {
    worstMs: promiseMs + firstBackoffMs + spreadMs,
    promiseMs,
    backoffMs: firstBackoffMs,
    spreadMs,
    beatsPerLease: defaultLeaseMs / heartbeatMs,
    // A heartbeat at the very end of the lease is too late, and one of the earlier ones has to arrive.
    sparedBeats: Math.max(0, Math.ceil(defaultLeaseMs / heartbeatMs) - 2),
    rowWritesPerS,
    statementsPerS: (workers * 1_000) / heartbeatMs,
    walBytesPerS: rowWritesPerS * WAL_BYTES_PER_BEAT,
    refusal,
    warnings,
  }
}
