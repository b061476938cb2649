// Current state of rate limits. Workers send the settings with each call; see docs/guides/interfaces/http-api.md.
import { z } from '../openapi/zod.ts'
import { countSchema, envelope, limitQuery, msOrNull, textOrNull, timeOrNull } from './base.ts'

export const rateLimitsQuery = z.strictObject({
  /** Only keys with this prefix. */
  prefix: z.string().min(1).max(500).optional(),
  limit: limitQuery,
})

export const rateLimitSchema = z
  .object({
    key: z.string(),
    /** The key up to its first colon. */
    name: z.string(),
    /** The rest of the key; null for a shared limit. */
    owner: textOrNull,
    /** As the last caller sent them; null before the first call since the upgrade. */
    rate_per_s: z.number().nullable(),
    burst: countSchema.nullable(),
    /** Whole tokens available now. */
    tokens: countSchema.nullable(),
    /** Until the next token; 0 if full. */
    next_token_in_ms: msOrNull,
    full_in_ms: z.number(),
    used_at: timeOrNull,
  })
  .openapi('RateLimit')

export const rateLimitsAnswer = z
  .object({
    ...envelope,
    /** Most recently used first. A bucket full for an hour is dropped. */
    rate_limits: z.array(rateLimitSchema),
    is_complete: z.boolean(),
  })
  .openapi('RateLimitList')

export type RateLimit = z.infer<typeof rateLimitSchema>
export type RateLimitList = z.infer<typeof rateLimitsAnswer>
