// What an operator looks at and acts on: dead letters, operations, queues, breakers, schedules, sweeps, the server itself.
import { z } from '../openapi/zod.ts'
import {
  countSchema,
  envelope,
  jsonSchema,
  limitQuery,
  msOrNull,
  reasonSchema,
  tableQuery,
  textOrNull,
  timeOrNull,
  timeSchema,
} from './base.ts'

export const tableOnlyQuery = z.strictObject({ table: tableQuery })

/** What people think of a cause: nobody marks it as new, it is so until somebody says otherwise. */
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
    /** How often one of them lost its worker: a job that kills its workers shows here. */
    max_crashes: countSchema,
    state: causeStateSchema,
    changed_by: textOrNull,
    changed_at: timeOrNull,
    state_reason: textOrNull,
    /** Of a resolved cause: when a job first died of it after that; null where none has. */
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
  /** This many go first and have to succeed. */
  canary: z.number().int().min(0).max(1000).optional(),
  rate_per_s: z.number().min(0.01).max(10_000).optional(),
  /** The oldest of those that match. */
  limit: z.number().int().min(1).max(100_000).optional(),
  /** Nothing is changed where another number of jobs matches. */
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
    /** As in `GET /v1/jobs`; not empty. Of what matches, those that the action can change are taken. */
    q: z.string().min(1).max(2000),
    table: tableQuery,
    /** What was created, or died, later is left alone; now where absent. */
    as_of: z.iso.datetime().optional(),
    ...operationOptions,
  })
  .openapi('OperationRequest')

/** Lives in the database: a server that dies is followed by another. What it changed stays so, whatever ends it. */
export const operationSchema = z
  .object({
    /** Empty where it is only planned. */
    id: z.string(),
    action: operationActionSchema,
    table: z.string(),
    q: z.string(),
    /** Where it concerns one cause of dead letters. */
    cause_id: textOrNull,
    actor: z.string(),
    reason: textOrNull,
    state: z.enum(['planned', 'running', 'done', 'stopped', 'failed']),
    phase: z.enum(['canary', 'rest']).nullable(),
    total: countSchema,
    changed: countSchema,
    /** Its state stood in the way, or it was gone. */
    refused: countSchema,
    /** Of the first 20 that were brought back, or of the canary. */
    succeeded: countSchema,
    failed: countSchema,
    /** Why it stopped early: canary-failed, canary-timeout, too-many-failures, breaker-open, interrupted. */
    stopped: textOrNull,
    as_of: timeSchema,
    began_at: timeSchema,
    ended_at: timeOrNull,
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
    /** From 1, the oldest job first: the order in which they are changed. */
    position: countSchema,
    /** As the command on one job answers it: retried, not-dead, cancelled, …; null where its turn has not come. */
    outcome: textOrNull,
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
    is_paused: z.boolean(),
    paused_at: timeOrNull,
    paused_for_ms: msOrNull,
    paused_by: textOrNull,
    pause_reason: textOrNull,
    dependency: textOrNull,
    breaker_state: textOrNull,
  })
  .openapi('Queue')

export const queuesAnswer = z.object({ ...envelope, queues: z.array(queueSchema) }).openapi('QueueList')

export const holdBody = z
  .strictObject({ reason: reasonSchema.optional(), duration_ms: z.number().int().min(1).optional() })
  .openapi('HoldRequest')

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
    /** How often in a row it was tried too early. */
    reopens: countSchema,
    next_probe_in_ms: msOrNull,
    held_for_ms: msOrNull,
    /** The last 20 in the window, the oldest first. */
    last_calls: z.array(z.object({ is_failure: z.boolean(), at: timeOrNull })),
    settings: z.record(z.string(), jsonSchema),
    queues: z.array(z.object({ attachment: z.string(), queue: z.string() })),
    /** `Converter busy — jobs will resume automatically.`; null where nothing is held back (BREAK-4). */
    banner: textOrNull,
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
