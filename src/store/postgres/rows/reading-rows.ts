// Maps rows to lists, groups and facts.
import type { EventData } from '../../../job/event.ts'
import type { JobErrorRecord } from '../../../job/job.ts'
import type { HoldingBreaker, JobFacts, PauseFacts } from '../../../policy/explain/explain-job.ts'
import type { WorkerFacts } from '../../../policy/explain/explain-workers.ts'
import type { LockHolder } from '../../../policy/explain/lock-holder.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { CauseState, DeadJobGroup, JobSummary, Slo } from '../../ports/reading-store.ts'
import type { Row } from '../connection/executor.ts'
import { toErrorRecord, toJob, toStatus } from './job-rows.ts'
import { date, dateOrNull, numberOrNull, text } from './values.ts'

const rowOrNull = (value: unknown) => (value ?? null) as Row | null

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

export function toDeadJobGroup(row: Row): DeadJobGroup {
  return {
    causeId: String(row['cause_id']),
    code: text(row['code']),
    category: text(row['category']),
    jobs: Number(row['jobs']),
    firstAt: date(row['first_at']),
    lastAt: date(row['last_at']),
    exampleReason: text(row['example_reason']),
    exampleJobId: String(row['example_id']),
    maxCrashes: Number(row['max_crashes']),
    state: row['state'] as CauseState,
    changedAt: dateOrNull(row['changed_at']),
    changedBy: text(row['changed_by']),
    stateReason: text(row['state_reason']),
    backSince: dateOrNull(row['back_since']),
  }
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
    error: error === null ? null : { code: error.code, reason: error.reason, category: error.category },
    isCancelAsked: row['is_cancel_asked'] === true,
    runInMs: numberOrNull(row['run_in_ms']),
    ahead: numberOrNull(row['ahead']),
    pause: toPause(rowOrNull(row['pause'])),
    breaker: toHoldingBreaker(rowOrNull(row['breaker'])),
    workers: toWorkerFacts(rowOrNull(row['workers'])),
    workerId: text(row['worker_id']),
    leaseLeftMs: numberOrNull(row['lease_left_ms']),
    silentMs: numberOrNull(row['silent_ms']),
    deadlineLeftMs: numberOrNull(row['deadline_left_ms']),
    isLocked: (row['is_locked'] ?? null) as boolean | null,
    lockedBy: toLockHolder(rowOrNull(row['locked_by'])),
    endedAgoMs: numberOrNull(row['ended_ago_ms']),
    reaperAgeMs: numberOrNull(row['reaper_age_ms']),
    sweepIntervalMs: Number(row['sweep_interval_ms']),
    isObserved: row['is_observed'] === true,
    lastEvent: toLastEvent(rowOrNull(row['last_event'])),
  }
}

function toPause(row: Row | null): PauseFacts | null {
  if (row === null) return null
  return {
    by: text(row['by']),
    reason: text(row['reason']),
    sinceMs: Number(row['since_ms']),
    leftMs: numberOrNull(row['left_ms']),
  }
}

function toHoldingBreaker(row: Row | null): HoldingBreaker | null {
  if (row === null) return null
  return {
    name: String(row['name']),
    state: row['state'] as HoldingBreaker['state'],
    by: text(row['by']),
    reason: text(row['reason']),
    sinceMs: Number(row['since_ms']),
    nextProbeInMs: numberOrNull(row['next_probe_in_ms']),
    heldForMs: numberOrNull(row['held_for_ms']),
    probing: Number(row['probing']),
    probeSlots: Number(row['probe_slots']),
  }
}

function toWorkerFacts(row: Row | null): WorkerFacts | null {
  if (row === null) return null
  return {
    live: Number(row['live']),
    handling: Number(row['handling']),
    slots: Number(row['slots']),
    busy: Number(row['busy']),
    lastSeenMs: numberOrNull(row['last_seen_ms']),
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
  }
}

export function toLockHolder(row: Row | null): LockHolder | null {
  if (row === null) return null
  return {
    pid: Number(row['pid']),
    application: text(row['application']),
    state: text(row['state']),
    openMs: numberOrNull(row['open_ms']),
  }
}

function toLastEvent(row: Row | null): JobFacts['lastEvent'] {
  if (row === null) return null
  return {
    type: String(row['type']),
    agoMs: Number(row['ago_ms']),
    details: row['details'] as EventData['details'],
  }
}
