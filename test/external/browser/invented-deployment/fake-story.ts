// One invented job: attempts, events, and why it is or is not running.
import type { Attempt, Job, WhyAnswer } from '../../../../src/http/contract/index.ts'
import type { FakeWorld } from './fake-world.ts'
import { iso } from './iso.ts'

export function attemptsOf(job: Job | undefined): Attempt[] {
  if (job === undefined) return []
  const now = Date.now()
  const base = {
    stage: job.stage,
    code: null,
    category: null,
    reason: null,
    last_heartbeat_at: null,
    next_run_at: null,
  }
  return Array.from({ length: job.attempt }, (_, index): Attempt => {
    const isLast = index === job.attempt - 1
    const started = now - (job.attempt - index) * 75_000
    const ended = isLast && job.status === 'running' ? null : started + 55_000
    const isReaped = !isLast && index % 2 === 0
    return {
      ...base,
      attempt: index + 1,
      worker_id: isReaped ? 'ip-10-0-3-3:907' : 'ip-10-0-4-2:1733',
      started_at: iso(started),
      ended_at: ended === null ? null : iso(ended),
      duration_ms: ended === null ? null : 55_000,
      outcome:
        ended === null
          ? 'running'
          : isLast && job.status === 'dead'
            ? 'dead'
            : isReaped
              ? 'reaped'
              : 'retried',
      ...(isReaped
        ? { code: 'lease_expired', reason: 'lease_expired', last_heartbeat_at: iso(started + 25_000) }
        : { code: job.error?.code ?? 'GW_5XX', reason: 'gateway answered 503' }),
      next_run_at: isLast ? null : iso(started + 65_000),
    }
  })
}

export function eventsOf(job: Job | undefined, world: FakeWorld) {
  if (job === undefined) return []
  const own = world.events.filter(({ job_id }) => job_id === job.id)
  return [
    ...attemptsOf(job)
      .filter(({ outcome }) => outcome !== 'running')
      .map((attempt, index) => ({
        id: String(index + 1),
        job_id: job.id,
        table: 'jobs',
        at: attempt.ended_at ?? iso(Date.now()),
        type:
          attempt.outcome === 'reaped' ? 'reaper:requeued' : attempt.outcome === 'dead' ? 'failed' : 'retry',
        details: {
          code: attempt.code,
          reason: attempt.reason,
          attempt: attempt.attempt,
          worker_id: attempt.worker_id,
        },
      })),
    ...own,
  ]
}

export function whyOf(job: Job | undefined): Omit<WhyAnswer, 'db_now'> | null {
  if (job === undefined) return null
  const base = { attempt: job.attempt, max_attempts: 10, id: job.id, table: job.table, runs_in_ms: null }
  const reason = (code: string, message: string, until: number | null = null) => ({
    code,
    is_blocking: true,
    message,
    until_ms: until,
    remedies: [],
  })
  if (job.status === 'running')
    return {
      ...base,
      verdict: 'running',
      sentence: `It runs on ${job.worker_id}.`,
      reasons: [{ ...reason('LEASED', 'its lease is renewed with every heartbeat'), is_blocking: false }],
    }
  if (job.status === 'dead')
    return {
      ...base,
      verdict: 'ended',
      sentence: `It is dead after ${job.attempt} attempts.`,
      reasons: [reason('DEAD_MAX_ATTEMPTS', job.error?.reason ?? 'no attempts left')],
    }
  if (job.status !== 'waiting')
    return { ...base, verdict: 'ended', sentence: `It is ${job.status}.`, reasons: [] }
  return {
    ...base,
    verdict: 'blocked',
    sentence: 'It waits for the converter, which is held back by its breaker.',
    runs_in_ms: 18_000,
    reasons: [
      reason('BREAKER_OPEN', 'converter is open since 42 s; next probe in 18 s', 18_000),
      reason('BACKOFF', 'attempt 1 failed with GW_5XX', 9_000),
    ],
  }
}
