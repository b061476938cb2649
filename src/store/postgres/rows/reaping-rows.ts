// Maps rows to sweeps and rescues.
import type { ReapAction } from '../../../job/outcome.ts'
import type {
  HoldReason,
  LastSweep,
  PastSweep,
  ReapedJob,
  Reclaim,
  StaleJob,
  SweepStep,
} from '../../ports/reaping-store.ts'
import type { Row } from '../connection/executor.ts'
import { date, fromRecord, fromRecordOrNull, numberOrNull, text } from './values.ts'

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
    isRedundant: step['is_redundant'] === true,
    isWatched: step['is_watched'] !== false,
  }
}

export function toReclaim({ id, ...row }: Row): Reclaim {
  const times = ['reapedAt', 'lastHeartbeatAt', 'leaseExpiresAt', 'nextRunAt', 'claimedAgainAt'] as const
  return { reclaimId: String(id), ...fromRecord<Omit<Reclaim, 'reclaimId'>>(row, times) }
}

export function toStaleJob({ id, locked_by: holder, ...row }: Row): StaleJob {
  return {
    jobId: String(id),
    ...fromRecord<Omit<StaleJob, 'jobId' | 'lockedBy'>>(row, ['heartbeatAt', 'endedAt'], 'count'),
    lockedBy: fromRecordOrNull(holder),
  }
}

export function toPastSweep({ id, ...row }: Row): PastSweep {
  return { sweepId: String(id), ...fromRecord<Omit<PastSweep, 'sweepId'>>(row, ['beganAt']) }
}

/** Plain columns, some of them numeric, which drivers return as text. */
export function toLastSweep(row: Row): LastSweep {
  return {
    reaperId: text(row['reaper_id']),
    sweptAt: date(row['swept_at']),
    durationMs: Number(row['duration_ms']),
    found: Number(row['found']),
    requeued: Number(row['requeued']),
    dead: Number(row['dead']),
    cancelled: Number(row['cancelled']),
    skipped: Number(row['skipped']),
    held: Number(row['held']),
  }
}
