// The audit log, and the tables with their profiles.
import { z } from '../openapi/zod.ts'
import { envelope, jsonSchema, limitQuery, tableQuery, textOrNull, timeOrNull, timeSchema } from './base.ts'

export const auditQuery = z.strictObject({
  table: tableQuery,
  actor: z.string().min(1).max(200).optional(),
  cursor: z.string().min(1).max(200).optional(),
  limit: limitQuery,
})

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: timeSchema,
    /** For a job: queued (manual retry), cancelled, cancel-requested, discarded. Others: queue-paused, breaker-held, … */
    type: z.string(),
    actor: z.string(),
    reason: textOrNull,
    /** Null if it concerns all tables, such as breakers and tokens. */
    table: textOrNull,
    /** Null if it did not concern a single job. */
    job_id: textOrNull,
    /** The queue, breaker, worker, webhook or token; null for a job or a sweep. */
    subject: textOrNull,
    details: z.record(z.string(), jsonSchema),
  })
  .openapi('AuditEntry')

export const auditAnswer = z
  .object({ ...envelope, entries: z.array(auditEntrySchema), next_cursor: textOrNull })
  .openapi('AuditList')

export const profileSchema = z
  .object({
    table: z.string(),
    profile: z.string(),
    /** Schema and table in PostgreSQL. */
    relation: z.string(),
    mode: z.enum(['observe', 'reap', 'enforce']),
    on_foreign_settle: z.enum(['record', 'refuse']),
    /** Null if the mode was never changed. */
    mode_since: timeOrNull,
    attached_at: timeSchema,
  })
  .openapi('TableProfile')

export const profilesAnswer = z
  .object({ ...envelope, profiles: z.array(profileSchema) })
  .openapi('ProfileList')

export type AuditEntry = z.infer<typeof auditEntrySchema>
export type AuditList = z.infer<typeof auditAnswer>
export type TableProfile = z.infer<typeof profileSchema>
export type ProfileList = z.infer<typeof profilesAnswer>
