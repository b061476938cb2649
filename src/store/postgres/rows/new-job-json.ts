import { invalidArgument } from '../../../errors/index.ts'
import type { NewJob } from '../../../job/job.ts'

/** The input of `enqueue_jobs`. */
export function newJobToJson(job: NewJob): Record<string, unknown> {
  return {
    type: job.type,
    payload: job.payload,
    queue: job.queue,
    priority: job.priority,
    delay_ms: job.delayMs,
    run_at: job.runAt === undefined ? undefined : isoTime('runAt', job.runAt),
    stage: job.stage,
    expected_duration_ms: job.expectedDurationMs,
    max_attempts: job.maxAttempts,
    owner: job.owner,
    dedupe_key: job.dedupeKey,
    traceparent: job.traceparent,
  }
}

export function isoTime(name: string, date: Date): string {
  if (Number.isNaN(date.getTime())) throw invalidArgument(name, date, 'a valid date')
  return date.toISOString()
}
