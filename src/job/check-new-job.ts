import { invalidArgument, requireKnownNames, UnstuckError } from '../errors/index.ts'
import type { NewJob } from './job.ts'
import { jsonText } from './json-text.ts'

export interface NewJobLimits {
  /** Limit on the payload as JSON in UTF-8. */
  maxPayloadBytes: number
}

const fields: Record<keyof NewJob, true> = {
  type: true,
  payload: true,
  queue: true,
  priority: true,
  delayMs: true,
  runAt: true,
  stage: true,
  expectedDurationMs: true,
  maxAttempts: true,
  owner: true,
  dedupeKey: true,
  traceparent: true,
}
const fieldNames = Object.keys(fields)
const texts = ['type', 'queue', 'stage', 'owner', 'dedupeKey', 'traceparent'] as const
const UNSTORABLE = /\0|\p{Surrogate}/u

/**
 * Checks a job before it is sent, so that a bad job fails alone and not with its batch. The database checks ranges and
 * lengths. Errors never contain the payload.
 */
export function checkNewJob(job: NewJob, { maxPayloadBytes }: NewJobLimits): void {
  if (typeof job !== 'object' || job === null) throw invalidArgument('job', job, 'an object with a type')
  requireKnownNames('job', Object.keys(job), fieldNames, 'field')
  for (const field of texts) {
    const text: unknown = job[field]
    if ((text === undefined || text === null) && field !== 'type') continue
    if (typeof text !== 'string') throw invalidArgument(field, text, 'a text')
    if (UNSTORABLE.test(text))
      throw invalidArgument(field, text, 'a text without \\u0000 and lone surrogates')
  }
  if (job.payload !== undefined) checkPayload(job.payload, maxPayloadBytes)
}

function checkPayload(payload: unknown, maxPayloadBytes: number): void {
  const bytes = Buffer.byteLength(jsonText('payload', payload))
  if (bytes <= maxPayloadBytes) return
  const takes = `at most ${maxPayloadBytes} bytes of JSON (maxPayloadBytes)`
  throw new UnstuckError('INVALID_ARGUMENT', `payload: got ${bytes} bytes, takes ${takes}`, {
    details: { argument: 'payload', got: `${bytes} bytes`, takes },
    hint: 'Put the data into a file or a bucket and its address into the payload.',
  })
}
