// The result of an attempt that lost its lease, as an event records it.
import type { JsonValue } from '../../job/job.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'

export type HandlerEnd =
  | { kind: 'returned'; result: unknown }
  | { kind: 'threw'; error: unknown }
  | { kind: 'hung' }

/** Null if there is nothing to record. */
export function lateDetails(handlerEnd: HandlerEnd, job: ClaimedJob): { [key: string]: JsonValue } | null {
  const common = { worker_fence: job.fence, attempt: job.attempt }
  if (handlerEnd.kind === 'hung') return null
  if (handlerEnd.kind === 'threw') return { ...common, error: classifyError(handlerEnd.error).reason }
  try {
    return { ...common, result: JSON.parse(jsonText('result', handlerEnd.result ?? null)) as JsonValue }
  } catch {
    return { ...common, result: null }
  }
}
