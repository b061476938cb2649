import type { ClaimedJob } from '../../job/lease.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { JobGateway } from '../limits/job-gateway.ts'
import { timing } from '../timing/timing.ts'
import { type AttemptOutcome, COMPLETED } from './outcome.ts'

interface EndFacts {
  startedAtMs: number
  /** Undefined if the handler made no call and has no dependency. */
  gateway: JobGateway | undefined
}

/** Emits `job:failed`, if it failed, and `job:ended`. Nothing is built for events without listeners. */
export function emitAttemptEnd(
  events: RuntimeEventEmitter,
  job: ClaimedJob,
  outcome: AttemptOutcome,
  { startedAtMs, gateway }: EndFacts,
): void {
  const { end, code, reason, retryInMs, failure } = outcome
  const hasListeners = events.hasListeners('job:ended')
  if (!hasListeners && failure === undefined) return
  const durationMs = Math.round(timing.nowMs() - startedAtMs)
  // Most attempts have nothing else to report, and a plain literal is a fifth of the bytes.
  if (outcome === COMPLETED && gateway === undefined)
    return events.emit('job:ended', { job, durationMs, end })
  const common = {
    job,
    durationMs,
    ...(code === undefined ? {} : { code }),
    ...(retryInMs === undefined ? {} : { retryInMs }),
  }
  const thrown = failure === undefined ? undefined : { error: failure.error, failure }
  if (thrown !== undefined && (end === 'retried' || end === 'dead' || end === 'lost'))
    events.emit('job:failed', { end, ...common, ...thrown })
  if (!hasListeners) return
  events.emit('job:ended', {
    end,
    ...common,
    ...(reason === undefined ? {} : { reason }),
    ...gateway?.facts(),
    ...thrown,
  })
}
