import { invalidArgument } from '../../../errors/index.ts'
import type { NewJob } from '../../../job/job.ts'
import { jsonText } from '../../../job/json-text.ts'

type Field = Exclude<keyof NewJob, 'payload'>

const fieldNames: Record<Field, string> = {
  type: 'type',
  queue: 'queue',
  priority: 'priority',
  delayMs: 'delay_ms',
  runAt: 'run_at',
  stage: 'stage',
  expectedDurationMs: 'expected_duration_ms',
  maxAttempts: 'max_attempts',
  owner: 'owner',
  dedupeKey: 'dedupe_key',
  traceparent: 'traceparent',
}
const fields = Object.keys(fieldNames) as Field[]

/** A job as `enqueue_jobs` takes it. */
export function newJobToJson(job: NewJob): Record<string, unknown> {
  return { payload: job.payload, ...pickFields(job, fields) }
}

/**
 * The input of `enqueue_batch`: the fields that all jobs have in common, their payloads, and for each job the fields in
 * which they differ. Most batches differ in their payloads only.
 */
export function newJobsToJson(jobs: NewJob[]): [shared: string, payloads: string, jobs: string | null] {
  const [first] = jobs
  if (first === undefined) return ['{}', '[]', null]
  const differing = fields.filter((field) => jobs.some((job) => !isSame(job[field], first[field])))
  const shared = fields.filter((field) => !differing.includes(field))
  return [
    jsonText('jobs', pickFields(first, shared)),
    jsonText(
      'jobs',
      jobs.map(({ payload = {} }) => payload),
    ),
    differing.length === 0
      ? null
      : jsonText(
          'jobs',
          jobs.map((job) => pickFields(job, differing)),
        ),
  ]
}

function pickFields(job: NewJob, wanted: Field[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const field of wanted) {
    const value = job[field]
    if (value !== undefined) picked[fieldNames[field]] = value instanceof Date ? isoTime(field, value) : value
  }
  return picked
}

const isSame = (a: NewJob[Field], b: NewJob[Field]) =>
  a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())

export function isoTime(name: string, date: Date): string {
  if (Number.isNaN(date.getTime())) throw invalidArgument(name, date, 'a valid date')
  return date.toISOString()
}
