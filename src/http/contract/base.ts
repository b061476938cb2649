// What every resource of the HTTP API shares: times, ids, pages and problems.
import { z } from '../openapi/zod.ts'

/** RFC 3339 in UTC. */
export const timeSchema = z.iso.datetime().openapi({ example: '2026-05-12T14:02:11.250Z' })
export const timeOrNull = timeSchema.nullable()
export const textOrNull = z.string().nullable()
export const msOrNull = z.number().nullable()
export const countSchema = z.number().int()

/** Why it was done, kept with what it changed. */
export const reasonSchema = z.string().min(1).max(500)

export const jsonSchema = z.unknown().openapi({ description: 'Any JSON value.' })

/** The moment of the answer on the database's clock: count lease ends down from it, never from the browser's. */
export const envelope = { db_now: timeSchema }

export const tableQuery = z.string().min(1).max(63).optional().openapi({
  description: 'Which table of the profile; where absent, its first, or for an id the one that has it.',
})

/** A text that is no number would be told as NaN, which nobody has sent. */
const wholeNumber = z.coerce
  .number({ error: ({ code }) => (code === 'invalid_type' ? 'expected a whole number' : undefined) })
  .int()

export const limitQuery = wholeNumber.min(1).max(1000).optional()

export const windowQuery = wholeNumber.min(1).optional()

export const idParam = z.object({
  id: z.string().min(1).max(200).openapi({ example: '0198c1d4-6f0e-7c3a-9a51-3f4d2f6f2a10' }),
})

export const nameParam = z.object({ name: z.string().min(1).max(200) })

/** RFC 9457. `code` is one of docs/reference/errors.md; `detail` is one line, without stack or path. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    hint: z.string().optional(),
    is_retryable: z.boolean(),
    /** Of a body or query that was refused. */
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    /** Of a filter that was refused: the token, and where it begins. */
    token: z.object({ text: z.string(), position: z.number().int() }).optional(),
    /** Where the state of a job stood in the way. */
    why: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
    /** Beside a public code of document 004: the code of the catalogue. */
    catalog_code: z.string().optional(),
  })
  .openapi('Problem')

export type Problem = z.infer<typeof problemSchema>
