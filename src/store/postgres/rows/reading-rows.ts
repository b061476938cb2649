// Maps rows to lists, groups and facts.
import type { JobErrorRecord } from '../../../job/job.ts'
import type { JobFacts } from '../../../policy/explain/job-facts.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { DeadJobGroup, JobSummary, Slo } from '../../ports/reading-store.ts'
import type { Row } from '../connection/executor.ts'
import { toErrorRecord, toJob, toProgress, toStatus } from './job-rows.ts'
import { fromRecord, fromRecordOrNull, numberOrNull, text } from './values.ts'

export function toJobSummary(row: Row, table: TableProfile): JobSummary {
  const { payload, result, error, ...rest } = toJob(row, table)
  return {
    ...rest,
    error: error === null ? null : withoutStack(error),
    causeId: text(row['cause_id']),
    leaseLeftMs: numberOrNull(row['lease_left_ms']),
    ...('payload' in row ? { payload, result } : {}),
  }
}

function withoutStack({ code, reason, category, attempt }: JobErrorRecord): JobSummary['error'] {
  return { code, reason, category, attempt }
}

export function toDeadJobGroup({ example_id: exampleId, ...row }: Row): DeadJobGroup {
  const times = ['firstAt', 'lastAt', 'changedAt', 'backSince'] as const
  const group = fromRecord<Omit<DeadJobGroup, 'exampleJobId'>>(row, times, 'is_complete')
  return { ...group, exampleJobId: String(exampleId) }
}

export function toJobFacts(row: Row, table: TableProfile): JobFacts {
  const error = toErrorRecord(row)
  return {
    jobId: String(row['id']),
    type: String(row['type']),
    queue: String(row['queue']),
    stage: String(row['stage']),
    status: toStatus(String(row['status']), error, table),
    attempt: Number(row['attempt']),
    failures: Number(row['failures']),
    crashes: Number(row['crashes']),
    timeouts: Number(row['timeouts']),
    releases: Number(row['releases']),
    isReleasedOften: row['is_released_often'] === true,
    isLastChance: row['is_last_chance'] === true,
    keptWorkerId: text(row['kept_worker_id']),
    maxAttempts: Number(row['max_attempts']),
    hasBudget: row['has_budget'] === true,
    progress: toProgress(row),
    expiresInMs: numberOrNull(row['expires_in_ms']),
    error: error === null ? null : { code: error.code, reason: error.reason, category: error.category },
    isCancelAsked: row['is_cancel_asked'] === true,
    cancel: fromRecordOrNull(row['cancel']),
    runInMs: numberOrNull(row['run_in_ms']),
    ahead: numberOrNull(row['ahead']),
    pause: fromRecordOrNull(row['pause']),
    breaker: fromRecordOrNull(row['breaker']),
    limit: fromRecordOrNull(row['limit']),
    workers: fromRecordOrNull(row['workers']),
    workerId: text(row['worker_id']),
    leaseLeftMs: numberOrNull(row['lease_left_ms']),
    silentMs: numberOrNull(row['silent_ms']),
    deadlineLeftMs: numberOrNull(row['deadline_left_ms']),
    heldForMs: numberOrNull(row['held_for_ms']),
    absence: fromRecordOrNull(row['absence']),
    isLocked: (row['is_locked'] ?? null) as boolean | null,
    lockedBy: fromRecordOrNull(row['locked_by']),
    endedAgoMs: numberOrNull(row['ended_ago_ms']),
    reaperAgeMs: numberOrNull(row['reaper_age_ms']),
    sweepIntervalMs: Number(row['sweep_interval_ms']),
    isObserved: row['is_observed'] === true,
    lastEvent: fromRecordOrNull(row['last_event']),
  }
}

export function toSlo(row: Row): Slo {
  const rescued = Number(row['rescued'])
  const inTime = Number(row['in_time'])
  return {
    rescued,
    inTime,
    share: rescued === 0 ? null : inTime / rescued,
    p50Ms: numberOrNull(row['p50_ms']),
    p95Ms: numberOrNull(row['p95_ms']),
    worstMs: numberOrNull(row['worst_ms']),
    promiseMs: Number(row['promise_ms']),
    oldestStuckMs: numberOrNull(row['oldest_stuck_ms']),
    staleLeases: Number(row['stale_leases']),
    byCause: row['by_cause'] as Slo['byCause'],
  }
}
