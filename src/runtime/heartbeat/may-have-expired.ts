import type { ClaimedJob } from '../../job/lease.ts'

/** Whether a whole lease has passed since `sinceMs`. Heartbeats may have extended it; only their answers tell. */
export function mayHaveExpired({ leaseMs }: Pick<ClaimedJob, 'leaseMs'>, sinceMs: number): boolean {
  return performance.now() - sinceMs >= leaseMs
}
