// Maps rows to sweeps and rescues.
import type { ReapAction } from '../../../job/outcome.ts'
import type { StaleCode } from '../../../policy/explain/explain-stale.ts'
import type {
  HoldReason,
  LastSweep,
  PastSweep,
  ReapedJob,
  Reclaim,
  StaleJob,
  SweepCounts,
  SweepStep,
} from '../../ports/reaping-store.ts'
import type { Row } from '../connection/executor.ts'
import { toLockHolder } from './reading-rows.ts'
import { date, dateOrNull, numberOrNull, text } from './values.ts'

export function toReapedJob(row: Row): ReapedJob {
  return {
    jobId: String(row['id']),
    action: row['action'] as ReapAction,
    reason: String(row['reason']),
    stage: text(row['stage']),
    attempt: Number(row['attempt']),
    workerId: text(row['worker_id']),
    retryInMs: numberOrNull(row['retry_in_ms']),
  }
}

export function toSweepStep(step: Row): SweepStep {
  return {
    reaped: (step['reaped'] as Row[]).map(toReapedJob),
    held: Number(step['held']),
    holdReason: text(step['hold_reason']) as HoldReason | null,
    sweptAt: String(step['swept_at']),
    next: step['next'] === null ? null : JSON.stringify(step['next']),
  }
}

export function toReclaim(row: Row): Reclaim {
  return {
    reclaimId: String(row['id']),
    jobId: String(row['job_id']),
    type: text(row['type']),
    stage: text(row['stage']),
    attempt: Number(row['attempt']),
    workerId: text(row['worker_id']),
    reapedAt: date(row['reaped_at']),
    action: row['action'] as Reclaim['action'],
    reason: String(row['reason']),
    lastHeartbeatAt: dateOrNull(row['last_heartbeat_at']),
    leaseExpiresAt: dateOrNull(row['lease_expires_at']),
    nextRunAt: dateOrNull(row['next_run_at']),
    latenessMs: numberOrNull(row['lateness_ms']),
    darkMs: numberOrNull(row['dark_ms']),
    claimedAgainAt: dateOrNull(row['claimed_again_at']),
    claimedBy: text(row['claimed_by']),
  }
}

export function toStaleJob(row: Row): StaleJob {
  return {
    jobId: String(row['id']),
    type: String(row['type']),
    stage: String(row['stage']),
    workerId: text(row['worker_id']),
    attempt: Number(row['attempt']),
    heartbeatAt: dateOrNull(row['heartbeat_at']),
    endedAt: dateOrNull(row['ended_at']),
    overdueMs: numberOrNull(row['overdue_ms']),
    leaseMs: Number(row['lease_ms']),
    isPastTwiceLease: row['is_past_twice_lease'] === true,
    code: row['code'] as StaleCode,
    lockedBy: toLockHolder((row['locked_by'] ?? null) as Row | null),
    reaperAgeMs: numberOrNull(row['reaper_age_ms']),
  }
}

export function toPastSweep(row: Row): PastSweep {
  return {
    sweepId: String(row['id']),
    beganAt: date(row['began_at']),
    reaperId: text(row['reaper_id']),
    actor: text(row['actor']),
    reason: text(row['reason']),
    ...toCounts(row),
    holdReason: text(row['hold_reason']) as HoldReason | null,
  }
}

export function toLastSweep(row: Row): LastSweep {
  return { reaperId: text(row['reaper_id']), sweptAt: date(row['swept_at']), ...toCounts(row) }
}

function toCounts(row: Row): SweepCounts {
  return {
    durationMs: Number(row['duration_ms']),
    found: Number(row['found']),
    requeued: Number(row['requeued']),
    dead: Number(row['dead']),
    cancelled: Number(row['cancelled']),
    skipped: Number(row['skipped']),
    held: Number(row['held']),
  }
}
