// The reaper's side of the story: what was taken back, what is past its lease and why nobody took it yet, and the sweeps.
import { z } from '../openapi/zod.ts'
import {
  countSchema,
  envelope,
  limitQuery,
  msOrNull,
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
    /** Of its event. */
    id: z.string(),
    job_id: z.string(),
    table: z.string(),
    /** Null where the job is gone by now. */
    type: textOrNull,
    stage: textOrNull,
    attempt: countSchema,
    /** The worker that had it. */
    worker_id: textOrNull,
    reaped_at: timeSchema,
    action: z.enum(['requeued', 'dead', 'cancelled']),
    /** lease_expired or deadline_exceeded. */
    reason: z.string(),
    last_heartbeat_at: timeOrNull,
    lease_expires_at: timeOrNull,
    /** From the end of the lease to the reap; null where there was no lease. */
    lateness_ms: msOrNull,
    /** From the last heartbeat to the next claim; null until then. */
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

/** Of the session that has the row locked, where it is certain which. */
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
    /** When its lease ended; null where there is none and no time to judge it by. */
    ended_at: timeOrNull,
    overdue_ms: msOrNull,
    /** Of its stage. */
    lease_ms: z.number(),
    is_past_twice_lease: z.boolean(),
    /** Why nobody took it back yet. */
    why: staleReasonSchema,
    locked_by: lockHolderSchema.nullable(),
  })
  .openapi('StaleJob')

export const staleAnswer = z
  .object({
    ...envelope,
    /** The longest overdue first; those that nobody can judge come last. */
    jobs: z.array(staleJobSchema),
    /** All there are, shown or not. */
    count: countSchema,
    is_complete: z.boolean(),
  })
  .openapi('StaleList')

/** Empty, or nothing takes jobs back: silent for more than twice their lease. */
export const staleValidationAnswer = z
  .object({ ...envelope, is_valid: z.boolean(), count: countSchema, jobs: z.array(staleJobSchema) })
  .openapi('StaleValidation')

export const sweepsQuery = z.strictObject({ table: tableQuery, cursor: pageCursorQuery, limit: limitQuery })

const sweepCounts = {
  duration_ms: z.number(),
  /** Jobs past their lease when it began. */
  found: countSchema,
  requeued: countSchema,
  dead: countSchema,
  cancelled: countSchema,
  /** Somebody had the row locked. */
  skipped: countSchema,
  held: countSchema,
}

export const sweepSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    began_at: timeSchema,
    /** Null of a sweep by hand. */
    reaper_id: textOrNull,
    /** Who asked for a sweep by hand, and why. */
    actor: textOrNull,
    note: textOrNull,
    ...sweepCounts,
    hold_reason: textOrNull,
  })
  .openapi('Sweep')

/** The last sweep of a reaper, whatever it found. */
export const lastSweepSchema = z
  .object({ table: z.string(), reaper_id: textOrNull, swept_at: timeSchema, ...sweepCounts })
  .openapi('LastSweep')

export const sweepsAnswer = z
  .object({
    ...envelope,
    /** One for each table that was ever swept. */
    last: z.array(lastSweepSchema),
    /** Those that found something, the newest first. */
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
