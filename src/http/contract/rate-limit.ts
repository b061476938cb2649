// Rate limits as they are now. Their settings come with each call of a worker; see docs/guides/http-api.md.
import { z } from '../openapi/zod.ts'
import { countSchema, envelope, limitQuery, msOrNull, textOrNull, timeOrNull } from './base.ts'

export const rateLimitsQuery = z.strictObject({
  /** Keys that begin with this text. */
  prefix: z.string().min(1).max(500).optional(),
  limit: limitQuery,
})

export const rateLimitSchema = z
  .object({
    key: z.string(),
    /** What is limited: the key up to its first colon. */
    name: z.string(),
    /** The rest of the key; null of a limit that all share. */
    owner: textOrNull,
    /** As the last caller had them; null before the first since the upgrade. */
    rate_per_s: z.number().nullable(),
    burst: countSchema.nullable(),
    /** Whole tokens that may be taken now. */
    tokens: countSchema.nullable(),
    /** Until there is one token more; 0 where it is full. */
    next_token_in_ms: msOrNull,
    full_in_ms: z.number(),
    used_at: timeOrNull,
  })
  .openapi('RateLimit')

export const rateLimitsAnswer = z
  .object({
    ...envelope,
    /** The one that was used last first. A bucket that was full for an hour is forgotten. */
    rate_limits: z.array(rateLimitSchema),
    is_complete: z.boolean(),
  })
  .openapi('RateLimitList')

export type RateLimit = z.infer<typeof rateLimitSchema>
export type RateLimitList = z.infer<typeof rateLimitsAnswer>
