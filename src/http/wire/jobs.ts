// Maps the domain to the contract: snake_case, times and 64-bit numbers as strings, secrets redacted. A lease id is a
// credential: only the answer to a claim contains it.

import type { TableHealth } from '../../commands/queue-control-commands.ts'
import type { JobEvent } from '../../job/event.ts'
import type { Job, JobErrorRecord, JsonValue } from '../../job/job.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { codeForOwner, reasonForOwner } from '../../observe/for-owner.ts'
import { type RedactOptions, redactJson, redactText } from '../../observe/redact.ts'
import { remediesOf, resumeQueue } from '../../policy/explain/remedy.ts'
import { isReaperLate } from '../../policy/explain/table-health.ts'
import type { TokenRecord } from '../../store/access-store.ts'
import type { JobSummary, QueueStatus, ReapedJob, Schedule } from '../../store/job-store.ts'
import type { AppOptions } from '../app-options.ts'
import type * as wire from '../contract/index.ts'

const iso = (date: Date) => date.toISOString()
const isoOrNull = (date: Date | null) => date?.toISOString() ?? null
export const redactOrNull = (text: string | null, options?: RedactOptions) =>
  text === null ? null : redactText(text, options)

export interface View {
  now: Date
  redact: NonNullable<AppOptions['redact']>
  /** The caller may see payloads and stacks. */
  hasPayloads: boolean
  /** The caller is limited to one owner: public codes, and no addresses (FAIL-2). */
  isOwner: boolean
}

export const shownCode = (code: string | null, { isOwner }: View) => (isOwner ? codeForOwner(code) : code)
export const shownReason = (reason: string | null, { isOwner, redact }: View) =>
  redactOrNull(isOwner ? reasonForOwner(reason) : reason, redact)

export function toWireJob(job: Job | JobSummary, table: string, view: View): wire.Job {
  const { hasPayloads, now } = view
  const { payload, result, error } = job
  const left = 'leaseLeftMs' in job ? job.leaseLeftMs : leaseLeftMs(job, now)
  return {
    id: job.id,
    table,
    type: job.type,
    queue: job.queue,
    status: job.status,
    priority: job.priority,
    owner: job.owner,
    group: job.group,
    dedupe_key: job.dedupeKey,
    stage: job.stage,
    expected_duration_ms: job.expectedDurationMs,
    ...toWireTimes(job),
    worker_id: job.workerId,
    lease_remaining_ms: left,
    fence: String(job.fence),
    attempt: job.attempt,
    failures: job.failures,
    crashes: job.crashes,
    timeouts: job.timeouts,
    releases: job.releases,
    interruptions: job.interruptions,
    max_attempts: job.maxAttempts,
    generation: job.generation,
    error: error === null ? null : toWireError(error, view),
    ...(view.isOwner ? {} : { error_detail: error === null ? null : toErrorDetail(error, view) }),
    ...('causeId' in job ? { cause_id: job.causeId } : {}),
    traceparent: job.traceparent,
    backoff_steps_ms: job.backoffStepsMs,
    progress: toWireProgress(job, view),
    ...(hasPayloads && payload !== undefined ? { payload: showPayload(payload, job, view) } : {}),
    ...(hasPayloads && result !== undefined ? { result: redactJson(result, view.redact) } : {}),
  }
}

/** The text comes from the handler, and may quote anything. */
function toWireProgress({ progress }: Job | JobSummary, { redact }: View) {
  return progress === null ? null : { value: progress.value, text: redactOrNull(progress.text, redact) }
}

function toWireTimes(job: Job | JobSummary) {
  return {
    created_at: iso(job.createdAt),
    updated_at: isoOrNull(job.updatedAt),
    queued_at: isoOrNull(job.queuedAt),
    run_at: isoOrNull(job.runAt),
    started_at: isoOrNull(job.startedAt),
    finished_at: isoOrNull(job.finishedAt),
    last_attempt_at: isoOrNull(job.lastAttemptAt),
    lease_expires_at: isoOrNull(job.leaseExpiresAt),
    heartbeat_at: isoOrNull(job.heartbeatAt),
    deadline_at: isoOrNull(job.deadlineAt),
    cancel_requested_at: isoOrNull(job.cancelRequestedAt),
    reaped_at: isoOrNull(job.reapedAt),
    expires_at: isoOrNull(job.expiresAt),
  }
}

function leaseLeftMs({ leaseExpiresAt }: Pick<Job, 'leaseExpiresAt'>, now: Date): number | null {
  return leaseExpiresAt === null ? null : leaseExpiresAt.getTime() - now.getTime()
}

function showPayload(payload: JsonValue, job: { type: string }, { redact }: View): JsonValue {
  const shown = redactJson(payload, redact)
  return redact.payload === undefined ? shown : redact.payload(shown, job)
}

type ShownError = Omit<JobErrorRecord, 'stack'> & { stack?: string | null }

/** The same for every caller; the job itself has more. */
function toWireError({ code, reason, category, attempt }: ShownError, { redact }: View) {
  return { code: codeForOwner(code), reason: redactOrNull(reasonForOwner(reason), redact), category, attempt }
}

function toErrorDetail({ code, reason, stack }: ShownError, { redact, hasPayloads }: View) {
  return {
    code,
    reason: redactOrNull(reason, redact),
    ...(hasPayloads && stack !== undefined ? { stack: redactOrNull(stack, redact) } : {}),
  }
}

