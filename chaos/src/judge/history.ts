// The history of a run: rows and events from the database, ledgers and logs from outside of it.
import type { Policy } from 'unstuck'
import type { Disturbance } from '../faults/disturbances.ts'
import type { Stall } from '../processes/stall-meter.ts'
import type { Sample } from './table-sampler.ts'

export interface JobRow {
  id: string
  type: string
  queue: string
  group: string | null
  owner: string | null
  /** As the native table spells it. */
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
export interface QueueLimit {
  concurrency?: number
  groupConcurrency?: number
  groupOrder?: 'fifo'
}
/** An attempt to act on a job of another owner. */
export type Intrusion = { act: string; outcome: string }
export interface Delay {
  from: number
  to: number
  packetMs: number
}

export interface History {
  policy: Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget' | 'maxCrashes' | 'maxTimeouts'>
  /** Limits by queue, and whether its groups run in order. */
  limits: Record<string, QueueLimit>
  times: { leaseMs: number; sweepMs: number; pollMs: number }
  jobs: JobRow[]
  /** Ordered by id. */
  events: EventRow[]
  txEffects: { jobId: string; leaseId: string }[]
  deliveries: { webhookId: string; jobId: string; type: string; timestamp: string; count: number }[]
  webhooks: { webhookId: string; events: string[] }[]
  ledger: LedgerLine[]
  samples: Sample[]
  disturbances: Disturbance[]
  stalls: Stall[]
  /** When the network is slow, and how long a usual packet then takes at most. */
  delays?: Delay[]
  holds: { at: number; reason?: string }[]
  /** Jobs acknowledged to the producer. */
  enqueuedIds: string[]
  intrusions: Intrusion[]
}
/** `isStarved`: the process in question was starved of CPU. */
export type Violation = { invariant: string; message: string; isStarved?: boolean }

/** How much of `from` … `to` the spans cover together. */
export function overlapMs(spans: { from: number; to: number }[], from: number, to: number): number {
  let coveredMs = 0
  let untilMs = from
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const endMs = Math.min(span.to, to)
    coveredMs += Math.max(0, endMs - Math.max(span.from, untilMs))
    untilMs = Math.max(untilMs, endMs)
  }
  return coveredMs
}

export function isWithin(span: { from: number; to: number }, from: number, to: number): boolean {
  return span.from <= to && span.to >= from
}
