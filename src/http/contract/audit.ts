// What people did, and which tables there are.
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
    /** Of a job: queued (retry by hand), cancelled, cancel-requested, discarded. Else such as queue-paused, breaker-held. */
    type: z.string(),
    actor: z.string(),
    reason: textOrNull,
    /** Null of what concerns all tables, such as breakers and tokens. */
    table: textOrNull,
    /** Null where it was not about one job. */
    job_id: textOrNull,
    /** The queue, breaker, worker, webhook or token it was done to; null of a job and of a sweep. */
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
    /** As PostgreSQL knows it: schema and table. */
    relation: z.string(),
    mode: z.enum(['observe', 'reap', 'enforce']),
    on_foreign_settle: z.enum(['record', 'refuse']),
    /** Null where the mode was never changed. */
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
