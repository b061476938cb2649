import type { ClaimedJob } from '../../job/lease.ts'
import { timing } from '../timing/timing.ts'

/** Whether a whole lease has passed since `sinceMs`. Heartbeats may have extended it; only their answers tell. */
export function mayHaveExpired({ leaseMs }: Pick<ClaimedJob, 'leaseMs'>, sinceMs: number): boolean {
  return timing.nowMs() - sinceMs >= leaseMs
}
