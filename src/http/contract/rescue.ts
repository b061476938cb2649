// Reclaimed jobs, stale jobs with the reason why they are still stale, and sweeps.
import { z } from '../openapi/zod.ts'
import {
  countSchema,
  envelope,
  limitQuery,
  msOrNull,
  remedySchema,
  tableQuery,
  textOrNull,
  timeOrNull,
  timeSchema,
} from './base.ts'

export const pageCursorQuery = z.string().min(1).max(200).optional()

export const reclaimsQuery = z.strictObject({
  table: tableQuery,
  worker_id: z.string().min(1).max(1000).optional(),
  stage: z.string().min(1).max(200).optional(),
  cursor: pageCursorQuery,
  limit: limitQuery,
})

export const reclaimSchema = z
  .object({
    /** Id of the event. */
    id: z.string(),
    job_id: z.string(),
    table: z.string(),
    /** Null if the job was deleted since. */
    type: textOrNull,
    stage: textOrNull,
    attempt: countSchema,
    /** The worker that lost it. */
    worker_id: textOrNull,
    reaped_at: timeSchema,
    action: z.enum(['requeued', 'dead', 'cancelled']),
    /** lease_expired, deadline_exceeded or worker_gone. */
    reason: z.string(),
    last_heartbeat_at: timeOrNull,
    lease_expires_at: timeOrNull,
    /** From lease expiry to the reap; null without a lease, or if its worker was gone before that. */
    lateness_ms: msOrNull,
    /** From the last heartbeat to the next claim; null before it. */
    dark_ms: msOrNull,
    claimed_again_at: timeOrNull,
    claimed_by: textOrNull,
    next_run_at: timeOrNull,
  })
  .openapi('Reclaim')

export const reclaimsAnswer = z
  .object({ ...envelope, reclaims: z.array(reclaimSchema), next_cursor: textOrNull })
  .openapi('ReclaimList')

export const staleQuery = z.strictObject({ table: tableQuery, limit: limitQuery })

/** The session that locks the row, if known. */
export const lockHolderSchema = z.object({
  pid: countSchema,
  application: textOrNull,
  state: textOrNull,
  open_ms: msOrNull,
})

export const staleReasonSchema = z.object({
  code: z.enum([
    'ROW_LOCKED',
    'LEASE_UNKNOWN',
    'TYPE_WITHOUT_TTL',
    'NO_REAPER',
    'HELD',
    'OBSERVED',
    'LEASE_OVER_AWAITING_REAPER',
  ]),
  message: z.string(),
})

export const staleJobSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    type: z.string(),
    stage: textOrNull,
    worker_id: textOrNull,
    attempt: countSchema,
    heartbeat_at: timeOrNull,
    /** When its lease expired; null if its age is unknown. */
    ended_at: timeOrNull,
    overdue_ms: msOrNull,
    /** Lease of its stage. */
    lease_ms: z.number(),
    is_past_twice_lease: z.boolean(),
    /** Why it was not requeued yet. */
    why: staleReasonSchema,
    remedy: remedySchema.nullable(),
    locked_by: lockHolderSchema.nullable(),
  })
  .openapi('StaleJob')

export const staleAnswer = z
  .object({
    ...envelope,
    /** Longest overdue first; jobs of unknown age last. */
    jobs: z.array(staleJobSchema),
    /** Total, including those not shown. */
    count: countSchema,
    is_complete: z.boolean(),
  })
  .openapi('StaleList')

/** Jobs silent for more than twice their lease: not empty means that no reaper works. */
export const staleValidationAnswer = z
  .object({ ...envelope, is_valid: z.boolean(), count: countSchema, jobs: z.array(staleJobSchema) })
  .openapi('StaleValidation')

export const sweepsQuery = z.strictObject({ table: tableQuery, cursor: pageCursorQuery, limit: limitQuery })

const sweepCounts = {
  duration_ms: z.number(),
  /** Jobs past their lease at its start. */
  found: countSchema,
  requeued: countSchema,
  dead: countSchema,
  cancelled: countSchema,
  /** The row was locked. */
  skipped: countSchema,
  held: countSchema,
}

export const sweepSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    began_at: timeSchema,
    /** Null for a manual sweep. */
    reaper_id: textOrNull,
    /** Actor and reason of a manual sweep. */
    actor: textOrNull,
    note: textOrNull,
    ...sweepCounts,
    hold_reason: textOrNull,
  })
  .openapi('Sweep')

/** The last sweep of a reaper, with or without findings. */
export const lastSweepSchema = z
  .object({ table: z.string(), reaper_id: textOrNull, swept_at: timeSchema, ...sweepCounts })
  .openapi('LastSweep')

export const sweepsAnswer = z
  .object({
    ...envelope,
    /** One for each table that was swept. */
    last: z.array(lastSweepSchema),
    /** Sweeps that found jobs, newest first. */
    sweeps: z.array(sweepSchema),
    next_cursor: textOrNull,
  })
  .openapi('SweepList')

export type Reclaim = z.infer<typeof reclaimSchema>
export type ReclaimList = z.infer<typeof reclaimsAnswer>
export type StaleJob = z.infer<typeof staleJobSchema>
export type StaleList = z.infer<typeof staleAnswer>
export type StaleValidation = z.infer<typeof staleValidationAnswer>
export type Sweep = z.infer<typeof sweepSchema>
export type LastSweep = z.infer<typeof lastSweepSchema>
export type SweepList = z.infer<typeof sweepsAnswer>
