// Dead letters, operations, queues, breakers, schedules and sweeps.
import { z } from '../openapi/zod.ts'
import {
  atLeastSchema,
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

export const tableOnlyQuery = z.strictObject({ table: tableQuery })

/** State of a cause, set by people. Default: new. */
export const causeStateSchema = z.enum(['new', 'investigating', 'resolved', 'ignored'])

export const deadLetterSchema = z
  .object({
    cause_id: z.string(),
    table: z.string(),
    code: textOrNull,
    category: textOrNull,
    jobs: countSchema,
    first_at: timeSchema,
    last_at: timeSchema,
    example_reason: textOrNull,
    example_job_id: z.string(),
    /** The most crashes of one job: a job that kills its workers shows here. */
    max_crashes: countSchema,
    state: causeStateSchema,
    changed_by: textOrNull,
    changed_at: timeOrNull,
    state_reason: textOrNull,
    /** When a job first died of a resolved cause again; null if none did. */
    back_since: timeOrNull,
  })
  .openapi('DeadLetterGroup')

export const deadLettersQuery = z.strictObject({ limit: limitQuery, table: tableQuery })
export const deadLettersAnswer = z
  .object({ ...envelope, groups: z.array(deadLetterSchema), is_complete: z.boolean() })
  .openapi('DeadLetterList')

export const causeParam = z.object({ cause_id: z.string().regex(/^[\w-]{1,64}$/) })
export const deadLetterAnswer = z.object({ ...envelope, group: deadLetterSchema }).openapi('DeadLetterAnswer')

export const markCauseBody = z
  .strictObject({ state: causeStateSchema, reason: reasonSchema.optional() })
  .openapi('MarkCauseRequest')

const operationOptions = {
  /** Number of jobs that run first and must succeed. */
  canary: z.number().int().min(0).max(1000).optional(),
  rate_per_s: z.number().min(0.01).max(10_000).optional(),
  /** Maximum; the oldest matching jobs are chosen. */
  limit: z.number().int().min(1).max(100_000).optional(),
  /** Refuses if another number of jobs matches. */
  expect: z.number().int().min(0).optional(),
  keep_attempts: z.boolean().optional(),
  reason: reasonSchema.optional(),
  dry_run: z.boolean().optional(),
}

export const redriveBody = z.strictObject(operationOptions).openapi('RedriveRequest')

export const operationActionSchema = z.enum(['retry', 'run-now', 'cancel', 'discard', 'redrive'])

export const operationBody = z
  .strictObject({
    action: operationActionSchema,
    /** As in `GET /v1/jobs`; not empty. Matching jobs that the action cannot change are skipped. */
    q: z.string().min(1).max(2000),
    table: tableQuery,
    /** Jobs created, or dead, after this time are left alone. Default: now. */
    as_of: z.iso.datetime().optional(),
    ...operationOptions,
  })
  .openapi('OperationRequest')

/** Stored in the database: if a server dies, another continues. Changes stay, however it ends. */
export const operationEndsSchema = z
  .object({
    waiting: countSchema,
    running: countSchema,
    succeeded: countSchema,
    dead: countSchema,
    cancelled: countSchema,
    deleted: countSchema,
    /** False: only its first 10,000 jobs were counted. */
    is_complete: z.boolean(),
  })
  .openapi('OperationEnds')

export const operationSchema = z
  .object({
    /** Empty in a plan. */
    id: z.string(),
    action: operationActionSchema,
    table: z.string(),
    q: z.string(),
    /** The cause of a redrive. */
    cause_id: textOrNull,
    actor: z.string(),
    reason: textOrNull,
    state: z.enum(['planned', 'running', 'done', 'stopped', 'failed']),
    phase: z.enum(['canary', 'rest']).nullable(),
    total: countSchema,
    /** Names `total` in a plan whose count stopped at its limit: more jobs may match. */
    at_least: atLeastSchema,
    changed: countSchema,
    /** In the wrong state, or deleted. */
    refused: countSchema,
    /** Results of the canary, or of the first 20 retried jobs: they decide whether it goes on. */
    succeeded: countSchema,
    failed: countSchema,
    /** Why it stopped early: canary-failed, canary-timeout, too-many-failures, breaker-open, interrupted. */
    stopped: textOrNull,
    as_of: timeSchema,
    began_at: timeSchema,
    ended_at: timeOrNull,
    /** Jobs that it changed, by their status now; only of a single operation. */
    ends: operationEndsSchema.optional(),
  })
  .openapi('Operation')

export const operationAnswer = z
  .object({ ...envelope, operation: operationSchema })
  .openapi('OperationAnswer')

export const operationsQuery = z.strictObject({
  limit: limitQuery,
  cursor: z.string().min(1).max(200).optional(),
  table: tableQuery,
})
export const operationsAnswer = z
  .object({ ...envelope, operations: z.array(operationSchema), next_cursor: textOrNull })
  .openapi('OperationList')

export const operationJobsQuery = z.strictObject({
  limit: limitQuery,
  cursor: z.string().min(1).max(200).optional(),
})
export const operationJobSchema = z
  .object({
    job_id: z.string(),
    /** From 1, in the order of the changes, oldest job first. */
    position: countSchema,
    /** As for a single job: retried, not-dead, cancelled, …; null while pending. */
    outcome: textOrNull,
    /** Where the job is now. */
    status: z.enum(['waiting', 'running', 'succeeded', 'dead', 'cancelled', 'deleted']),
  })
  .openapi('OperationJob')
export const operationJobsAnswer = z
  .object({ ...envelope, jobs: z.array(operationJobSchema), next_cursor: textOrNull })
  .openapi('OperationJobList')

export const queueSchema = z
  .object({
    queue: z.string(),
    table: z.string(),
    waiting: countSchema,
    due: countSchema,
    running: countSchema,
    /** How long its longest due job has been due. */
    oldest_due_ms: msOrNull,
    released_often: countSchema,
    is_paused: z.boolean(),
    paused_at: timeOrNull,
    paused_for_ms: msOrNull,
    paused_by: textOrNull,
    pause_reason: textOrNull,
    dependency: textOrNull,
    breaker_state: textOrNull,
    /** Jobs that run at once in the whole fleet, of the queue and of each group; null: any number. */
    concurrency: countSchema.nullable(),
    group_concurrency: countSchema.nullable(),
    group_order: z.enum(['fifo']).nullable(),
    /** Ends its pause. */
    remedy: remedySchema.nullable(),
    at_least: atLeastSchema,
  })
  .openapi('Queue')

export const queuesAnswer = z
  .object({
    ...envelope,
    queues: z.array(queueSchema),
    /** False if more than 1,000 queues have waiting jobs. */
    is_complete: z.boolean(),
  })
  .openapi('QueueList')

export const holdBody = z
  .strictObject({ reason: reasonSchema.optional(), duration_ms: z.number().int().min(1).optional() })
  .openapi('HoldRequest')

/** Without a field there is no such limit; without any, all limits are removed. */
export const limitBody = z
  .strictObject({
    concurrency: z.number().int().min(1).max(1_000_000).optional(),
    group_concurrency: z.number().int().min(1).max(1_000_000).optional(),
    group_order: z.enum(['fifo']).optional(),
    reason: reasonSchema.optional(),
  })
  .openapi('LimitRequest')

export const limitAnswer = z
  .object({ ...envelope, queue: z.string(), table: z.string(), is_changed: z.boolean() })
  .openapi('LimitAnswer')

export const pauseAnswer = z
  .object({
    ...envelope,
    queue: z.string(),
    table: z.string(),
    is_paused: z.boolean(),
    is_changed: z.boolean(),
  })
  .openapi('PauseAnswer')

export const breakerSchema = z
  .object({
    name: z.string(),
    state: z.enum(['closed', 'open', 'half-open', 'held']),
    since: timeSchema,
    changed_by: textOrNull,
    reason: textOrNull,
    calls: countSchema,
    failures: countSchema,
    successes: countSchema,
    probing: countSchema,
    /** Failed probes in a row. */
    reopens: countSchema,
    /** While half-open: jobs let through in a row that reported no call, or not within the probe timeout. */
    unheard: countSchema,
    next_probe_in_ms: msOrNull,
    held_for_ms: msOrNull,
    /** The last 20 calls in the window, oldest first. */
    last_calls: z.array(z.object({ is_failure: z.boolean(), at: timeOrNull })),
    settings: z.record(z.string(), jsonSchema),
    queues: z.array(z.object({ attachment: z.string(), queue: z.string() })),
    /** `Converter busy — jobs will resume automatically.` (BREAK-4), or why they will not; null while closed. */
    banner: textOrNull,
    /** It resumes by itself: it is neither held without an end nor unheard. */
    resumes: z.boolean(),
    /** Closes it. */
    remedy: remedySchema.nullable(),
  })
  .openapi('Breaker')

export const breakersAnswer = z
  .object({ ...envelope, breakers: z.array(breakerSchema) })
  .openapi('BreakerList')
export const breakerAnswer = z.object({ ...envelope, breaker: breakerSchema }).openapi('BreakerAnswer')

export const scheduleSchema = z
  .object({
    name: z.string(),
    table: z.string(),
    cron: z.string(),
    timezone: z.string(),
    overlap: z.string(),
    type: z.string(),
    queue: textOrNull,
    next_run_at: timeOrNull,
    due_in_ms: msOrNull,
    last_run_at: timeOrNull,
    last_job_id: textOrNull,
    last_skipped_at: timeOrNull,
  })
  .openapi('Schedule')

export const schedulesAnswer = z
  .object({ ...envelope, schedules: z.array(scheduleSchema) })
  .openapi('ScheduleList')

export const sweepBody = z
  .strictObject({ dry_run: z.boolean().optional(), reason: reasonSchema.optional(), table: tableQuery })
  .openapi('SweepRequest')

export const reapedJobSchema = z
  .object({
    id: z.string(),
    action: z.enum(['requeued', 'dead', 'cancelled', 'held', 'reported']),
    reason: z.string(),
    stage: textOrNull,
    attempt: countSchema,
    worker_id: textOrNull,
    retry_in_ms: msOrNull,
  })
  .openapi('ReapedJob')

/** `requeuedIds` and `failedIds` are the names of document 001. */
export const sweepAnswer = z
  .object({
    ...envelope,
    table: z.string(),
    dry_run: z.boolean(),
    requeuedIds: z.array(z.string()),
    failedIds: z.array(z.string()),
    reaped: z.array(reapedJobSchema),
    held: countSchema,
    hold_reason: textOrNull,
  })
  .openapi('SweepAnswer')

export type DeadLetterGroup = z.infer<typeof deadLetterSchema>
export type DeadLetterList = z.infer<typeof deadLettersAnswer>
export type RedriveRequest = z.infer<typeof redriveBody>
export type CauseState = z.infer<typeof causeStateSchema>
export type MarkCauseRequest = z.infer<typeof markCauseBody>
export type OperationAction = z.infer<typeof operationActionSchema>
export type OperationRequest = z.infer<typeof operationBody>
export type Operation = z.infer<typeof operationSchema>
export type OperationJob = z.infer<typeof operationJobSchema>
export type OperationJobList = z.infer<typeof operationJobsAnswer>
export type OperationList = z.infer<typeof operationsAnswer>
export type Queue = z.infer<typeof queueSchema>
export type QueueList = z.infer<typeof queuesAnswer>
export type Breaker = z.infer<typeof breakerSchema>
export type BreakerList = z.infer<typeof breakersAnswer>
export type Schedule = z.infer<typeof scheduleSchema>
export type ScheduleList = z.infer<typeof schedulesAnswer>
export type ReapedJob = z.infer<typeof reapedJobSchema>
export type SweepAnswer = z.infer<typeof sweepAnswer>
