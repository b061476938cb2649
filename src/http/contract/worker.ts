// Workers, the rescue promise, and webhooks.
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
  windowQuery,
} from './base.ts'

export const workerSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    state: z.enum(['live', 'late', 'silent', 'gone', 'draining', 'stopped', 'zombie']),
    host: textOrNull,
    pid: countSchema.nullable(),
    /** Version of this library. */
    version: textOrNull,
    /** Version of the application. */
    app_version: textOrNull,
    types: z.array(z.string()),
    concurrency: countSchema,
    /** Jobs in its slots; further `leases` are claimed ahead. */
    running: countSchema,
    leases: countSchema,
    claimed_ahead: countSchema,
    loop_lag_ms: msOrNull,
    /** Since its last report. */
    seen_ms: z.number(),
    started_at: timeSchema,
    seen_at: timeSchema,
    draining_at: timeOrNull,
    stopped_at: timeOrNull,
    exit_code: countSchema.nullable(),
    drain_requested_at: timeOrNull,
    drain_requested_by: textOrNull,
    drain_reason: textOrNull,
    /** Whether its session holds its lock; `gone` means that its process has ended. */
    presence: z.enum(['present', 'absent', 'gone', 'pooled', 'off']),
    /** Its last reports, oldest first: at most 60, at least 5 s apart. */
    report_times: z.array(timeSchema),
  })
  .openapi('Worker')

export const fleetSchema = z
  .object({
    /** Neither stopped nor gone nor silent. */
    workers: countSchema,
    draining: countSchema,
    /** Live, and started within 2 minutes. */
    starting: countSchema,
    /** Versions of the application, the most frequent first; null for workers that report none. */
    versions: z.array(z.object({ app_version: textOrNull, workers: countSchema })),
    is_deploying: z.boolean(),
    /** In words; null if there is nothing to say. */
    text: textOrNull,
  })
  .openapi('Fleet')

export const workersAnswer = z
  .object({ ...envelope, fleet: fleetSchema, workers: z.array(workerSchema) })
  .openapi('WorkerList')

export const drainAnswer = z
  .object({ ...envelope, id: z.string(), table: z.string(), outcome: z.enum(['asked', 'already-asked']) })
  .openapi('DrainAnswer')

export const sloQuery = z.strictObject({
  table: tableQuery,
  window_ms: windowQuery,
})

export const sloSchema = z
  .object({
    table: z.string(),
    rescued: countSchema,
    in_time: countSchema,
    /** `in_time` / `rescued`; null, like the times, without rescues. */
    share: z.number().nullable(),
    /** No rescue came late. */
    is_kept: z.boolean(),
    p50_ms: msOrNull,
    p95_ms: msOrNull,
    worst_ms: msOrNull,
    /** Lease, sweep interval and poll of a job with the default lease. */
    promise_ms: z.number(),
    oldest_stuck_ms: msOrNull,
    stale_leases: countSchema,
    /** `rescued`, by cause: its lease expired, its deadline passed, or its worker's process ended. */
    by_cause: z.object({ crash: countSchema, timeout: countSchema, 'worker-gone': countSchema }),
  })
  .openapi('Slo')

export const sloAnswer = z.object({ ...envelope, tables: z.array(sloSchema) }).openapi('SloAnswer')

export const webhookSchema = z
  .object({
    id: z.string(),
    table: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    is_active: z.boolean(),
    inactive_reason: textOrNull,
    created_at: timeSchema,
    created_by: textOrNull,
    waiting: countSchema,
  })
  .openapi('Webhook')

export const webhooksAnswer = z
  .object({ ...envelope, webhooks: z.array(webhookSchema) })
  .openapi('WebhookList')

export const deliveriesQuery = z.strictObject({
  table: tableQuery,
  webhook_id: z.uuid('must be a UUID').optional(),
  status: z.enum(['waiting', 'delivered', 'failed']).optional(),
  limit: limitQuery,
})

export const deliverySchema = z
  .object({
    id: z.string(),
    table: z.string(),
    webhook_id: z.string(),
    job_id: z.string(),
    type: z.string(),
    status: z.enum(['waiting', 'delivered', 'failed']),
    tries: countSchema,
    next_try_in_ms: msOrNull,
    last_status: countSchema.nullable(),
    last_error: textOrNull,
    created_at: timeSchema,
    delivered_at: timeOrNull,
  })
  .openapi('Delivery')

export const deliveriesAnswer = z
  .object({ ...envelope, deliveries: z.array(deliverySchema) })
  .openapi('DeliveryList')

export const redeliverAnswer = z
  .object({ ...envelope, id: z.string(), table: z.string() })
  .openapi('RedeliverAnswer')

export type Worker = z.infer<typeof workerSchema>
export type WorkerList = z.infer<typeof workersAnswer>
export type Slo = z.infer<typeof sloSchema>
export type SloAnswer = z.infer<typeof sloAnswer>
export type Webhook = z.infer<typeof webhookSchema>
export type Delivery = z.infer<typeof deliverySchema>
