// Shared by all resources of the HTTP API: times, ids, pages and problems.
import { z } from '../openapi/zod.ts'

/** RFC 3339 in UTC. */
export const timeSchema = z.iso.datetime().openapi({ example: '2026-05-12T14:02:11.250Z' })
export const timeOrNull = timeSchema.nullable()
export const textOrNull = z.string().nullable()
export const msOrNull = z.number().nullable()
export const countSchema = z.number().int()

/** Values of the same object that may be larger: counting stops at 100,000 jobs. */
export const atLeastSchema = z.array(z.string()).openapi({
  description: 'Values of this object that may be larger: counting stops at 100,000 jobs.',
  example: ['waiting', 'due'],
})

/** Recorded with the change. */
export const reasonSchema = z.string().min(1).max(500)

export const jsonSchema = z.unknown().openapi({ description: 'Any JSON value.' })

/** Database time of the answer: count leases down from it, not from the browser's clock. */
export const envelope = { db_now: timeSchema }

export const tableQuery = z.string().min(1).max(63).optional().openapi({
  description: 'Table of the profile. Default: the first, or the one that has the id.',
})

/** Avoids NaN in the error of a text that is not a number. */
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
    /** Errors of a refused body or query. */
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    /** Token and offset in a refused filter. */
    token: z.object({ text: z.string(), position: z.number().int() }).optional(),
    /** Why the state of a job did not allow the change. */
    why: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
    /** The catalogue code that belongs to a public code of document 004. */
    catalog_code: z.string().optional(),
  })
  .openapi('Problem')

export type Problem = z.infer<typeof problemSchema>

/** Ends a cause. Its command is a line of the CLI; `…` stands for a reason. */
export const remedySchema = z
  .object({
    act: z.enum([
      'sweep',
      'resume-queue',
      'resume-breaker',
      'retry',
      'raise-attempts',
      'run-now',
      'cancel',
      'drain-worker',
      'start-worker',
      'start-reaper',
      'set-mode',
      'end-session',
    ]),
    /** Its queue, breaker, job, type, mode or session. */
    subject: z.string(),
    effect: z.string(),
    command: z.string(),
  })
  .openapi('Remedy')

export type Remedy = z.infer<typeof remedySchema>
