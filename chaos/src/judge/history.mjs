// All that a run left behind: what the database says, and what was noted outside of it.

/** @import { Policy } from 'unstuck' */
/** @import { Disturbance } from '../faults/disturbances.mjs' */
/** @import { Stall } from '../processes/stall-meter.mjs' */
/** @import { Sample } from './table-sampler.mjs' */
/**
 * @typedef {object} JobRow
 * @property {string} id
 * @property {string} type
 * @property {string | null} owner
 * @property {string} status in the words of the native table
 * @property {number} attempt
 * @property {number} failures
 * @property {number} crashes
 * @property {number} timeouts
 * @property {number} maxAttempts
 * @property {number} fence
 * @property {string | null} workerId
 * @property {string | null} leaseId
 * @property {string | null} leaseExpiresAt
 * @property {string | null} finishedLeaseId
 */
/** @typedef {{ id: string, jobId: string, type: string, at: number, details: Record<string, unknown> }} EventRow */
/**
 * @typedef {object} LedgerLine
 * @property {string} kind
 * @property {number} at
 * @property {string} worker
 * @property {number} pid
 * @property {string} [job]
 * @property {string} [lease]
 * @property {string} [verb]
 * @property {string} [outcome]
 * @property {string} [end]
 * @property {number} [fence]
 * @property {boolean} [isAtRisk]
 * @property {number} [ms]
 */
/** @typedef {{ act: string, outcome: string }} Intrusion an act on a job of another owner */
/**
 * @typedef {object} History
 * @property {Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget' | 'maxCrashes' | 'maxTimeouts'>} policy
 * @property {{ leaseMs: number, sweepMs: number, pollMs: number }} times
 * @property {JobRow[]} jobs
 * @property {EventRow[]} events in the order of their ids
 * @property {{ jobId: string, leaseId: string }[]} txEffects
 * @property {{ webhookId: string, jobId: string, type: string, timestamp: string, count: number }[]} deliveries
 * @property {{ webhookId: string, events: string[] }[]} webhooks
 * @property {LedgerLine[]} ledger
 * @property {Sample[]} samples
 * @property {Disturbance[]} disturbances
 * @property {Stall[]} stalls
 * @property {{ at: number, reason?: string }[]} holds
 * @property {string[]} enqueuedIds acknowledged to whoever enqueued
 * @property {Intrusion[]} intrusions
 */
/** @typedef {{ invariant: string, message: string, isStarved?: boolean }} Violation `isStarved`: whoever it is about had no processor */

/**
 * @param {{ from: number, to: number }[]} spans
 * @param {number} from
 * @param {number} to
 * @returns {number} how much of the time from … to the spans cover together, each counted for itself
 */
export function overlapMs(spans, from, to) {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)), 0)
}
