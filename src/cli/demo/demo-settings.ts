import { nativePolicy, type Policy } from '../../policy/policy.ts'

export const demoSchema = 'unstuck_demo'

/** Short enough to watch. Never sold as the defaults. */
export const demoPolicy: Policy = {
  ...nativePolicy,
  defaultLeaseMs: 2_000,
  heartbeatMs: 500,
  sweepIntervalMs: 500,
  reapBackoffStepsMs: [0],
  requeueRatePerS: 0,
}

/** What a demo worker says once it holds a job. */
export interface WorkerMessage {
  jobId: string
  leaseId: string
}
