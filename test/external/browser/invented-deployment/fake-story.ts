// One invented job: attempts, events, and why it is or is not running.
import type { Attempt, Job, WhyAnswer } from '../../../../src/http/contract/index.ts'
import type { ErrorCategory } from '../../../../src/job/job.ts'
import { explainJob } from '../../../../src/policy/explain/explain-job.ts'
import type { JobFacts } from '../../../../src/policy/explain/job-facts.ts'
import { openBreaker, runnableJob } from '../../../support/job-facts.ts'
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

export function whyOf(job: Job | undefined, world: FakeWorld): Omit<WhyAnswer, 'db_now'> | null {
  if (job === undefined) return null
  const facts = factsOf(job, world)
  const { verdict, sentence, runsInMs, reasons } = explainJob(facts)
  return {
    id: job.id,
    table: job.table,
    verdict,
    sentence,
    runs_in_ms: runsInMs,
    attempt: facts.attempt,
    max_attempts: facts.maxAttempts,
    reasons: reasons.map(({ code, isBlocking, message, untilMs, remedies = [] }) => {
      return { code, is_blocking: isBlocking, message, until_ms: untilMs, remedies }
    }),
  }
}

/** Waiting jobs need the converter, which fails. */
function factsOf(job: Job, world: FakeWorld): JobFacts {
  const now = Date.now()
  const left = (at: string | null) => (at === null ? null : Date.parse(at) - now)
  const heartbeatLeft = left(job.heartbeat_at)
  const finishedLeft = left(job.finished_at)
  const isWaiting = job.status === 'waiting'
  const converter = world.breakers.find(({ name, state }) => name === 'converter' && state !== 'closed')
  return {
    ...runnableJob,
    jobId: job.id,
    type: job.type,
    queue: job.queue,
    stage: job.stage ?? job.type,
    status: job.status,
    attempt: job.attempt,
    failures: job.failures,
    crashes: job.crashes,
    error: job.error === null ? null : { ...job.error, category: job.error.category as ErrorCategory },
    runInMs: isWaiting ? (left(job.run_at) ?? 0) : null,
    breaker:
      isWaiting && converter !== undefined ? { ...openBreaker, ...converter, by: converter.changedBy } : null,
    workerId: job.worker_id,
    leaseLeftMs: left(job.lease_expires_at),
    silentMs: heartbeatLeft === null ? null : -heartbeatLeft,
    deadlineLeftMs: left(job.deadline_at),
    endedAgoMs: finishedLeft === null ? null : -finishedLeft,
    reaperAgeMs: 640,
    sweepIntervalMs: 5_000,
  }
}