export function toWireRunning(job: JobSummary, table: string): wire.RunningJob {
  return {
    id: job.id,
    table,
    type: job.type,
    queue: job.queue,
    stage: job.stage,
    owner: job.owner,
    worker_id: job.workerId,
    fence: String(job.fence),
    attempt: job.attempt,
    started_at: isoOrNull(job.startedAt),
    heartbeat_at: isoOrNull(job.heartbeatAt),
    lease_expires_at: isoOrNull(job.leaseExpiresAt),
    lease_remaining_ms: job.leaseLeftMs,
    deadline_at: isoOrNull(job.deadlineAt),
  }
}

export function toWireEvent({ id, jobId, type, at, data }: JobEvent, view: View): wire.JobEvent {
  const { lease_id: _credential, stack, ...details } = data.details
  const isStackShown = view.hasPayloads && !view.isOwner && stack !== undefined
  const shown = redactJson(
    isStackShown ? { ...details, stack } : { ...details, ...shownFailure(details, view) },
    view.redact,
  )
  return {
    id,
    job_id: jobId,
    table: data.table,
    type,
    at: iso(at),
    details: shown as Record<string, unknown>,
  }
}

/** Failure details of an event, for an owner. */
function shownFailure(
  { code, reason }: { [key: string]: JsonValue },
  view: View,
): { [key: string]: JsonValue } {
  return {
    ...(typeof code === 'string' ? { code: shownCode(code, view) } : {}),
    ...(typeof reason === 'string' ? { reason: shownReason(reason, view) } : {}),
  }
}

/** A worker gets the payload without redaction. */
export function toWireClaimed(job: ClaimedJob): wire.ClaimedJob {
  return {
    id: job.jobId,
    lease_id: job.leaseId,
    type: job.type,
    queue: job.queue,
    payload: job.payload,
    priority: job.priority,
    stage: job.stage,
    owner: job.owner,
    fence: String(job.fence),
    attempt: job.attempt,
    failures: job.failures,
    crashes: job.crashes,
    timeouts: job.timeouts,
    max_attempts: job.maxAttempts,
    generation: job.generation,
    created_at: iso(job.createdAt),
    started_at: iso(job.startedAt),
    expected_duration_ms: job.expectedDurationMs,
    lease_ms: job.leaseMs,
    deadline_ms: job.deadlineMs,
    traceparent: job.traceparent,
    is_rescue: job.isRescue,
  }
}

export function toWireQueue(queue: QueueStatus, table: string): wire.Queue {
  return {
    queue: queue.queue,
    table,
    waiting: queue.waiting,
    due: queue.due,
    running: queue.running,
    oldest_due_ms: queue.oldestDueMs,
    released_often: queue.releasedOften,
    is_paused: queue.isPaused,
    paused_at: isoOrNull(queue.pausedAt),
    paused_for_ms: queue.pausedForMs,
    paused_by: queue.pausedBy,
    pause_reason: redactOrNull(queue.pauseReason),
    dependency: queue.dependency,
    breaker_state: queue.breakerState,
    concurrency: queue.concurrency,
    group_concurrency: queue.groupConcurrency,
    group_order: queue.groupOrder,
    remedy: queue.isPaused ? resumeQueue(queue.queue) : null,
    at_least: queue.atLeast.map(snakeCase),
  }
}

export const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export function toWireSchedule(schedule: Schedule, table: string): wire.Schedule {
  return {
    name: schedule.name,
    table,
    cron: schedule.cron,
    timezone: schedule.timezone,
    overlap: schedule.overlap,
    type: schedule.job.type,
    queue: schedule.job.queue ?? null,
    next_run_at: isoOrNull(schedule.nextRunAt),
    due_in_ms: schedule.dueInMs,
    last_run_at: isoOrNull(schedule.lastRunAt),
    last_job_id: schedule.lastJobId,
    last_skipped_at: isoOrNull(schedule.lastSkippedAt),
  }
}

export function toWireReaped(job: ReapedJob): wire.ReapedJob {
  return {
    id: job.jobId,
    action: job.action,
    reason: job.reason,
    stage: job.stage,
    attempt: job.attempt,
    worker_id: job.workerId,
    retry_in_ms: job.retryInMs,
  }
}

export function toWireHealth(health: TableHealth, table: string): wire.TableHealth {
  return {
    table,
    waiting: health.waiting,
    due: health.due,
    running: health.running,
    overdue: health.overdue,
    oldest_overdue_ms: health.oldestOverdueMs,
    oldest_due_ms: health.oldestDueMs,
    unjudged: health.unjudged,
    released_often: health.releasedOften,
    reaper_age_ms: health.reaperAgeMs,
    sweep_interval_ms: health.sweepIntervalMs,
    hold_reason: health.holdReason,
    hidden: toWireHidden(health.hidden),
    silent_shards: health.silentShards ?? [],
    is_healthy: health.isHealthy,
    is_reaper_late: isReaperLate(health.reaperAgeMs, health.sweepIntervalMs),
    remedies: remediesOf(health),
    at_least: health.atLeast.map(snakeCase),
  }
}

function toWireHidden(hidden: TableHealth['hidden']): wire.TableHealth['hidden'] {
  if (hidden === null) return null
  const { role, table, isAll, fix } = hidden
  return { role, table, is_all: isAll, fix }
}

export function toWireToken(token: TokenRecord): wire.Token {
  return {
    name: token.name,
    scopes: token.scopes,
    owner: token.owner,
    created_at: iso(token.createdAt),
    created_by: token.createdBy,
    expires_at: isoOrNull(token.expiresAt),
    revoked_at: isoOrNull(token.revokedAt),
  }
}
