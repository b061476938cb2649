// The result of an attempt that lost its lease, as an event records it.
import type { JsonValue } from '../../job/job.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import type { JobStore } from '../../store/job-store.ts'
import { type AttemptOutcome, describeFailure, UNKNOWN } from './outcome.ts'
import { isGone } from './written-end.ts'

export type HandlerEnd =
  | { kind: 'returned'; result: unknown }
  | { kind: 'threw'; error: unknown }
  | { kind: 'hung' }

/**
 * An attempt that lost its lease changes nothing; its result is kept as evidence. If the row is gone after a lost answer, the
 * attempt may have completed it: completed jobs of its type may not be kept (C3).
 */
export async function keepLateResult<Tx>(
  store: Pick<JobStore<Tx>, 'recordLateResult' | 'getJob'>,
  job: ClaimedJob,
  handlerEnd: HandlerEnd,
  hasLostAnswer: boolean,
): Promise<AttemptOutcome> {
  const details = lateDetails(handlerEnd, job)
  // Evidence is worth one try, and no more.
  if (details !== null) await store.recordLateResult(job, details).catch(() => false)
  if (hasLostAnswer && (await isGone(store, job))) return UNKNOWN
  return handlerEnd.kind === 'threw'
    ? { end: 'lost', failure: describeFailure(handlerEnd.error) }
    : { end: 'lost' }
}

/** Null if there is nothing to record. */
function lateDetails(handlerEnd: HandlerEnd, job: ClaimedJob): { [key: string]: JsonValue } | null {
  const common = { worker_fence: job.fence, attempt: job.attempt }
  if (handlerEnd.kind === 'hung') return null
  if (handlerEnd.kind === 'threw') return { ...common, error: classifyError(handlerEnd.error).reason }
  try {
    return { ...common, result: JSON.parse(jsonText('result', handlerEnd.result ?? null)) as JsonValue }
  } catch {
    return { ...common, result: null }
  }
}
