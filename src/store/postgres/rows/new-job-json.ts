import { invalidArgument } from '../../../errors/index.ts'
import type { NewJob, RetryBackoff } from '../../../job/job.ts'
import { backoffSteps, checkBackoff, dedupeKeyOf, maxAttemptsOf } from '../../../job/job-rules.ts'
import { jsonText } from '../../../job/json-text.ts'

type FieldValue = string | number | boolean | number[] | undefined

/** The fields of a job beside its payload, by their names in SQL. */
const readers: Record<string, (job: NewJob) => FieldValue> = {
  type: ({ type }) => type,
  queue: ({ queue }) => queue,
  priority: ({ priority }) => priority,
  delay_ms: ({ delayMs }) => delayMs,
  run_at: ({ runAt }) => timeOrNone('runAt', runAt),
  stage: ({ stage }) => stage,
  expected_duration_ms: ({ expectedDurationMs }) => expectedDurationMs,
  max_attempts: maxAttemptsOf,
  backoff_steps_ms: ({ retry }) => (retry?.backoff === undefined ? undefined : checkedSteps(retry.backoff)),
  expires_at: ({ expiresAt }) => timeOrNone('expiresAt', expiresAt),
  ttl_ms: ({ ttlMs }) => ttlMs,
  owner: ({ owner }) => owner,
  group: ({ group }) => group,
  dedupe_key: dedupeKeyOf,
  dedupe_for_ms: ({ dedupe }) => dedupe?.forMs,
  dedupe_replace: ({ dedupe }) => dedupe?.replace,
  traceparent: ({ traceparent }) => traceparent,
}
const names = Object.keys(readers)

/** Checked here: the database sees steps, and not what they were made from. */
function checkedSteps(backoff: RetryBackoff): number[] {
  checkBackoff('retry.backoff', backoff)
  return backoffSteps(backoff)
}

/** A job as `enqueue_jobs` takes it. */
export function newJobToJson(job: NewJob): Record<string, unknown> {
  return { payload: job.payload, ...pickFields(job, names) }
}

/**
 * The input of `enqueue_batch`: the fields that all jobs have in common, their payloads, and for each job the fields in
 * which they differ. Most batches differ in their payloads only.
 */
export function newJobsToJson(jobs: NewJob[]): [shared: string, payloads: string, jobs: string | null] {
  const [first] = jobs
  if (first === undefined) return ['{}', '[]', null]
  const differing = names.filter((name) => {
    const value = readField(first, name)
    return jobs.some((job) => !isSame(readField(job, name), value))
  })
  const shared = names.filter((name) => !differing.includes(name))
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

const readField = (job: NewJob, name: string) => readers[name]?.(job)

function pickFields(job: NewJob, wanted: string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const name of wanted) {
    const value = readField(job, name)
    if (value !== undefined) picked[name] = value
  }
  return picked
}

const isSame = (a: FieldValue, b: FieldValue) => a === b || (Array.isArray(a) && String(a) === String(b))

const timeOrNone = (name: string, date: Date | undefined) =>
  date === undefined ? undefined : isoTime(name, date)

export function isoTime(name: string, date: Date): string {
  if (Number.isNaN(date.getTime())) throw invalidArgument(name, date, 'a valid date')
  return date.toISOString()
}
