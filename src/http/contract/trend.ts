// Counts per minute and hour.
import { z } from '../openapi/zod.ts'
import { countSchema, envelope, msOrNull, tableQuery, timeSchema } from './base.ts'

export const trendsQuery = z.strictObject({
  table: tableQuery,
  /** How far back, in hours. Rows are kept for 14 days. */
  hours: z.coerce.number().gt(0).max(336).default(24),
  /** `total`: one row for each queue and type. */
  span: z.enum(['minute', 'hour', 'total']).default('hour'),
  queue: z.string().min(1).max(200).optional(),
  type: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
})

export const trendSchema = z
  .object({
    table: z.string(),
    /** Start of the minute or hour; of the first one, in a total. */
    at: timeSchema,
    /** `*` for pairs of queue and type beyond the first 100 of a minute. */
    queue: z.string(),
    type: z.string(),
    enqueued: countSchema,
    completed: countSchema,
    /** Attempts that failed. */
    failed: countSchema,
    /** Attempts that took up a job whose worker had been lost. */
    rescued: countSchema,
    /** Durations are upper bounds of buckets: 1, 2, 5, 10, … ms. From due to started. */
    wait_p50_ms: msOrNull,
    wait_p95_ms: msOrNull,
    run_p50_ms: msOrNull,
    run_p95_ms: msOrNull,
    /** The numbers are lower bounds. */
    is_bounded: z.boolean(),
  })
  .openapi('Trend')

export const trendsAnswer = z.object({ ...envelope, trends: z.array(trendSchema) }).openapi('TrendList')

export type Trend = z.infer<typeof trendSchema>
export type TrendList = z.infer<typeof trendsAnswer>
