// What an operator looks at and acts on: dead letters, operations, queues, breakers, schedules, sweeps, the server itself.
import { z } from '@hono/zod-openapi'
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
  })
  .openapi('DeadLetterGroup')

export const deadLettersQuery = z.strictObject({ limit: limitQuery, table: tableQuery })
export const deadLettersAnswer = z
  .object({ ...envelope, groups: z.array(deadLetterSchema), is_complete: z.boolean() })
  .openapi('DeadLetterList')

export const causeParam = z.object({ cause_id: z.string().regex(/^[\w-]{1,64}$/) })
export const deadLetterAnswer = z.object({ ...envelope, group: deadLetterSchema }).openapi('DeadLetterAnswer')

export const redriveBody = z
  .strictObject({
    /** This many go first and have to succeed. */
    canary: z.number().int().min(0).max(1000).optional(),
    rate_per_s: z.number().min(0.01).max(10_000).optional(),
    limit: z.number().int().min(1).max(100_000).optional(),
    /** Nothing is changed where another number of jobs matches. */
    expect: z.number().int().min(0).optional(),
    keep_attempts: z.boolean().optional(),
    reason: reasonSchema.optional(),
    dry_run: z.boolean().optional(),
  })
  .openapi('RedriveRequest')

/** Runs in the server's process: what it brought back stays so, whatever ends it. */
export const operationSchema = z
  .object({
    id: z.string(),
    action: z.literal('redrive'),
    table: z.string(),
    cause_id: z.string(),
    actor: z.string(),
    reason: textOrNull,
    state: z.enum(['planned', 'running', 'done', 'stopped', 'failed']),
    phase: z.enum(['canary', 'rest']).nullable(),
    total: countSchema,
    redriven: countSchema,
    refused: countSchema,
    succeeded: countSchema,
    failed: countSchema,
    /** Why it stopped early: canary-failed, canary-timeout, too-many-failures, breaker-open, interrupted. */
    stopped: textOrNull,
    began_at: timeSchema,
    ended_at: timeOrNull,
  })
  .openapi('Operation')

export const operationAnswer = z
  .object({ ...envelope, operation: operationSchema })
  .openapi('OperationAnswer')
export const operationsAnswer = z
  .object({ ...envelope, operations: z.array(operationSchema) })
  .openapi('OperationList')

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
    next_probe_in_ms: msOrNull,
    held_for_ms: msOrNull,
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
  .strictObject({ dry_run: z.boolean().optional(), table: tableQuery })
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
export type Operation = z.infer<typeof operationSchema>
export type OperationList = z.infer<typeof operationsAnswer>
export type Queue = z.infer<typeof queueSchema>
export type QueueList = z.infer<typeof queuesAnswer>
export type Breaker = z.infer<typeof breakerSchema>
export type BreakerList = z.infer<typeof breakersAnswer>
export type Schedule = z.infer<typeof scheduleSchema>
export type ScheduleList = z.infer<typeof schedulesAnswer>
export type ReapedJob = z.infer<typeof reapedJobSchema>
export type SweepAnswer = z.infer<typeof sweepAnswer>
