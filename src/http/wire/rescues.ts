import type { InTableValue } from '../../commands/command.ts'
import { redactJson } from '../../observe/redact.ts'
import { explainStale } from '../../policy/explain/explain-stale.ts'
import { remedyOfStale } from '../../policy/explain/remedy.ts'
import type { AuditEntry } from '../../store/access-store.ts'
import type {
  Attachment,
  LastSweep,
  PastSweep,
  RateLimitStatus,
  Reclaim,
  StaleJob,
  SweepCounts,
} from '../../store/job-store.ts'
import type * as wire from '../contract/index.ts'
import { redactOrNull } from './jobs.ts'

const isoOrNull = (date: Date | null) => date?.toISOString() ?? null

export function toWireReclaim({ table, value: reclaim }: InTableValue<Reclaim>): wire.Reclaim {
  return {
    id: reclaim.reclaimId,
    job_id: reclaim.jobId,
    table,
    type: reclaim.type,
    stage: reclaim.stage,
    attempt: reclaim.attempt,
    worker_id: reclaim.workerId,
    reaped_at: reclaim.reapedAt.toISOString(),
    action: reclaim.action,
    reason: reclaim.reason,
    last_heartbeat_at: isoOrNull(reclaim.lastHeartbeatAt),
    lease_expires_at: isoOrNull(reclaim.leaseExpiresAt),
    lateness_ms: reclaim.latenessMs,
    dark_ms: reclaim.darkMs,
    claimed_again_at: isoOrNull(reclaim.claimedAgainAt),
    claimed_by: reclaim.claimedBy,
    next_run_at: isoOrNull(reclaim.nextRunAt),
  }
}

export function toWireStale({ table, value: job }: InTableValue<StaleJob>): wire.StaleJob {
  const { lockedBy } = job
  return {
    id: job.jobId,
    table,
    type: job.type,
    stage: job.stage,
    worker_id: job.workerId,
    attempt: job.attempt,
    heartbeat_at: isoOrNull(job.heartbeatAt),
    ended_at: isoOrNull(job.endedAt),
    overdue_ms: job.overdueMs,
    lease_ms: job.leaseMs,
    is_past_twice_lease: job.isPastTwiceLease,
    why: { code: job.code, message: explainStale(job) },
    remedy: remedyOfStale(job),
    locked_by:
      lockedBy === null
        ? null
        : {
            pid: lockedBy.pid,
            application: lockedBy.application,
            state: lockedBy.state,
            open_ms: lockedBy.openMs,
          },
  }
}

export function toWireSweep({ table, value: sweep }: InTableValue<PastSweep>): wire.Sweep {
  return {
    id: sweep.sweepId,
    table,
    began_at: sweep.beganAt.toISOString(),
    reaper_id: sweep.reaperId,
    actor: sweep.actor,
    note: redactOrNull(sweep.reason),
    ...toWireCounts(sweep),
    hold_reason: sweep.holdReason,
  }
}

export function toWireLastSweep({ table, value: sweep }: InTableValue<LastSweep>): wire.LastSweep {
  return {
    table,
    reaper_id: sweep.reaperId,
    swept_at: sweep.sweptAt.toISOString(),
    ...toWireCounts(sweep),
  }
}

function toWireCounts({ durationMs, found, requeued, dead, cancelled, skipped, held }: SweepCounts) {
  return { duration_ms: durationMs, found, requeued, dead, cancelled, skipped, held }
}

/** `gateway:owner-7` is the bucket of one owner of `gateway`. */
export function toWireRateLimit(limit: RateLimitStatus): wire.RateLimit {
  const [name = '', ...rest] = limit.key.split(':')
  return {
    key: limit.key,
    name,
    owner: rest.length === 0 ? null : rest.join(':'),
    rate_per_s: limit.ratePerS,
    burst: limit.burst,
    tokens: limit.tokens,
    next_token_in_ms: limit.nextTokenInMs,
    full_in_ms: limit.fullInMs,
    used_at: isoOrNull(limit.usedAt),
  }
}

export function toWireAuditEntry(entry: AuditEntry): wire.AuditEntry {
  return {
    id: entry.entryId,
    at: entry.at.toISOString(),
    type: entry.type,
    actor: entry.actor,
    reason: redactOrNull(entry.reason),
    table: entry.table,
    job_id: entry.jobId,
    subject: entry.subject,
    details: redactJson(entry.details) as AuditEntry['details'],
  }
}

export function toWireProfile({ table, value: attached }: InTableValue<Attachment>): wire.TableProfile {
  return {
    table,
    profile: attached.profile,
    relation: attached.relation,
    mode: attached.mode,
    on_foreign_settle: attached.onForeignSettle,
    mode_since: isoOrNull(attached.since),
    attached_at: attached.attachedAt.toISOString(),
  }
}
