// Explains why a running job with an expired lease was not requeued yet.
import { explainUnjudged } from '../lease/age-rule.ts'
import { describeHolder, type LockHolder } from './lock-holder.ts'
import { showDuration } from './show-duration.ts'

export type StaleCode =
  | 'ROW_LOCKED'
  | 'LEASE_UNKNOWN'
  | 'TYPE_WITHOUT_TTL'
  | 'NO_REAPER'
  | 'HELD'
  | 'OBSERVED'
  | 'LEASE_OVER_AWAITING_REAPER'

export interface StaleFacts {
  code: StaleCode
  workerId: string | null
  /** Time since the lease expired; null without a lease. */
  overdueMs: number | null
  lockedBy: LockHolder | null
  /** Time since the last sweep; null before the first. */
  reaperAgeMs: number | null
}

export function explainStale({ code, workerId, overdueMs, lockedBy, reaperAgeMs }: StaleFacts): string {
  const worker = workerId ?? 'an unnamed worker'
  switch (code) {
    case 'LEASE_UNKNOWN': {
      const { cause, remedy } = explainUnjudged(undefined)
      return `${worker} runs it without a lease, and ${cause}: ${remedy}`
    }
    case 'TYPE_WITHOUT_TTL':
      return `${worker} runs it without a lease, and its type has no lease to judge it by: give it one`
    case 'ROW_LOCKED':
      return `its row is locked${lockedBy === null ? '' : ` by ${describeHolder(lockedBy)}`}`
    case 'HELD':
      return 'its lease expired while the database was unreachable: the worker has one more lease to reconnect'
    case 'OBSERVED':
      return 'the table is in observe mode: sweeps only report what they would do'
    case 'NO_REAPER':
      return reaperAgeMs === null
        ? 'no reaper has swept yet: start a worker, or unstuck reaper'
        : `no reaper has swept for ${showDuration(reaperAgeMs)}: start a worker, or unstuck reaper`
    case 'LEASE_OVER_AWAITING_REAPER':
      return `${worker} is past its lease by ${showDuration(overdueMs ?? 0)}: the next sweep requeues it`
  }
}
