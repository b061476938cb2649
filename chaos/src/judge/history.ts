// All that a run left behind: what the database says, and what was noted outside of it.
import type { Policy } from 'unstuck'
import type { Disturbance } from '../faults/disturbances.ts'
import type { Stall } from '../processes/stall-meter.ts'
import type { Sample } from './table-sampler.ts'

export interface JobRow {
  id: string
  type: string
  owner: string | null
  /** in the words of the native table */
  status: string
  attempt: number
  failures: number
  crashes: number
  timeouts: number
  maxAttempts: number
  fence: number
  workerId: string | null
  leaseId: string | null
  leaseExpiresAt: string | null
  finishedLeaseId: string | null
}
export type EventRow = {
  id: string
  jobId: string
  type: string
  at: number
  details: Record<string, unknown>
}
export interface LedgerLine {
  kind: string
  at: number
  worker: string
  pid: number
  job?: string
  lease?: string
  verb?: string
  outcome?: string
  end?: string
  fence?: number
  isAtRisk?: boolean
  ms?: number
}
/** an act on a job of another owner */
export type Intrusion = { act: string; outcome: string }
export interface History {
  policy: Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget' | 'maxCrashes' | 'maxTimeouts'>
  times: { leaseMs: number; sweepMs: number; pollMs: number }
  jobs: JobRow[]
  /** in the order of their ids */
  events: EventRow[]
  txEffects: { jobId: string; leaseId: string }[]
  deliveries: { webhookId: string; jobId: string; type: string; timestamp: string; count: number }[]
  webhooks: { webhookId: string; events: string[] }[]
  ledger: LedgerLine[]
  samples: Sample[]
  disturbances: Disturbance[]
  stalls: Stall[]
  holds: { at: number; reason?: string }[]
  /** acknowledged to whoever enqueued */
  enqueuedIds: string[]
  intrusions: Intrusion[]
}
/** `isStarved`: whoever it is about had no processor */
export type Violation = { invariant: string; message: string; isStarved?: boolean }

/** @returns how much of the time from … to the spans cover together, each counted for itself */
export function overlapMs(spans: { from: number; to: number }[], from: number, to: number): number {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)), 0)
}
