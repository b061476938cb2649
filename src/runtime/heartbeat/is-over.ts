import type { ClaimedJob } from '../../job/lease.ts'

/** Older than its lease, since before its claim was asked for. Beats may have kept it; nobody here knows before they are answered. */
export function isOver({ leaseMs }: Pick<ClaimedJob, 'leaseMs'>, claimedAtMs: number): boolean {
  return performance.now() - claimedAtMs >= leaseMs
}
