import { redactText } from '../../observe/redact.ts'
import { isPromiseKept } from '../../policy/explain/table-health.ts'
import { describeFleet, fleetText } from '../../policy/fleet/fleet.ts'
import type { Delivery, Slo, Webhook, WorkerStatus } from '../../store/job-store.ts'
import type * as wire from '../contract/index.ts'
import { redactOrNull } from './jobs.ts'

const isoOrNull = (date: Date | null) => date?.toISOString() ?? null

export function toWireWorker(worker: WorkerStatus, table: string): wire.Worker {
  return {
    id: worker.workerId,
    table,
    state: worker.state,
    host: worker.host,
    pid: worker.pid,
    version: worker.version,
    app_version: worker.appVersion,
    types: worker.types,
    concurrency: worker.concurrency,
    running: worker.running,
    leases: worker.leases,
    claimed_ahead: worker.leases - worker.running,
    loop_lag_ms: worker.loopLagMs,
    seen_ms: worker.seenMs,
    started_at: worker.startedAt.toISOString(),
    seen_at: worker.seenAt.toISOString(),
    draining_at: isoOrNull(worker.drainingAt),
    stopped_at: isoOrNull(worker.stoppedAt),
    exit_code: worker.exitCode,
    drain_requested_at: isoOrNull(worker.drainRequestedAt),
    drain_requested_by: worker.drainRequestedBy,
    drain_reason: worker.drainReason,
    presence: worker.presence,
    report_times: worker.reportTimes.map((time) => time.toISOString()),
  }
}

export function toWireFleet(workers: WorkerStatus[], now: Date): wire.WorkerList['fleet'] {
  const { isDeploying, versions, ...counts } = describeFleet(workers, now.getTime())
  return {
    ...counts,
    versions: versions.map(({ appVersion, workers: count }) => ({ app_version: appVersion, workers: count })),
    is_deploying: isDeploying,
    text: fleetText({ isDeploying, versions, ...counts }),
  }
}

export function toWireSlo(slo: Slo, table: string): wire.Slo {
  return {
    table,
    rescued: slo.rescued,
    in_time: slo.inTime,
    share: slo.share,
    is_kept: isPromiseKept(slo),
    p50_ms: slo.p50Ms,
    p95_ms: slo.p95Ms,
    worst_ms: slo.worstMs,
    promise_ms: slo.promiseMs,
    oldest_stuck_ms: slo.oldestStuckMs,
    stale_leases: slo.staleLeases,
    by_cause: slo.byCause,
  }
}

/** Without the query, which may contain keys; the path may too, so it is shown only to callers that may change webhooks. */
export function toWireWebhook(webhook: Webhook, table: string, hasPath: boolean): wire.Webhook {
  const url = redactText(webhook.url)
  return {
    id: webhook.webhookId,
    table,
    url: hasPath ? url.replace(/\?.*$/s, '?…') : url.replace(/^([^:]+:\/\/[^/?#]+).*$/s, '$1/…'),
    events: webhook.events,
    is_active: webhook.isActive,
    inactive_reason: redactOrNull(webhook.inactiveReason),
    created_at: webhook.createdAt.toISOString(),
    created_by: webhook.createdBy,
    waiting: webhook.waiting,
  }
}

export function toWireDelivery(delivery: Delivery, table: string): wire.Delivery {
  return {
    id: delivery.deliveryId,
    table,
    webhook_id: delivery.webhookId,
    job_id: delivery.jobId,
    type: delivery.type,
    status: delivery.status,
    tries: delivery.tries,
    next_try_in_ms: delivery.nextTryInMs,
    last_status: delivery.lastStatus,
    last_error: redactOrNull(delivery.lastError),
    created_at: delivery.createdAt.toISOString(),
    delivered_at: isoOrNull(delivery.deliveredAt),
  }
}
