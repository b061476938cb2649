// Jobs in the HTTP API. A lease id is a credential: only the answer to a claim contains it.
import { z } from '../openapi/zod.ts'
import {
  countSchema,
  envelope,
  jsonSchema,
  limitQuery,
  msOrNull,
  reasonSchema,
  remedySchema,
  tableQuery,
  textOrNull,
  timeOrNull,
  timeSchema,
} from './base.ts'

export const statusSchema = z.enum(['waiting', 'running', 'succeeded', 'dead', 'cancelled'])

/** The error as the owner of a job may read it. */
export const jobErrorSchema = z.object({
  /** One of the ten public codes. */
  code: textOrNull,
  /** Without URLs and hosts. */
  reason: textOrNull,
  category: textOrNull,
  attempt: countSchema.nullable(),
})

/** Details of the failure. */
export const jobErrorDetailSchema = z.object({
  code: textOrNull,
  reason: textOrNull,
  /** Needs the scope jobs:payload; only for a single job. */
  stack: textOrNull.optional(),
})

export const progressSchema = z.object({ value: z.number().min(0).max(1), text: textOrNull })

export const jobSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    type: z.string(),
    queue: z.string(),
    status: statusSchema,
    priority: z.number(),
    owner: textOrNull,
    group: textOrNull,
    dedupe_key: textOrNull,
    stage: textOrNull,
    expected_duration_ms: msOrNull,
    created_at: timeSchema,
    updated_at: timeOrNull,
    queued_at: timeOrNull,
    run_at: timeOrNull,
    started_at: timeOrNull,
    finished_at: timeOrNull,
    last_attempt_at: timeOrNull,
    worker_id: textOrNull,
    lease_expires_at: timeOrNull,
    /** Negative if the lease has expired. */
    lease_remaining_ms: msOrNull,
    heartbeat_at: timeOrNull,
    deadline_at: timeOrNull,
    fence: z.string(),
    attempt: countSchema,
    failures: countSchema,
    crashes: countSchema,
    timeouts: countSchema,
    releases: countSchema,
    interruptions: countSchema,
    max_attempts: countSchema.nullable(),
    generation: countSchema,
    cancel_requested_at: timeOrNull,
    reaped_at: timeOrNull,
    error: jobErrorSchema.nullable(),
    /** For operators: absent for a token limited to one owner. */
    error_detail: jobErrorDetailSchema.nullable().optional(),
    /** Dead letter group of a dead job, in lists. */
    cause_id: textOrNull.optional(),
    traceparent: textOrNull,
    backoff_steps_ms: z.array(countSchema).nullable(),
    expires_at: timeOrNull,
    /** As its last attempt has reported it. */
    progress: progressSchema.nullable(),
    /** Redacted; needs the scope jobs:payload. */
    payload: jsonSchema.optional(),
    result: jsonSchema.optional(),
  })
  .openapi('Job')

export const retryabilitySchema = z.object({
  is_allowed: z.boolean(),
  /** Why not, in one line; null if allowed. */
  reason: textOrNull,
})

export const jobListQuery = z.strictObject({
  q: z.string().max(1000).optional().openapi({ example: 'type:run_tsa status:dead error:GW_5XX' }),
  cursor: z.string().min(1).max(200).optional(),
  limit: limitQuery,
  table: tableQuery,
  with_payload: z.stringbool().optional(),
})

export const jobListAnswer = z
  .object({
    ...envelope,
    table: z.string(),
    jobs: z.array(jobSchema),
    next_cursor: textOrNull,
    /** Creation time of the job where `next_cursor` continues: everything newer was searched. */
    searched_to: timeOrNull,
  })
  .openapi('JobList')

export const jobAnswer = z
  .object({ ...envelope, job: jobSchema, retry: retryabilitySchema })
  .openapi('JobAnswer')

