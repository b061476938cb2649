// Running leases, and the verbs of a worker in any language. The lease id is the credential.
import { z } from '../openapi/zod.ts'
import {
  countSchema,
  envelope,
  jsonSchema,
  limitQuery,
  msOrNull,
  tableQuery,
  textOrNull,
  timeOrNull,
  timeSchema,
} from './base.ts'

export const runningJobSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    type: z.string(),
    queue: z.string(),
    stage: textOrNull,
    owner: textOrNull,
    worker_id: textOrNull,
    fence: z.string(),
    attempt: countSchema,
    started_at: timeOrNull,
    heartbeat_at: timeOrNull,
    lease_expires_at: timeOrNull,
    /** Negative if the lease has expired. */
    lease_remaining_ms: msOrNull,
    deadline_at: timeOrNull,
  })
  .openapi('RunningJob')

export const leaseListQuery = z.strictObject({ limit: limitQuery, table: tableQuery })

/** Leases of the named table, or of all. `is_complete` is false if more jobs run than `limit`. */
export const leaseListAnswer = z
  .object({ ...envelope, leases: z.array(runningJobSchema), is_complete: z.boolean() })
  .openapi('LeaseList')

export const claimBody = z
  .strictObject({
    worker_id: z.string().min(1).max(200),
    queues: z.array(z.string().min(1).max(200)).min(1).max(100),
    limit: z.number().int().min(1).max(100).optional(),
    types: z.array(z.string().min(1).max(200)).max(100).optional(),
    lease_ms: z.number().int().min(1).optional(),
    table: tableQuery,
  })
  .openapi('ClaimRequest')

export const claimedJobSchema = z
  .object({
    id: z.string(),
    lease_id: z.string(),
    type: z.string(),
    queue: z.string(),
    payload: jsonSchema,
    priority: z.number(),
    stage: z.string(),
    owner: textOrNull,
    fence: z.string(),
    attempt: countSchema,
    failures: countSchema,
    crashes: countSchema,
    timeouts: countSchema,
    max_attempts: countSchema,
    generation: countSchema,
    created_at: timeSchema,
    started_at: timeSchema,
    expected_duration_ms: msOrNull,
    lease_ms: z.number(),
    deadline_ms: msOrNull,
    traceparent: textOrNull,
    is_rescue: z.boolean(),
  })
  .openapi('ClaimedJob')

export const claimAnswer = z
  .object({ ...envelope, table: z.string(), jobs: z.array(claimedJobSchema) })
  .openapi('ClaimAnswer')

const lease = {
  id: z.string().min(1).max(200),
  lease_id: z.uuid(),
}
export const leaseRef = z.strictObject(lease)

export const heartbeatBody = z
  .strictObject({
    leases: z.array(leaseRef).min(1).max(1000),
    lease_ms: z.number().int().min(1).optional(),
    table: tableQuery,
  })
  .openapi('HeartbeatRequest')

export const heartbeatAnswer = z
  .object({
    ...envelope,
    answers: z.array(
      z.object({
        ...lease,
        lease_id: z.string(),
        answer: z.enum(['kept', 'busy', 'cancel-asked', 'past-deadline', 'finished', 'lost']),
      }),
    ),
    reaper_age_ms: msOrNull,
  })
  .openapi('HeartbeatAnswer')

export const progressBody = z
  .strictObject({
    reports: z
      .array(
        z.strictObject({
          ...lease,
          value: z.number().min(0).max(1),
          text: z.string().min(1).max(200).nullable().optional(),
        }),
      )
      .min(1)
      .max(1000),
    table: tableQuery,
  })
  .openapi('ProgressRequest')

export const progressAnswer = z
  .object({
    ...envelope,
    answers: z.array(z.object({ ...lease, lease_id: z.string(), is_kept: z.boolean() })),
  })
  .openapi('ProgressAnswer')

export const completeBody = z
  .strictObject({ ...lease, result: jsonSchema.optional(), table: tableQuery })
  .openapi('CompleteRequest')

export const failBody = z
  .strictObject({
    ...lease,
    code: z.string().min(1).max(64).optional(),
    reason: z.string().max(4000).optional(),
    category: z.enum(['TRANSIENT', 'PERMANENT', 'CRITICAL']).optional(),
    stack: z.string().max(20_000).optional(),
    is_retryable: z.boolean().optional(),
    retry_in_ms: z.number().int().min(0).optional(),
    cause: z.enum(['failure', 'timeout']).optional(),
    table: tableQuery,
  })
  .openapi('FailRequest')

export const releaseBody = z
  .strictObject({
    ...lease,
    delay_ms: z.number().int().min(0).optional(),
    cause: z.enum(['release', 'interruption']).optional(),
    /** Recorded in the event. The delay doubles for a job that is released often. */
    reason: z.string().min(1).max(1000).optional(),
    table: tableQuery,
  })
  .openapi('ReleaseRequest')

export const outcomeAnswer = z
  .object({ ...envelope, id: z.string(), outcome: z.string(), retry_in_ms: msOrNull.optional() })
  .openapi('OutcomeAnswer')

export type RunningJob = z.infer<typeof runningJobSchema>
export type LeaseList = z.infer<typeof leaseListAnswer>
export type ClaimedJob = z.infer<typeof claimedJobSchema>
export type ClaimAnswer = z.infer<typeof claimAnswer>
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswer>
export type ProgressAnswer = z.infer<typeof progressAnswer>
export type OutcomeAnswer = z.infer<typeof outcomeAnswer>
