// Results of the rescue calculator. Backoff, the heartbeat check and the times of presence are the engine's own.

import { judgeBeat } from '../src/policy/lease/beat-check.ts'
import { LEAST_GRACE_MS, LOOK_MS } from '../src/policy/lease/presence-times.ts'
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
  /**
   * By presence, from the end of a worker's process to the next claim of the last of its jobs. Null without presence: then a dead
   * process is found by its leases, like a frozen one.
   */
  processEndedMs: number | null
  /** By the lease, from the last heartbeat of a worker that is frozen or unreachable to the next claim of the last of its jobs. */
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
  const afterReapMs = firstBackoffMs + spreadMs
  return {
    processEndedMs: policy.presence === 'auto' ? LOOK_MS + LEAST_GRACE_MS + afterReapMs + pollMs : null,
    worstMs: promiseMs + afterReapMs,
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