export const newJobSchema = z
  .strictObject({
    type: z.string().min(1).max(200),
    payload: jsonSchema.optional(),
    queue: z.string().min(1).max(200).optional(),
    priority: z.number().int().optional(),
    delay_ms: z.number().int().min(0).optional(),
    run_at: timeSchema.optional(),
    stage: z.string().min(1).max(200).optional(),
    expected_duration_ms: z.number().min(0).optional(),
    max_attempts: z.number().int().min(1).max(1000).optional(),
    backoff_steps_ms: z.array(z.number().int().min(0)).min(1).max(100).optional(),
    expires_at: timeSchema.optional(),
    ttl_ms: z.number().min(0).optional(),
    owner: z.string().min(1).max(200).optional(),
    /** Jobs of one group share the limits of their queue for groups, and groups take turns. */
    group: z.string().min(1).max(200).optional(),
    dedupe_key: z.string().min(1).max(1_000).optional(),
    /** The key stays taken for this long, even if the job ends earlier. */
    dedupe_for_ms: z.number().min(1).optional(),
    /** A waiting job with the key gets the fields of this one. */
    dedupe_replace: z.boolean().optional(),
    traceparent: z.string().min(1).max(200).optional(),
    table: tableQuery,
  })
  .openapi('NewJob')

export const enqueueAnswer = z
  .object({
    ...envelope,
    id: z.string(),
    table: z.string(),
    outcome: z.enum(['created', 'duplicate', 'replaced']),
  })
  .openapi('EnqueueAnswer')

export const retryBody = z
  .strictObject({
    /** False keeps the attempt count and raises the maximum instead. */
    reset_attempts: z.boolean().optional(),
    /** Makes a waiting job due now. */
    now: z.boolean().optional(),
    reason: reasonSchema.optional(),
  })
  .openapi('RetryRequest')

export const changeBody = z.strictObject({ reason: reasonSchema.optional() }).openapi('ChangeRequest')

export const changeAnswer = z
  .object({
    ...envelope,
    id: z.string(),
    table: z.string(),
    outcome: z.string(),
    /** The next step of a job that waits again, such as a paused queue; else null. */
    next: textOrNull,
  })
  .openapi('ChangeAnswer')

export const eventSchema = z
  .object({
    id: z.string(),
    job_id: z.string(),
    table: z.string(),
    type: z.string(),
    at: timeSchema,
    details: z.record(z.string(), jsonSchema),
  })
  .openapi('JobEvent')

export const eventsAnswer = z.object({ ...envelope, events: z.array(eventSchema) }).openapi('EventList')

/** Derived from events: without `events: all` the policy records no claims and no successes. */
export const attemptSchema = z
  .object({
    attempt: countSchema,
    worker_id: textOrNull,
    stage: textOrNull,
    started_at: timeOrNull,
    ended_at: timeOrNull,
    duration_ms: msOrNull,
    /** completed, retried, dead, expired, cancelled, released, reaped, running. */
    outcome: z.string(),
    code: textOrNull,
    category: textOrNull,
    reason: textOrNull,
    last_heartbeat_at: timeOrNull,
    next_run_at: timeOrNull,
  })
  .openapi('Attempt')

export const attemptsAnswer = z
  .object({ ...envelope, attempts: z.array(attemptSchema) })
  .openapi('AttemptList')

export const whyReasonSchema = z.object({
  code: z.string(),
  is_blocking: z.boolean(),
  message: z.string(),
  until_ms: msOrNull,
  /** The acts that end it, the usual one first; none if nothing is wrong, or only time helps. */
  remedies: z.array(remedySchema),
})

export const whyAnswer = z
  .object({
    ...envelope,
    id: z.string(),
    table: z.string(),
    verdict: z.enum(['ended', 'running', 'overdue', 'blocked', 'runnable']),
    sentence: z.string(),
    runs_in_ms: msOrNull,
    attempt: countSchema,
    /** Its own maximum, or that of the policy. */
    max_attempts: countSchema,
    reasons: z.array(whyReasonSchema),
  })
  .openapi('WhyAnswer')

export type JobStatus = z.infer<typeof statusSchema>
export type Job = z.infer<typeof jobSchema>
export type JobList = z.infer<typeof jobListAnswer>
export type JobAnswer = z.infer<typeof jobAnswer>
export type NewJobRequest = z.infer<typeof newJobSchema>
export type EnqueueAnswer = z.infer<typeof enqueueAnswer>
export type RetryRequest = z.infer<typeof retryBody>
export type ChangeAnswer = z.infer<typeof changeAnswer>
export type JobEvent = z.infer<typeof eventSchema>
export type EventList = z.infer<typeof eventsAnswer>
export type Attempt = z.infer<typeof attemptSchema>
export type AttemptList = z.infer<typeof attemptsAnswer>
export type WhyAnswer = z.infer<typeof whyAnswer>
