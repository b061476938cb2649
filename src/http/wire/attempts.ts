// Attempts of a job, derived from its events. With `events: recovery` claims and successes write no event, so an attempt may
// lack its start; the row completes the last one.
import type { JobEvent } from '../../job/event.ts'
import type { Job, JsonValue } from '../../job/job.ts'
import type { Attempt } from '../contract/index.ts'
import { shownCode, shownReason, type View } from './jobs.ts'

const OUTCOMES: Readonly<Record<string, string>> = {
  complete: 'completed',
  retry: 'retried',
  failed: 'dead',
  expired: 'expired',
  cancelled: 'cancelled',
  released: 'released',
  'reaper:requeued': 'reaped',
  'reaper:failed(timeout)': 'reaped',
  'reaper:cancelled': 'reaped',
}

export function attemptsOf(job: Job, events: readonly JobEvent[], view: View): Attempt[] {
  const attempts: Attempt[] = []
  for (const event of events) {
    const { details } = event.data
    const number = details['attempt']
    const outcome = OUTCOMES[event.type]
    if (typeof number !== 'number' || (outcome === undefined && event.type !== 'processing')) continue
    const open = attempts.at(-1)
    if (event.type === 'processing') attempts.push(begin(number, event))
    else if (outcome !== undefined) {
      const attempt = open !== undefined && open.ended_at === null ? open : begin(number, null)
      if (attempt !== open) attempts.push(attempt)
      end(attempt, event, outcome, view)
    }
  }
  if (job.status === 'running') addRunning(attempts, job)
  return attempts
}

function begin(number: number, event: JobEvent | null): Attempt {
  const details = event?.data.details ?? {}
  return {
    attempt: number,
    worker_id: text(details['worker_id']),
    stage: text(details['stage']),
    started_at: event?.at.toISOString() ?? null,
    ended_at: null,
    duration_ms: null,
    outcome: 'running',
    code: null,
    category: null,
    reason: null,
    last_heartbeat_at: null,
    next_run_at: null,
  }
}

function end(attempt: Attempt, { at, data: { details } }: JobEvent, outcome: string, view: View): void {
  Object.assign(attempt, {
    ended_at: at.toISOString(),
    duration_ms: attempt.started_at === null ? null : at.getTime() - Date.parse(attempt.started_at),
    outcome,
    worker_id: attempt.worker_id ?? text(details['worker_id']) ?? text(details['locked_by']),
    stage: attempt.stage ?? text(details['stage']),
    code: shownCode(text(details['code']), view),
    category: text(details['category']),
    reason: shownReason(text(details['reason']), view),
    last_heartbeat_at: text(details['last_heartbeat_at']),
    next_run_at: text(details['next_run_at']),
  } satisfies Partial<Attempt>)
}

function addRunning(attempts: Attempt[], job: Job): void {
  const last = attempts.at(-1)
  const running = last !== undefined && last.ended_at === null ? last : begin(job.attempt, null)
  if (running !== last) attempts.push(running)
  running.worker_id ??= job.workerId
  running.stage ??= job.stage
  running.started_at ??= (job.lastAttemptAt ?? job.startedAt)?.toISOString() ?? null
  running.last_heartbeat_at = job.heartbeatAt?.toISOString() ?? null
}

const text = (value: JsonValue | undefined) => (typeof value === 'string' ? value : null)
