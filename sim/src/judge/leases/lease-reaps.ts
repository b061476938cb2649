import type { EventRow } from '../../../../chaos/src/judge/history.ts'
import { leaseKey } from '../../../../src/job/lease.ts'

/** A job that was taken from its worker because its lease had ended. */
export interface LeaseReap {
  /** See `leaseKey`. */
  key: string
  jobId: string
  worker: string
  beatAt: number
  leaseEnd: number
  reapedAt: number
}

export function readLeaseReaps(events: EventRow[]): LeaseReap[] {
  const reaps: LeaseReap[] = []
  for (const { jobId, type, at, details } of events)
    if (type.startsWith('reaper:') && details['cause'] === 'crash')
      reaps.push({
        key: leaseKey({ jobId, leaseId: String(details['lease_id']) }),
        jobId,
        worker: String(details['locked_by']),
        beatAt: Date.parse(String(details['last_heartbeat_at'])),
        leaseEnd: Date.parse(String(details['lease_expires_at'])),
        reapedAt: at,
      })
  return reaps
}

export interface AttemptTimes {
  startedAt: number
  /** Infinity if it is not known to have ended. */
  endedAt: number
  riskyAt: number
}

/** Attempts that started, by job and lease. */
export function readAttemptTimes(ledger: { kind: string; job?: string; lease?: string; at: number }[]) {
  const attempts = new Map<string, AttemptTimes>()
  for (const { kind, job = '', lease = '', at } of ledger) {
    if (kind !== 'started' && kind !== 'ended' && kind !== 'at-risk') continue
    const key = leaseKey({ jobId: job, leaseId: lease })
    const attempt = attempts.get(key)
    if (kind === 'started')
      attempts.set(key, {
        startedAt: at,
        endedAt: Number.POSITIVE_INFINITY,
        riskyAt: Number.POSITIVE_INFINITY,
      })
    else if (attempt !== undefined && kind === 'ended') attempt.endedAt = at
    else if (attempt !== undefined) attempt.riskyAt = Math.min(attempt.riskyAt, at)
  }
  return attempts
}
