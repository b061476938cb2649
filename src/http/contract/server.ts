// The server: health, configuration, tokens, browser sessions and the live stream.
import { z } from '../openapi/zod.ts'
import {
  atLeastSchema,
  countSchema,
  envelope,
  jsonSchema,
  msOrNull,
  remedySchema,
  textOrNull,
  timeOrNull,
  timeSchema,
} from './base.ts'
import { eventSchema } from './job.ts'
import { runningJobSchema } from './lease.ts'
import { breakerSchema, queueSchema } from './operator.ts'

export const tableHealthSchema = z
  .object({
    table: z.string(),
    waiting: countSchema,
    due: countSchema,
    running: countSchema,
    /** Running jobs past their lease. */
    overdue: countSchema,
    oldest_overdue_ms: msOrNull,
    oldest_due_ms: msOrNull,
    unjudged: countSchema,
    /** Waiting jobs that were released 20 times or for over a day. */
    released_often: countSchema,
    reaper_age_ms: msOrNull,
    sweep_interval_ms: z.number(),
    hold_reason: textOrNull,
    /** Row security may hide jobs from the server's role: counts may be too low. */
    hidden: z
      .object({ role: z.string(), table: z.string(), is_all: z.boolean(), fix: z.string() })
      .nullable(),
    /** Shards that did not answer: their jobs are missing from the counts. */
    silent_shards: z.array(z.string()),
    /** No job is overdue, a reaper runs, no job is hidden, and every shard answered. */
    is_healthy: z.boolean(),
    /** No sweep for three intervals. */
    is_reaper_late: z.boolean(),
    /** Acts that end overdue jobs and a missing reaper. */
    remedies: z.array(remedySchema),
    at_least: atLeastSchema,
  })
  .openapi('TableHealth')

export const healthAnswer = z
  .object({ ...envelope, is_healthy: z.boolean(), tables: z.array(tableHealthSchema) })
  .openapi('Health')

export const probeAnswer = z.object({ status: z.enum(['ok', 'unavailable']) }).openapi('Probe')

export const configAnswer = z
  .object({
    ...envelope,
    version: z.string(),
    profile: z.string(),
    schema: z.string(),
    tables: z.array(z.string()),
    /** production, staging, …: UNSTUCK_ENVIRONMENT. */
    environment: textOrNull,
    is_read_only: z.boolean(),
    /** Secrets are masked. */
    values: z.array(z.object({ name: z.string(), value: jsonSchema, source: z.string() })),
  })
  .openapi('ConfigAnswer')

export const findingSchema = z.object({
  check: z.string(),
  level: z.enum(['fine', 'warning', 'problem']),
  message: z.string(),
  fix: textOrNull,
})
export const doctorAnswer = z
  .object({ ...envelope, problems: countSchema, warnings: countSchema, findings: z.array(findingSchema) })
  .openapi('DoctorAnswer')

export const meAnswer = z
  .object({
    ...envelope,
    id: z.string(),
    scopes: z.array(z.string()),
    owner: textOrNull,
    is_read_only: z.boolean(),
    /** Permissions of the caller by command; the reason if refused. */
    commands: z.record(z.string(), z.object({ is_allowed: z.boolean(), reason: textOrNull })),
  })
  .openapi('Me')

export const sessionBody = z
  .strictObject({ token: z.string().regex(/^[\w.~+/=-]{1,4096}$/) })
  .openapi('SessionRequest')

export const tokenSchema = z
  .object({
    name: z.string(),
    scopes: z.array(z.string()),
    owner: textOrNull,
    created_at: timeSchema,
    created_by: textOrNull,
    expires_at: timeOrNull,
    revoked_at: timeOrNull,
  })
  .openapi('Token')

export const newTokenBody = z
  .strictObject({
    name: z.string().regex(/^[\w.-]{1,64}$/),
    /** Excludes `scopes`. */
    role: z.enum(['viewer', 'support', 'operator', 'admin']).optional(),
    scopes: z.array(z.string().min(1).max(64)).min(1).max(32).optional(),
    owner: z.string().min(1).max(200).optional(),
    expires_in_ms: z.number().int().min(1).optional(),
  })
  .openapi('NewToken')

/** The secret is in this answer only. */
export const newTokenAnswer = z
  .object({ ...envelope, token: tokenSchema, secret: z.string() })
  .openapi('NewTokenAnswer')
export const tokenAnswer = z.object({ ...envelope, token: tokenSchema }).openapi('TokenAnswer')
export const tokensAnswer = z.object({ ...envelope, tokens: z.array(tokenSchema) }).openapi('TokenList')

export const streamTopics = ['leases', 'events', 'counts', 'breakers'] as const
export type StreamTopic = (typeof streamTopics)[number]

export const streamQuery = z.strictObject({
  topics: z.string().max(100).optional().openapi({
    description: 'Any of leases, events, counts, breakers. Default: all that the caller may see.',
    example: 'leases,events',
  }),
})

/**
 * Data of each kind of server-sent event. `events` are sent one by one with an id, so `Last-Event-ID` resumes a broken
 * connection; the others are the whole state, sent when it changes.
 */
export const streamData = {
  leases: z
    .object({ ...envelope, leases: z.array(runningJobSchema), is_complete: z.boolean() })
    .openapi('LeasesMessage'),
  events: z.object({ ...envelope, event: eventSchema }).openapi('EventMessage'),
  counts: z
    .object({ ...envelope, tables: z.array(tableHealthSchema), queues: z.array(queueSchema) })
    .openapi('CountsMessage'),
  breakers: z.object({ ...envelope, breakers: z.array(breakerSchema) }).openapi('BreakersMessage'),
  /** The database could not be read: earlier messages are the last known state. */
  stale: z.object({ code: z.string(), detail: z.string() }).openapi('StaleMessage'),
}

export type TableHealth = z.infer<typeof tableHealthSchema>
export type HealthAnswer = z.infer<typeof healthAnswer>
export type ConfigAnswer = z.infer<typeof configAnswer>
export type DoctorAnswer = z.infer<typeof doctorAnswer>
export type Me = z.infer<typeof meAnswer>
export type Token = z.infer<typeof tokenSchema>
export type TokenList = z.infer<typeof tokensAnswer>
export type LeasesMessage = z.infer<typeof streamData.leases>
export type EventMessage = z.infer<typeof streamData.events>
export type CountsMessage = z.infer<typeof streamData.counts>
export type BreakersMessage = z.infer<typeof streamData.breakers>
export type StaleMessage = z.infer<typeof streamData.stale>
